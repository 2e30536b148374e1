import { runInTimeSlices } from '../../platform/runtime/time-slices.ts'

const sliceMs = 10

/** An object whose members are rendered one at a time. */
type Nested = Readonly<Record<string, unknown>>

const isNested = (value: unknown): value is Nested =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Renders an object as `JSON.stringify` does, in time slices: the members of `depth` levels are rendered on their own.
 */
export async function renderJsonInSlices(object: Nested, depth: number): Promise<string> {
  const parts: string[] = []
  const pieces = piecesOf(object, depth)
  await runInTimeSlices(sliceMs, () => {
    const { done, value } = pieces.next()
    if (!done) parts.push(value)
    return !done
  })
  return parts.join('')
}

function* piecesOf(object: Nested, depth: number): Generator<string, undefined> {
  let before = '{'
  for (const [key, value] of Object.entries(object)) {
    const name = `${before}${JSON.stringify(key)}:`
    if (depth > 1 && isNested(value)) {
      yield name
      yield* piecesOf(value, depth - 1)
    } else {
      const text: string | undefined = JSON.stringify(value)
      // A member without a value does not exist in JSON.
      if (text === undefined) continue
      yield name + text
    }
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}
