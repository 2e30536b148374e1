import { stringify } from 'yaml'

import { runInTimeSlices } from '../../runtime/time-slices.ts'

const sliceMs = 10
const options = { aliasDuplicateObjects: false, lineWidth: 0 } as const

/** An object whose members are rendered one at a time. */
type Nested = Readonly<Record<string, unknown>>

const isNested = (value: unknown): value is Nested =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0

/**
 * Renders an object as YAML in time slices, since a large one takes half a second. The members of `depth` levels are
 * rendered on their own.
 */
export async function renderYaml(object: Nested, depth: number): Promise<string> {
  const lines: string[] = []
  const pending = [...piecesOf(object, depth, '')].toReversed()
  await runInTimeSlices(sliceMs, () => {
    const piece = pending.pop()
    if (piece !== undefined) lines.push(piece())
    return piece !== undefined
  })
  return lines.join('')
}

/** Functions that render the lines of an object, each a part of it. */
function* piecesOf(object: Nested, depth: number, indent: string): Generator<() => string> {
  for (const [key, value] of Object.entries(object)) {
    if (depth > 1 && isNested(value)) {
      yield () => `${indent}${stringify({ [key]: null }, options).replace(/ null\n$/, '\n')}`
      yield* piecesOf(value, depth - 1, `${indent}  `)
    } else yield () => stringify({ [key]: value }, options).replace(/^(?=.)/gm, indent)
  }
}
