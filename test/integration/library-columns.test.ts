import { randomBytes } from 'node:crypto'

import { expect } from 'vitest'

import { readChangedPlaylists } from '../../src/db/library-changes.ts'
import { readLastPlays, readPlaylists, readPlays } from '../../src/db/library.ts'
import type { Sql, Tx } from '../../src/db/sql.ts'
import { test } from '../support/fixtures.ts'
import { seedStation } from '../support/stations.ts'

/** Columns that never change, or are generated from a watched one. */
const fixedColumns: Record<string, readonly string[]> = {
  playlists: ['id', 'station_id'],
  playlist_tracks: ['id', 'playlist_id'],
  media: ['id', 'station_id', 'song_key'],
  song_history: ['id', 'station_id', 'song_key']
}

interface Watch {
  readonly table: string
  readonly columns: readonly string[]
  readonly definition: string
}

/** The triggers that raise the version of a library when columns change. */
const readWatches = (sql: Sql | Tx) => sql<Watch[]>`
  select t.tgrelid::regclass::text as table, pg_get_triggerdef(t.oid) as definition, array(
      select a.attname::text from unnest(t.tgattr::int2[]) n join pg_attribute a on a.attrelid = t.tgrelid and a.attnum = n
    ) as columns
  from pg_trigger t join pg_proc f on f.oid = t.tgfoid
  where f.prosrc ~ 'record_(library|play)_change' and cardinality(t.tgattr::int2[]) > 0`

class Rollback extends Error {}

test('every column that a library is read from is fixed, or watched by a trigger that raises its version', async ({
  sql
}) => {
  const stationId = await seedStation(sql)
  const ids = [stationId]
  const reads = async (tx: Tx) => {
    await readPlaylists(tx, ids)
    await readPlays(tx, ids, { ids: [0] })
    await readPlays(tx, ids, { startsAtMs: [0] })
    await readLastPlays(tx, ids, [0])
    const changed = new Set([1])
    await readChangedPlaylists(tx, stationId, [], {
      playlists: changed,
      plays: true,
      tracks: changed,
      media: changed
    })
  }
  const transaction = sql.begin(async tx => {
    const role = `library_reader_${randomBytes(4).toString('hex')}`
    await tx`create role ${tx(role)}`
    const fixed = Object.entries(fixedColumns).map(([table, columns]) => ({ table, columns }))
    for (const { table, columns } of [...(await readWatches(tx)), ...fixed]) {
      await tx`grant select (${tx(columns)}) on ${tx(table)} to ${tx(role)}`
      // The view of entries derives the song from two columns.
      const shown = columns.filter(name => name !== 'repeated_media_id')
      if (table === 'playlist_tracks')
        await tx`grant select (${tx(shown)}) on playlist_entries to ${tx(role)}`
      if (
        table === 'playlist_tracks' &&
        columns.includes('media_id') &&
        columns.includes('repeated_media_id')
      )
        await tx`grant select (is_repeat) on playlist_entries to ${tx(role)}`
    }
    await tx`set local role ${tx(role)}`
    // Postgres refuses to read any other column.
    await reads(tx)
    throw new Rollback()
  })
  await expect(transaction).rejects.toThrow(Rollback)
})

test('a watched column is compared wherever a trigger has a condition', async ({ sql }) => {
  const watches = await readWatches(sql)
  expect(new Set(watches.map(({ table }) => table))).toEqual(new Set(Object.keys(fixedColumns)))
  for (const { columns, definition } of watches) {
    if (!definition.includes(' WHEN ')) continue
    for (const column of columns)
      for (const name of [`old.${column}`, `new.${column}`]) expect(definition).toContain(name)
  }
})
