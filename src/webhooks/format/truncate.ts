const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
const mark = '…'

/** Counts code points, as JSON Schema and most services do. */
export function countCharacters(text: string): number {
  return text.length - (text.match(/[\u{10000}-\u{10FFFF}]/gu)?.length ?? 0)
}

/** Truncates a text to `max` characters between two graphemes; a final `…` is included. */
export function truncateCharacters(text: string, max: number): string {
  return lengthOf(text, max) >= text.length ? text : text.slice(0, wholeLengthOf(text, max - 1)) + mark
}

/** Truncates a text to limits of graphemes and of bytes in UTF-8; a final `…` is included. */
export function truncateGraphemes(
  text: string,
  max: { readonly graphemes: number; readonly bytes: number }
): string {
  let kept = ''
  let graphemes = 0
  let bytes = 0
  for (const { segment } of segmenter.segment(text)) {
    graphemes++
    bytes += Buffer.byteLength(segment)
    if (graphemes > max.graphemes || bytes > max.bytes) return kept + mark
    if (graphemes < max.graphemes && bytes + Buffer.byteLength(mark) <= max.bytes) kept += segment
  }
  return text
}

/** Splits a text into parts of up to `max` characters; only a grapheme that is longer is divided. */
export function splitTextToLength(text: string, max: number): string[] {
  const parts: string[] = []
  for (let rest = text; rest !== '';) {
    const length = wholeLengthOf(rest, max) || lengthOf(rest, max)
    parts.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return parts
}

/** The length in UTF-16 of the first `max` characters. */
function lengthOf(text: string, max: number): number {
  let length = 0
  for (let count = 0; count < max && length < text.length; count++)
    length += (text.codePointAt(length) ?? 0) > 0xffff ? 2 : 1
  return length
}

/** The same without an incomplete last grapheme. One more character decides it. */
function wholeLengthOf(text: string, max: number): number {
  const length = lengthOf(text, max)
  const start = segmenter.segment(text.slice(0, length + 2)).containing(length)
  return start?.index ?? length
}
