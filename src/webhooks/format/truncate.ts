const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
const mark = '…'

/** Code points, as JSON Schema and most services count. */
export function characters(text: string): number {
  return text.length - (text.match(/[\u{10000}-\u{10FFFF}]/gu)?.length ?? 0)
}

/**
 * A text of at most so many characters: whole, or cut off between two graphemes with `…` at its end, which
 * counts.
 */
export function truncate(text: string, most: number): string {
  return lengthOf(text, most) >= text.length ? text : text.slice(0, wholeLengthOf(text, most - 1)) + mark
}

/** The same within two limits at once, of graphemes and of bytes in UTF-8. */
export function truncateWithin(
  text: string,
  most: { readonly graphemes: number; readonly bytes: number }
): string {
  let kept = ''
  let graphemes = 0
  let bytes = 0
  for (const { segment } of segmenter.segment(text)) {
    graphemes++
    bytes += Buffer.byteLength(segment)
    if (graphemes > most.graphemes || bytes > most.bytes) return kept + mark
    if (graphemes < most.graphemes && bytes + Buffer.byteLength(mark) <= most.bytes) kept += segment
  }
  return text
}

/** A text in parts of at most so many characters; a grapheme is divided only where it is longer than that. */
export function split(text: string, most: number): string[] {
  const parts: string[] = []
  for (let rest = text; rest !== '';) {
    const length = wholeLengthOf(rest, most) || lengthOf(rest, most)
    parts.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return parts
}

/** The length in UTF-16 of the first `most` characters. */
function lengthOf(text: string, most: number): number {
  let length = 0
  for (let count = 0; count < most && length < text.length; count++)
    length += (text.codePointAt(length) ?? 0) > 0xffff ? 2 : 1
  return length
}

/** The same without a grapheme that does not end there. What follows the next character decides nothing. */
function wholeLengthOf(text: string, most: number): number {
  const length = lengthOf(text, most)
  const start = segmenter.segment(text.slice(0, length + 2)).containing(length)
  return start?.index ?? length
}
