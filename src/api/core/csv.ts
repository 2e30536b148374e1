import type { Reply } from './route.ts'

/** What stands in a cell; text is quoted where it has to be. */
export type Cell = string | number | boolean

/**
 * A line of a CSV file by RFC 4180, with its line end. A text that a spreadsheet would take for a formula
 * gets an apostrophe in front.
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(written).join(',')}\r\n`
}

function written(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Answers a CSV file. */
export function csvReply(name: string, body: string | Uint8Array): Reply {
  return {
    body,
    headers: { 'Content-Type': 'text/csv; charset=utf-8', 'Content-Disposition': attachment(`${name}.csv`) }
  }
}

/** The header that has browsers save an answer as a file: its name in ASCII, and as it is (RFC 6266). */
export function attachment(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9 ._-]/g, '_')
  const whole = encodeURIComponent(name).replace(/['()*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`
}
