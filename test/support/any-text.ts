import * as fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/** Any character up to a code point. Surrogates are skipped, because they are not characters. */
const charactersTo = (last: number) =>
  fc.integer({ min: 0, max: last < surrogates.first ? last : last - surrogates.count }).map(
    number => String.fromCodePoint(number < surrogates.first ? number : number + surrogates.count),
    character => {
      const number = typeof character === 'string' ? (character.codePointAt(0) ?? 0) : Number.NaN
      return number < surrogates.first ? number : number - surrogates.count
    }
  )

/**
 * Any Unicode character, often ASCII: for `stringUnit` of `fc.json` and similar. Replaces the unit `binary`
 * of fast-check, which takes a second of CPU time and 100 MB in each process that uses it.
 */
export const anyCharacter = fc.oneof(charactersTo(0x7f), charactersTo(0xffff), charactersTo(0x10ffff))

/** Any text of Unicode characters. */
export function anyText(constraints: { readonly minLength?: number; readonly maxLength?: number } = {}) {
  return fc.string({ ...constraints, unit: anyCharacter })
}

/** Any http(s) URL. Replaces `fc.webUrl`, which uses the unit `binary`. */
export const anyWebUrl = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.array(anyText()))
  .map(([scheme, host, path]) => `${scheme}://${[host, ...path.map(encodeURIComponent)].join('/')}`)
