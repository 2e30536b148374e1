/** Truncates a line so that it does not wrap. A wide character counts as two columns. */
export function truncateToWidth(line: string, columns: number | undefined): string {
  let left = (columns ?? 80) - 1
  let end = 0
  for (const char of line) {
    left -= char < '\u1100' ? 1 : 2
    if (left < 0) break
    end += char.length
  }
  return line.slice(0, end)
}
