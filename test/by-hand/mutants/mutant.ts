import * as v from 'valibot'

const mutantSchema = v.strictObject({
  id: v.string(),
  /** The tests that are expected to kill it. */
  tests: v.picklist(['unit', 'integration']),
  /** A description of the change. */
  operator: v.string(),
  file: v.string(),
  /** The whole original line. */
  line: v.string(),
  /** The number of this line among equal lines of the file, from 1. */
  occurrence: v.number(),
  /** The line of the mutant; empty if the line is removed. */
  replacement: v.string()
})

/**
 * One change of one line of the program that a test should detect. It is stored as text instead of a line
 * number, so that it is found after lines have moved.
 */
export type Mutant = v.InferOutput<typeof mutantSchema>

export const mutantsSchema = v.array(mutantSchema)

/** A file with one line changed. */
export interface MutatedFile {
  readonly file: string
  readonly text: string
}

/** Counts the lines equal to line `index`, up to and including it. */
export function occurrenceAt(lines: readonly string[], index: number): number {
  return lines.slice(0, index + 1).filter(line => line === lines[index]).length
}

/**
 * Applies a mutant to a tree. Searches its file first, then any file for a single equal line, ignoring
 * indentation, because code moves. Returns undefined if no line or more than one line matches.
 */
export function applyMutant(mutant: Mutant, tree: ReadonlyMap<string, string>): MutatedFile | undefined {
  const own = tree.get(mutant.file)?.split('\n') ?? []
  const same = own.flatMap((line, index) => (line === mutant.line ? index : []))
  const index = same[mutant.occurrence - 1]
  if (index !== undefined) return { file: mutant.file, text: own.with(index, mutant.replacement).join('\n') }

  const trimmed = mutant.line.trim()
  const found = [...tree].flatMap(([file, text]) => {
    const lines = text.split('\n')
    return lines.flatMap((line, at) => (line.trim() === trimmed ? { file, lines, at } : []))
  })
  const inFile = found.filter(({ file }) => file === mutant.file)
  const [only, ...others] = inFile.length > 0 ? inFile : found
  if (!only || others.length > 0) return undefined
  return { file: only.file, text: only.lines.with(only.at, mutant.replacement.trim()).join('\n') }
}
