/** Code points kept of each text that comes out of a file; the rest is cut off. */
export const longest = { artist: 255, title: 255, album: 200, genre: 255, isrc: 32, lyrics: 8_000 } as const

/**
 * Makes one line out of foreign text: control characters (Postgres refuses NUL) become a space, lone surrogates
 * the replacement character, and at most `limit` code points stay.
 */
export function cleanLine(text: string, limit: number): string {
  return cut(
    text
      .trimStart()
      .slice(0, limit * 4)
      .replace(/\p{Cc}+/gu, ' '),
    limit
  )
}

/** The same for text of several lines: line feeds stay, and a carriage return becomes one. */
export function cleanLines(text: string, limit: number): string {
  const lines = text
    .trimStart()
    .slice(0, limit * 4)
    .replace(/\r\n?/g, '\n')
  return cut(lines.replace(/[^\P{Cc}\n]+/gu, ' '), limit)
}

function cut(text: string, limit: number): string {
  const whole = text.replace(/\p{Cs}/gu, '\uFFFD').trim()
  // Nearly always. A list has thousands of lines, and taking each apart takes its time.
  if (whole.length <= limit) return whole
  return Array.from(whole).slice(0, limit).join('').trimEnd()
}
