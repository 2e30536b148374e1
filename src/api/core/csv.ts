import type { Reply } from '../../http/route.ts'

export type CsvCell = string | number | boolean

/**
 * Renders a line of a CSV file (RFC 4180), with its line end. Text that a spreadsheet would take for a
 * formula is prefixed with an apostrophe (see `escapeFormula`).
 */
export function renderCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(renderCell).join(',')}\r\n`
}

function renderCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return String(cell)
  const text = escapeFormula(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Adds an apostrophe to text that begins like a formula, after any apostrophes of its own, so that
 * `unescapeFormula` returns every text unchanged: `=1` is `'=1`, `'=1` is `''=1`, and `'Til` remains.
 */
const escapeFormula = (text: string) => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** Returns the text of a cell that `renderCsvLine` rendered. Cells without the apostrophe remain as they are. */
export const unescapeFormula = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

/** Spreadsheets read a file without it in the encoding of the country. */
const byteOrderMark = '\uFEFF'

/** The response with a CSV file, which begins with a byte order mark. */
export function renderCsvReply(name: string, body: string | Uint8Array): Reply {
  const disposition = formatContentDisposition(`${name}.csv`)
  return {
    body: typeof body === 'string' ? byteOrderMark + body : Buffer.concat([Buffer.from(byteOrderMark), body]),
    headers: { 'Content-Type': 'text/csv; charset=utf-8', 'Content-Disposition': disposition }
  }
}

/** The `Content-Disposition` of a download: its name in ASCII and in UTF-8 (RFC 6266). */
export function formatContentDisposition(name: string): string {
  const ascii = name.replace(/[^A-Za-z0-9 ._-]/g, '_')
  const encoded = encodeURIComponent(name).replace(/['()*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
