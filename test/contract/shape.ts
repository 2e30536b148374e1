/**
 * The expected form of a JSON value. `keys`: an object with exactly these keys; `atLeast`: with these and
 * maybe more; `list`: an array; `mapOf`: an object with any keys; `scalar`: a string, number or boolean.
 */
export type Shape =
  | 'any'
  | 'boolean'
  | 'integer'
  | 'object'
  | 'scalar'
  | 'string'
  | { readonly oneOf: readonly (string | boolean | number)[] }
  | { readonly text: RegExp }
  | { readonly list: Shape }
  | { readonly mapOf: Shape }
  | { readonly orNull: Shape }
  | { readonly keys: Readonly<Record<string, Shape>> }
  | { readonly atLeast: Readonly<Record<string, Shape>> }

/** Describes all differences between a value and its shape, each with its path; empty if it matches. */
export function differences(value: unknown, shape: Shape, at = 'response'): string[] {
  if (typeof shape === 'string') return isOf(value, shape) ? [] : [`${at}: ${show(value)}, not ${shape}`]
  if ('oneOf' in shape) {
    const isThere = shape.oneOf.some(each => each === value)
    return isThere ? [] : [`${at}: ${show(value)}, not one of ${shape.oneOf.join(', ')}`]
  }
  if ('text' in shape) {
    const fits = typeof value === 'string' && shape.text.test(value)
    return fits ? [] : [`${at}: ${show(value)}, not text like ${shape.text}`]
  }
  if ('list' in shape) {
    if (!Array.isArray(value)) return [`${at}: ${show(value)}, not an array`]
    return value.flatMap((each, index) => differences(each, shape.list, `${at}.${index}`))
  }
  if ('orNull' in shape) return value === null ? [] : differences(value, shape.orNull, at)
  if (!isOf(value, 'object')) return [`${at}: ${show(value)}, not an object`]
  const given = new Map(Object.entries(Object(value)))
  if ('mapOf' in shape)
    return [...given].flatMap(([key, each]) => differences(each, shape.mapOf, `${at}.${key}`))
  const isExact = 'keys' in shape
  const wanted = Object.entries(isExact ? shape.keys : shape.atLeast)
  const extra = [...given.keys()].filter(key => isExact && wanted.every(([name]) => name !== key))
  return [
    ...extra.map(key => `${at}.${key}: must not be there`),
    ...wanted.flatMap(([key, each]) =>
      given.has(key) ? differences(given.get(key), each, `${at}.${key}`) : [`${at}.${key}: missing`]
    )
  ]
}

function isOf(value: unknown, kind: Extract<Shape, string>): boolean {
  if (kind === 'any') return true
  if (kind === 'integer') return Number.isSafeInteger(value)
  if (kind === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  if (kind === 'scalar') return ['string', 'number', 'boolean'].includes(typeof value)
  return typeof value === kind
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
