import { decodeForeignText, withoutLostCharacters } from '../../../platform/text/foreign-text.ts'
import { maxTagTextBytes } from './native-tags.ts'

/**
 * Decodes the text of a frame by its encoding byte. Texts that claim to be Latin-1 or UTF-8 are decoded as foreign
 * text, because taggers write there what their system uses. UTF-16 without a mark is little endian, as Windows writes
 * it.
 */
export function decodeId3Text(bytes: Uint8Array, encoding: number): string {
  const start = bytes.subarray(0, maxTagTextBytes)
  const order = startOrder(start)
  if (order === null && encoding !== 1 && encoding !== 2) return decodeId3Latin(start)
  const texts = decodeUtf16Values(start, encoding === 2 ? 'utf-16be' : 'utf-16le')
  return withoutLostCharacters(texts.join('\0').replaceAll('\uFEFF', '').replaceAll('\uFFFE', ''))
}

/** Each value of a list may have its own mark. */
function decodeUtf16Values(bytes: Uint8Array, defaultOrder: string): string[] {
  const values: string[] = []
  let order = defaultOrder
  let start = 0
  for (let at = 0; start <= bytes.length && values.length < 1_000; at += 2) {
    const isNul = bytes[at] === 0 && bytes[at + 1] === 0
    if (at < bytes.length && !isNul) continue
    const value = bytes.subarray(start, at)
    order = startOrder(value) ?? order
    values.push(new TextDecoder(order).decode(value))
    start = at + 2
  }
  return values
}

function startOrder([first = 0, second = 0]: Uint8Array): string | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : null
}

/** Decodes each value by itself: a list may mix encodings, and NULs between values are not UTF-16. */
export function decodeId3Latin(bytes: Uint8Array): string {
  const values: string[] = []
  let start = 0
  const end = Math.min(bytes.length, maxTagTextBytes)
  while (start <= end && values.length < 1_000) {
    const nul = bytes.indexOf(0, start)
    const next = nul < 0 || nul > end ? end : nul
    values.push(decodeForeignText(bytes.subarray(start, next)))
    start = next + 1
  }
  return values.join('\0')
}

/** The values of a text, without empty ones at its end. */
export const splitTextAtNul = (text: string): string[] => text.replace(/\0+$/, '').split('\0').slice(0, 1_000)
