import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'

import { extract, type Header, pack } from 'tar-stream'

import {
  type BackupHeader,
  openFilesSummarizer,
  openTableSummarizer,
  parseBackupHeader
} from '../../src/upkeep/archives/archive-contents.ts'

type EntryHeader = Partial<Header> & { name: string }

/** Another entry of an archive than its header, tables and manifest. */
interface ArchivedEntry {
  readonly header: EntryHeader
  readonly content: Buffer
}

/** The parts of an archive of `backup` or `export-station`, which a test changes. */
export interface EditedArchive {
  header: BackupHeader
  /** Rows by table, as COPY writes values. */
  readonly rows: Map<string, string[][]>
  readonly entries: ArchivedEntry[]
}

/** Reads an archive, lets `edit` change it, and writes it to `target` with a manifest that fits. */
export async function editArchive(
  source: string,
  target: string,
  edit: (archive: EditedArchive) => void
): Promise<string> {
  const archive = await readArchive(source)
  edit(archive)
  await writeArchive(target, archive)
  return target
}

/** Sets a column of all rows of a table, and adds it if there is none. Without rows, a row of other NULLs is added. */
export function setColumn(
  { header, rows }: EditedArchive,
  table: string,
  column: string,
  value: string
): void {
  const found = header.tables.find(({ name }) => name === table)
  if (!found) throw new Error(`no table ${table}`)
  const columns: string[] = found.columns
  const all = rows.get(table) ?? []
  rows.set(table, all)
  if (all.length === 0) all.push(columns.map(() => '\\N'))
  if (!columns.includes(column)) columns.push(column)
  for (const row of all) row[columns.indexOf(column)] = value
}

async function readArchive(file: string): Promise<EditedArchive> {
  const parts = extract()
  const read = pipeline(createReadStream(file), createGunzip(), parts)
  const rows = new Map<string, string[][]>()
  const entries: ArchivedEntry[] = []
  let header: BackupHeader | null = null
  for await (const entry of parts) {
    const chunks: Buffer[] = []
    for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
    const content = Buffer.concat(chunks)
    const { name } = entry.header
    const [folder, table = ''] = name.split('/')
    if (name === 'backup.json') header = parseBackupHeader(content.toString())
    else if (folder === 'tables') {
      const lines = content.toString().split('\n').slice(0, -1)
      rows.set(table, [...(rows.get(table) ?? []), ...lines.map(line => line.split('\t'))])
    } else if (name !== 'manifest.json') entries.push({ header: entry.header, content })
  }
  await read
  if (header === null) throw new Error('the archive has no header')
  return { header, rows, entries }
}

async function writeArchive(file: string, { header, rows, entries }: EditedArchive): Promise<void> {
  const archive = pack()
  const written = pipeline(archive, createGzip(), createWriteStream(file))
  const add = async (head: EntryHeader, content: Buffer) => {
    const entry = archive.entry(head.size === undefined ? { ...head, size: content.length } : head)
    entry.end(content)
    await once(entry, 'finish')
  }
  await add({ name: 'backup.json' }, Buffer.from(JSON.stringify(header)))
  const tables = []
  for (const { name } of header.tables) {
    const content = Buffer.from((rows.get(name) ?? []).map(row => `${row.join('\t')}\n`).join(''))
    const summary = openTableSummarizer(name)
    summary.add(content)
    tables.push(summary.end())
    if (content.length > 0) await add({ name: `tables/${name}/000001` }, content)
  }
  const summary = openFilesSummarizer()
  for (const { header: head, content } of entries) {
    await add({ ...head, size: content.length }, content)
    summary.begin()
    summary.add(content)
    summary.endFile(head.name, content.length)
  }
  await add(
    { name: 'manifest.json' },
    Buffer.from(JSON.stringify({ tables, sequences: [], files: summary.end() }))
  )
  archive.finalize()
  await written
}
