import { randomBytes } from 'node:crypto'

import { expect } from 'vitest'

import { readLastPlays, readPlays } from '../../src/engine/queue/library-past.ts'
import { songKeysAt } from '../../src/model/autodj/track-columns.ts'
import { readChangedPlaylists, readPlaylists } from '../../src/stores/db/library/library.ts'
import { tracksPerPart } from '../../src/stores/db/library/packed-tracks.ts'
import type { Sql, Tx } from '../../src/stores/db/sql.ts'
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

test('a playlist that is read in several parts has all its tracks in order', async ({ sql }) => {
  const stationId = await seedStation(sql, { tracks: 3 })
  const [other] = await sql<{ id: number }[]>`
    insert into playlists (station_id, name) values (${stationId}, 'Large') returning id`
  await sql`
    insert into media (station_id, unique_id, path, song_id, artist, title, duration_ms, artist_keys, start_next_ms)
    select ${stationId}, left(md5('part-' || n), 24), 'part:' || n, md5('part' || n), 'Artist', n::text, 1000 + n,
      case when n % 3 = 0 then array[n, n + 1]::bigint[] end, case when n % 7 = 0 then 500 end
    from generate_series(1, ${2 * tracksPerPart + 1}::int) n`
  await sql`
    insert into playlist_tracks (playlist_id, media_id, position)
    select ${other?.id ?? 0}, id, -id from media where station_id = ${stationId} and path like 'part:%'`
  const expected = await sql<{ id: number; artists: number[] | null }[]>`
    select t.id, m.artist_keys as artists from playlist_tracks t join media m on m.id = t.media_id
    where t.playlist_id = ${other?.id ?? 0} order by t.position, t.id`
  const playlists = (await readPlaylists(sql, [stationId])).get(stationId) ?? []
  expect(playlists.map(({ tracks }) => tracks.ids.length)).toEqual([3, 2 * tracksPerPart + 1])
  const tracks = playlists[1]?.tracks
  if (!tracks) throw new Error('no tracks')
  expect([...tracks.ids]).toEqual(expected.map(({ id }) => id))
  expect(expected.map((_, index) => songKeysAt(tracks, index).artists)).toEqual(
    expected.map(({ artists }) => (artists ?? []).map(Number))
  )
  expect(tracks.overlaps?.filter(overlapMs => overlapMs >= 0).length).toBe(
    Math.floor((2 * tracksPerPart + 1) / 7)
  )
})
