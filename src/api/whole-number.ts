import { ApiError } from '../errors.ts'

/** A whole number of a query, `fallback` where it is not there. Throws a 400 that names the parameter. */
export function wholeNumber(
  query: URLSearchParams,
  name: string,
  { least, most, fallback }: { least: number; most: number; fallback: number }
): number {
  const text = query.get(name)
  if (text === null || text === '') return fallback
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1
  if (value >= least && value <= most) return value
  const message = `${name} must be a whole number from ${least} to ${most}.`
  throw ApiError.ofFields([{ field: name, code: 'out_of_range', message }])
}
