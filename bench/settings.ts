/** Number of runs. With an odd number, the median is a measured value. */
export const runs = positiveInteger('RUNS', 5)

/** Duration of each run in seconds. */
export const seconds = positiveInteger('SECONDS', 5)

/** Reads a positive integer from the environment. Throws if the value is not one. */
export function positiveInteger(name: string, fallback: number): number {
  const value = Number(process.env[name] ?? fallback)
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${name} must be a positive integer (got "${process.env[name]}")`)
  return value
}

/** Reads positive integers separated by commas from the environment. Throws if a value is not one. */
export function positiveIntegers(name: string, fallback: readonly number[]): readonly number[] {
  const text = process.env[name]
  if (text === undefined) return fallback
  const values = text.split(',').map(Number)
  if (!values.every(value => Number.isInteger(value) && value > 0))
    throw new Error(`${name} must be positive integers separated by commas (got "${text}")`)
  return values
}

/** Returns the parts of a benchmark that `PARTS` names; all of them if it is not set. */
export function selectParts<Part extends string>(parts: readonly Part[]): readonly Part[] {
  const names = process.env['PARTS']?.split(',')
  return names === undefined ? parts : parts.filter(part => names.includes(part))
}
