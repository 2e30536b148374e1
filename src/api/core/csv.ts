import type { Reply } from './route.ts'

export type CsvCell = string | number | boolean

/**
 * Renders a line of a CSV file (RFC 4180), with its line end. Text that a spreadsheet would take for a
 * formula is prefixed with an apostrophe.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(renderCell).join(',')}\r\n`
}

function renderCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The response with a CSV file. */
export function csvReply(name: string, body: string | Uint8Array): Reply {
  const disposition = dispositionOf(`${name}.csv`)
  return { body, headers: { 'Content-Type': 'text/csv; charset=utf-8', 'Content-Disposition': disposition } }
}

/** The `Content-Disposition` of a download: its name in ASCII and in UTF-8 (RFC 6266). */
export function dispositionOf(name: string): string {
  const ascii = name.replace(/[^A-Za-z0-9 ._-]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
