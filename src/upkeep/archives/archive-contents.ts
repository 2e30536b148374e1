import { createHash, type Hash } from 'node:crypto'

import * as v from 'valibot'

/*
 * A backup is a tar archive, compressed with gzip: first `backup.json` (the header), then the rows of each table as
 * `tables/NAME/NUMBER` in the text format of COPY, then files, last `manifest.json`, so an archive without it is
 * incomplete.
 */

export const backupHeaderPath = 'backup.json'
export const backupManifestPath = 'manifest.json'
export const backupTableFolder = 'tables'

/** The version of the format. */
export const backupFormat = 1

const name = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,62}$/))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const checksum = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** Elements with distinct names. */
const distinct = <Item>(nameOf: (item: Item) => string) =>
  v.check<Item[], string>(items => new Set(items.map(nameOf)).size === items.length, 'it has a name twice')

const header = v.object({
  format: v.pipe(v.number(), v.integer()),
  /** Of the whole installation (a backup), or of one station (an export). */
  kind: v.picklist(['installation', 'station']),
  /** Of an export. */
  station: v.optional(v.object({ id: count, name: v.string(), shortName: v.string() })),
  /** The release of Cuewire that wrote the backup. */
  version: v.string(),
  createdAt: v.string(),
  postgresVersion: v.string(),
  /** The migrations of the database; the last one is the version of the schema. */
  migrations: v.array(v.pipe(v.string(), v.regex(/^\d{4}_\w+\.sql$/))),
  tables: v.pipe(
    v.array(
      v.object({
        name,
        columns: v.pipe(
          v.array(name),
          distinct(column => column)
        )
      })
    ),
    distinct(table => table.name)
  ),
  media: v.picklist(['included', 'by reference'])
})

const manifest = v.object({
  tables: v.array(v.object({ name, rows: count, bytes: count, sha256: checksum })),
  sequences: v.array(v.object({ name, value: v.pipe(v.number(), v.safeInteger()) })),
  files: v.object({ count, bytes: count, sha256: checksum })
})

export type BackupHeader = v.InferOutput<typeof header>
export type BackupManifest = v.InferOutput<typeof manifest>
export type TableSummary = BackupManifest['tables'][number]

/** Parses `backup.json`. Throws if it is not one. */
export const parseBackupHeader = (text: string): BackupHeader =>
  v.parse(v.pipe(v.string(), v.parseJson(), header), text)

/** Parses `manifest.json`. Throws if it is not one. */
export const parseBackupManifest = (text: string): BackupManifest =>
  v.parse(v.pipe(v.string(), v.parseJson(), manifest), text)

const newline = 10

/** Counts and hashes the rows of a table. */
export function openTableSummarizer(table: string) {
  const hash = createHash('sha256')
  let rows = 0
  let bytes = 0
  return {
    add(chunk: Buffer): void {
      hash.update(chunk)
      bytes += chunk.length
      // COPY escapes the line breaks in values.
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) rows += 1
    },
    rows: () => rows,
    end: (): TableSummary => ({ name: table, rows, bytes, sha256: hash.digest('hex') })
  }
}

/** Counts and hashes files: their paths, sizes and contents. */
export function openFilesSummarizer() {
  const all = createHash('sha256')
  let files = 0
  let bytes = 0
  let current: Hash | null = null
  return {
    begin(): void {
      current = createHash('sha256')
    },
    add: (chunk: Buffer): void => void current?.update(chunk),
    endFile(path: string, size: number): void {
      all.update(`${path}\n${size}\n${current?.digest('hex') ?? ''}\n`)
      current = null
      files += 1
      bytes += size
    },
    end: (): BackupManifest['files'] => ({ count: files, bytes, sha256: all.digest('hex') })
  }
}
