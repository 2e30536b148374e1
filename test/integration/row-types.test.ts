import { fileURLToPath } from 'node:url'

import { expect } from 'vitest'

import { test as base } from '../support/fixtures.ts'
import { openRowTypes } from '../support/row-types.ts'
import { readStatements } from '../support/statements.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const wrongRows = 'test/support/wrong-rows.ts'

const test = base
  // oxlint-disable-next-line no-empty-pattern
  .extend('statements', { scope: 'file' }, async ({}) =>
    readStatements(root, ['src/', 'workers/', wrongRows])
  )
  .extend('differencesOf', ({ sql }) => openRowTypes(sql))

/**
 * The statements that cannot be described, by file: expressions for parts of them that only exist at run time, and tables
 * of their session.
 */
const unknown: Readonly<Record<string, readonly string[]>> = {
  'src/api/admin/news.ts': ['changed'],
  'src/api/core/heavy-reads.ts': ['statement'],
  'src/api/core/list.ts': ['matching', 'statement'],
  'src/api/core/resource-reads.ts': ['sql.unsafe(columns)', 'table', 'sql.unsafe(only)'],
  'src/api/core/resource-writes.ts': ['table', 'row'],
  'src/api/library/song-names.ts': ['songs'],
  'src/api/playlists/calendars.ts': ['select(sql, station.id)'],
  'src/api/playlists/playlist-copies.ts': ['tx.unsafe(copiedColumns)'],
  'src/api/reports/audience.ts': ['sessions'],
  'src/api/reports/session-report.ts': [
    'sql.unsafe(named.map(([name, column]) =>',
    'sql.unsafe(named.map((_, index) => index',
    'sessions'
  ],
  'src/api/stations/clone.ts': [
    'tx.unsafe([...shared, ...places].map(col',
    'table',
    'tx.unsafe(names.map(name => `"${name}"`)'
  ],
  'src/api/stations/history.ts': ['conditions.reduce((all, condition) => sq', 'plays'],
  'src/api/stations/song-reports.ts': ['songs'],
  'src/commands/backup/import-station.ts': ['new_ids_stations', 'staged_stations'],
  'src/commands/backup/stage-rows.ts': [
    'tx.unsafe<{ place: number; row: StagedRo',
    'tx.unsafe<{ place: number; start: Uint8A'
  ],
  'src/commands/backup/export-station.ts': ['tx.unsafe<FileToBackUp[]>(fillIn(query, '],
  'src/engine/station-round-robin.ts': ['others'],
  'src/stores/db/library/media-rows.ts': ['tx.unsafe(cueColumnNames.map(column => `'],
  'src/stores/db/library/playlist-folders.ts': ['songs'],
  'src/upkeep/archives/forget-credentials.ts': ["tx.unsafe<Omit<RecordWithCredentials, 't"],
  'src/webhooks/deliveries/leases.ts': ['writes']
}

test('the columns of each statement are those that the type of its rows declares', async ({
  statements,
  differencesOf
}) => {
  const ofProgram = statements.filter(({ place }) => !place.startsWith(wrongRows))
  const found = await Promise.all(ofProgram.map(differencesOf))
  expect(found.flatMap(({ differences }) => differences)).toEqual([])
  const files = new Map<string, Set<string>>()
  for (const { place, unknown: causes } of found) {
    const [file = ''] = place.split(':')
    if (causes.length > 0) files.set(file, new Set([...(files.get(file) ?? []), ...causes]))
  }
  expect(Object.fromEntries([...files].map(([file, causes]) => [file, [...causes]]))).toEqual(unknown)
  expect(new Set(found.map(({ place }) => place)).size).toBeGreaterThan(430)
})

test('a wrong name, type or nullability is found', async ({ statements, differencesOf, sql }) => {
  const [server] = await sql<
    { version: number }[]
  >`select current_setting('server_version_num')::int as version`
  const knowsOuterJoins = (server?.version ?? 0) >= 160_000
  const wrong = statements.filter(({ place }) => place.startsWith(wrongRows))
  const found = await Promise.all(wrong.map(differencesOf))
  expect(found.flatMap(({ differences }) => differences.map(each => each.replace(/^.*:\d+: /, '')))).toEqual([
    'ident is no column',
    'id is not declared',
    'id is int8, declared as string',
    'total is numeric, declared as number',
    'at is timestamptz, declared as string | Date',
    'keys is _int8, declared as string[]',
    'triggers is jsonb, declared as Date',
    'mediaId may be null',
    ...(knowsOuterJoins ? ['name may be null'] : []),
    'id is text, declared as number',
    'name is not declared'
  ])
  expect(found.flatMap(each => each.unknown)).toEqual(["sql.unsafe(names.join(', '))", 'no_table'])
})
