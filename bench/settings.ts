/** Measured runs of each peer; an odd number has a median that was measured. */
export const runs = whole('RUNS', 5)

/** Seconds of each measured run. */
export const seconds = whole('SECONDS', 5)

/** A whole number above zero from the environment. Throws if it is none. */
export function whole(name: string, otherwise: number): number {
  const value = Number(process.env[name] ?? otherwise)
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} is not a whole number above zero`)
  return value
}

/** Whole numbers separated by commas. */
export function wholes(name: string, otherwise: readonly number[]): readonly number[] {
  const text = process.env[name]
  if (text === undefined) return otherwise
  const values = text.split(',').map(Number)
  if (!values.every(value => Number.isInteger(value) && value > 0))
    throw new Error(`${name} is not a list of whole numbers`)
  return values
}

/** The parts of a bench to run; all of them unless PARTS names some. */
export function wantedParts<Part extends string>(parts: readonly Part[]): readonly Part[] {
  const names = process.env['PARTS']?.split(',')
  return names === undefined ? parts : parts.filter(part => names.includes(part))
}
