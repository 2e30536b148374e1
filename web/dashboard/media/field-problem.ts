import { html, nothing } from 'lit'

import type { FieldError } from '../api/api-error.ts'
import { toLabel } from '../forms/form-field.ts'
import { cueTitles } from './cues.ts'
import { tagTitles } from './media-record.ts'

/** The problem of a field, below it. */
export const problemView = (text: string | undefined) =>
  text === undefined ? nothing : html`<span class="trouble" role="alert">${text}</span>`

/** Shown for a file that is no cover. */
export const coverProblem = 'The cover must be a picture: JPEG, PNG, WebP or GIF.'

const titles: Readonly<Record<string, string>> = { ...tagTitles, ...cueTitles, lyrics: 'Lyrics' }

/** The label of a field of the form: `Cue in` for `extra_metadata.cue_in`. `customNames` are by short name. */
function labelOf(field: string, customNames: ReadonlyMap<string, string>): string {
  const [parent = '', member = parent] = field.split(/\.(.*)/s)
  return parent === 'custom_fields'
    ? nameCustomField(member, customNames)
    : (titles[member] ?? toLabel(member))
}

/** The name of a custom field, or words of its short name if the name is not known. */
export const nameCustomField = (shortName: string, customNames: ReadonlyMap<string, string>): string =>
  customNames.get(shortName) ?? toLabel(shortName)

/** The problems by the path of their field, in the words of the form: `Cue out must be after Cue in.` */
export function describeFieldProblems(
  errors: readonly FieldError[],
  customNames: ReadonlyMap<string, string>
): ReadonlyMap<string, string> {
  return new Map(
    errors.map(({ field, message }) => [
      field,
      message.replaceAll(/(?:extra_metadata|custom_fields)\.[\w-]+|\b[a-z]+_[a-z_]+\b|^[a-z]+(?= )/g, name =>
        labelOf(name, customNames)
      )
    ])
  )
}

/** The problems of the members of an object, by the name of the member. */
export function problemsIn(
  parent: string,
  problems: ReadonlyMap<string, string>
): ReadonlyMap<string, string> {
  const prefix = `${parent}.`
  return new Map(
    [...problems]
      .filter(([field]) => field.startsWith(prefix))
      .map(([field, text]) => [field.slice(prefix.length), text])
  )
}
