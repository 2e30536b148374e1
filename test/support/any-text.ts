import * as fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/** Characters up to a code point. Numbers leave out the surrogates, which are no characters. */
const charactersTo = (last: number) =>
  fc.integer({ min: 0, max: last < surrogates.first ? last : last - surrogates.count }).map(
    number => String.fromCodePoint(number < surrogates.first ? number : number + surrogates.count),
    character => {
      const number = typeof character === 'string' ? (character.codePointAt(0) ?? 0) : Number.NaN
      return number < surrogates.first ? number : number - surrogates.count
    }
  )

/**
 * Any Unicode character, often ASCII: for `stringUnit` of `fc.json` and the like. In place of the unit
 * `binary` of fast-check, which takes a second of CPU time and 100 MB in each process that uses it.
 */
export const anyCharacter = fc.oneof(charactersTo(0x7f), charactersTo(0xffff), charactersTo(0x10ffff))

/** Any text of Unicode characters. */
export function anyText(constraints: { readonly minLength?: number; readonly maxLength?: number } = {}) {
  return fc.string({ ...constraints, unit: anyCharacter })
}

/** An http(s) address of any host with any path, as `fc.webUrl`, which uses the unit `binary`. */
export const anyWebUrl = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.array(anyText()))
  .map(([scheme, host, path]) => `${scheme}://${[host, ...path.map(encodeURIComponent)].join('/')}`)
