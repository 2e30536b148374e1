import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import type { Tx } from '../../stores/db/sql.ts'

/** A line of COPY in text format. */
export function renderCopyLine(values: readonly (string | number | boolean | null)[]): string {
  let line = ''
  for (const [index, value] of values.entries()) {
    if (index > 0) line += '\t'
    if (value === null) line += '\\N'
    else if (typeof value === 'string') line += escapeCopy(value)
    else if (typeof value === 'boolean') line += value ? 't' : 'f'
    else line += String(value)
  }
  return `${line}\n`
}

// oxlint-disable-next-line no-control-regex -- Postgres stores no NUL
const special = /[\0\\\t\n\r]/

function escapeCopy(text: string): string {
  if (!special.test(text)) return text
  return text
    .replaceAll('\0', '')
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
}

const linesPerChunk = 1_000

/** Sends lines to a table with COPY, which is several times as fast as INSERT. */
export async function copyLinesToTable(
  tx: Tx,
  table: string,
  columns: readonly string[],
  lines: readonly string[]
): Promise<void> {
  const target = await tx`copy ${tx(table)} (${tx([...columns])}) from stdin`.writable()
  const chunks: string[] = []
  for (let start = 0; start < lines.length; start += linesPerChunk)
    chunks.push(lines.slice(start, start + linesPerChunk).join(''))
  await pipeline(Readable.from(chunks), target)
}
