import { type ApiRequestError, describeProblem, type FieldProblem } from '../api/api-error.ts'

/** What a form calls a field. `name` is its path in the body; a dot separates the members of an object. */
export interface FieldLabel {
  readonly name: string
  readonly label: string
}

/** The field that a problem belongs to: the one with its path, or with the start of it. */
export function findFieldOfProblem<Field extends FieldLabel>(
  fields: readonly Field[],
  path: string
): Field | undefined {
  const parts = path.split('.')
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('.')
    const found = fields.find(field => field.name === name)
    if (found !== undefined) return found
  }
  return undefined
}

/** The label of a field in a sentence: `Name` for `Name (optional)`. */
export const fieldLabelInSentence = (fields: readonly FieldLabel[], name: string): string =>
  (findFieldOfProblem(fields, name)?.label ?? name).replace(/ \(.*\)$/, '')

/** The first problem of each field, and the other problems of an error as one text; '' for none. */
export function splitProblemsByField(
  { message, fieldErrors }: ApiRequestError,
  fields: readonly FieldLabel[],
  describe: (label: string, problem: FieldProblem) => string = describeProblem
): { readonly ofFields: ReadonlyMap<string, string>; readonly rest: string } {
  const ofFields = new Map<string, string>()
  const others: string[] = []
  for (const problem of fieldErrors) {
    const name = findFieldOfProblem(fields, problem.field)?.name
    if (name === undefined) others.push(problem.message)
    else if (!ofFields.has(name)) ofFields.set(name, describe(fieldLabelInSentence(fields, name), problem))
  }
  return { ofFields, rest: fieldErrors.length === 0 ? message : others.join(' ') }
}
