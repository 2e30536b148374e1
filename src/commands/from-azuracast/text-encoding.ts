import { isUtf8 } from 'node:buffer'

import { decodeWindows1252 } from '../../platform/text/foreign-text.ts'
import type { MigrationReport } from './migration-report.ts'
import { type AzuracastSource, openRowReader, type SourceRow } from './source.ts'

/*
 * Text that was encoded twice: a database in UTF-8 that was once dumped or loaded over a connection in latin1, which in
 * MariaDB is windows-1252.
 */

/** A character of windows-1252 that begins a sequence of UTF-8, and one that continues it. */
const suspicious =
  /[\u00C2-\u00F4][\u0080-\u00BF\u0152\u0153\u0160\u0161\u0178\u017D\u017E\u0192\u02C6\u02DC\u2013-\u203A\u20AC\u2122]/

/** The bytes of windows-1252 by character, and those of ISO 8859-1, which has control characters in its gaps. */
const bytesOf = new Map(
  Array.from(decodeWindows1252(Uint8Array.from({ length: 256 }, (_, byte) => byte)), (character, byte) => [
    character,
    byte
  ])
)
for (let byte = 0x80; byte < 0xa0; byte++) bytesOf.set(String.fromCharCode(byte), byte)

/** Returns a text that was encoded twice in UTF-8 as it was; null for any other. */
function undoDoubleEncoding(text: string): string | null {
  if (!suspicious.test(text)) return null
  const bytes = Array.from(text, character => bytesOf.get(character) ?? -1)
  if (bytes.includes(-1)) return null
  const encoded = Uint8Array.from(bytes)
  return isUtf8(encoded) ? Buffer.from(encoded).toString('utf8') : null
}

/** Names of files and secrets, which must stay as they are unless everything was encoded twice. */
const verbatim = /path|dir|url|password|verifier|secret|key|unique_id/
const maxNoted = 1_000_000

/**
 * Returns the source with texts that were encoded twice as they were, and lists them in the report, as it does texts
 * that were not UTF-8.
 */
export async function withRepairedTexts(
  source: AzuracastSource,
  report: MigrationReport
): Promise<AzuracastSource> {
  for (const [table, rows] of source.notUtf8)
    report.leave(
      'rows with text that is not UTF-8, which was read as windows-1252 (dump the database with --default-character-set=utf8mb4)',
      `${table}: ${rows} rows`
    )
  const isWhole = await isEncodedTwice(source)
  const noted = new Set<string>()
  return {
    ...source,
    async *rows(name) {
      const columns = source.tables.get(name)?.columns ?? []
      const idIndex = columns.indexOf('id')
      const repaired = columns.map(column => isWhole || !verbatim.test(column))
      const repair = (row: SourceRow): SourceRow => {
        let changed: (string | null)[] | null = null
        for (let index = 0; index < row.length; index++) {
          const value = row[index]
          const text = value && repaired[index] ? undoDoubleEncoding(value) : null
          if (text === null) continue
          changed ??= [...row]
          changed[index] = text
          const place = `${name} ${row[idIndex] ?? ''}: ${columns[index] ?? ''}`
          if (noted.has(place) || noted.size >= maxNoted) continue
          noted.add(place)
          report.leave('texts that were encoded twice in UTF-8, and were decoded', `${place}: ${text}`)
        }
        return changed ?? row
      }
      for await (const rows of source.rows(name)) yield rows.map(repair)
    }
  }
}

/** Whether all names of files outside of ASCII were encoded twice: then the database was, and not some of the names. */
async function isEncodedTwice(source: AzuracastSource): Promise<boolean> {
  const read = openRowReader(source.tables.get('station_media'))
  let found = false
  for await (const rows of source.rows('station_media'))
    for (const row of rows) {
      const path = read.text(row, 'path') ?? ''
      if (!/\P{ASCII}/u.test(path)) continue
      if (undoDoubleEncoding(path) === null) return false
      found = true
    }
  return found
}
