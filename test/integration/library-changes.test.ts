import * as fc from 'fast-check'
import { describe, expect } from 'vitest'

import { changeStation } from '../../src/engine/change-station.ts'
import { confirmProvisionalPlay } from '../../src/engine/plays/provisional-plays.ts'
import { readAutodjFacts } from '../../src/engine/queue-context.ts'
import {
  cacheLibrary,
  findCachedLibrary,
  type LibraryCache,
  newestCachedPlayId,
  openLibraryCache,
  readLibrary
} from '../../src/engine/queue/library-cache.ts'
import { readPlays } from '../../src/engine/queue/library-past.ts'
import { startNewPass } from '../../src/engine/queue/plan-statements.ts'
import { refillQueue } from '../../src/engine/queue/queue.ts'
import { lockStations } from '../../src/engine/station-facts.ts'
import { raiseLibraryVersion, recordPastPlayChange } from '../../src/stores/db/library/library.ts'
import type { Sql, Tx } from '../../src/stores/db/sql.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { seedStation } from '../support/stations.ts'
import { sized } from '../support/tier.ts'

/** A station with three playlists of the same songs, the last one disabled. */
async function seedPlaylists(sql: Sql): Promise<number> {
  const stationId = await seedStation(sql, { tracks: 6 })
  for (const isEnabled of [true, false])
    await sql`
      with p as (
        insert into playlists (station_id, name, is_enabled) values (${stationId}, 'Other', ${isEnabled}) returning id
      )
      insert into playlist_tracks (playlist_id, media_id, position)
      select p.id, m.id, 1 from p, media m where m.station_id = ${stationId} and m.id % 2 = 0`
  return stationId
}

/** Reads the library of a station as a step does. */
async function read(sql: Sql, stationId: number, libraries: LibraryCache | null) {
  return sql.begin(async tx => {
    const [[onAir], [autodj]] = await Promise.all([
      lockStations(tx, [stationId]),
      readAutodjFacts(tx, [stationId])
    ])
    if (!onAir || !autodj) throw new Error('there is no station')
    const newestId = libraries && newestCachedPlayId(libraries, stationId)
    const plays = newestId === null ? [] : await readPlays(tx, [stationId], { ids: [newestId] })
    return readLibrary(tx, autodj, onAir.station.readAtMs, libraries && { libraries, plays })
  })
}

const item = { start_time: 0, end_time: 2_359, start_date: '', end_date: '', days: [], loop_once: false }

/** An edit of a library. `at` and `to` choose rows and positions, modulo their number. */
const edits = {
  addTrack: (tx, id, at, to) => tx`
    insert into playlist_tracks (playlist_id, media_id, position)
    select p.id, m.id, ${to % 8} from (${pick(tx, 'playlists', id, at)}) p, (${pick(tx, 'media', id, to)}) m
    on conflict do nothing`,
  removeTrack: (tx, id, at) => tx`
    delete from playlist_tracks where id in (${pickTrack(tx, id, at)})`,
  moveTrack: (tx, id, at, to) => tx`
    update playlist_tracks set position = ${to % 8} where id in (${pickTrack(tx, id, at)})`,
  replaceMedia: (tx, id, at, to) => tx`
    update playlist_tracks set media_id = m.id from (${pick(tx, 'media', id, to)}) m
    where playlist_tracks.id in (${pickTrack(tx, id, at)}) and not exists (
      select from playlist_tracks other
      where other.playlist_id = playlist_tracks.playlist_id and other.media_id = m.id)`,
  reverse: (tx, id, at) => tx`
    update playlist_tracks set position = -position where playlist_id in (${pick(tx, 'playlists', id, at)})`,
  editMedia: (tx, id, at, to) => tx`
    update media set duration_ms = ${to * 1_000}, title_key = ${to}, artist_keys = ${[to, to + 1].slice(to % 3)}
    where id in (${pick(tx, 'media', id, at)})`,
  editCues: (tx, id, at, to) => tx`
    update media set cue_in_ms = ${to * 10}, cue_out_ms = ${to % 2 === 0 ? null : 500 + to},
      start_next_ms = ${to % 3 === 0 ? null : 490 + to}
    where id in (${pick(tx, 'media', id, at)})`,
  play: (tx, id, at, to) => insertPlay(tx, id, { at, pass: to, agoMs: 0 }),
  playAfterClockWentBack: (tx, id, at, to) => insertPlay(tx, id, { at, pass: to, agoMs: 1_000 * to }),
  playProvisionally: (tx, id, at, to) => insertPlay(tx, id, { at, pass: to, agoMs: 0, isProvisional: true }),
  confirmPlay: async (tx, id, at) => {
    const [play] = await tx<{ id: number; isProvisional: boolean }[]>`
      select id, is_bridged as "isProvisional" from song_history where id in (${pick(tx, 'song_history', id, at)})`
    if (play) await confirmProvisionalPlay(tx, play)
  },
  endPass: (tx, id) => tx`
    update playlists p set pass = h.pass
    from (select playlist_id, pass from song_history where station_id = ${id} order by id desc limit 1) h
    where p.id = h.playlist_id and p.pass < h.pass`,
  setPass: (tx, id, at, to) => tx`
    update playlists set pass = ${to} where id in (${pick(tx, 'playlists', id, at)})`,
  startNewPass: async (tx, id, at) => {
    const [playlist] = await tx<{ id: number }[]>`
      select id from playlists where id in (${pick(tx, 'playlists', id, at)})`
    if (playlist) await startNewPass(tx, playlist.id)
  },
  markPassed: (tx, id, at, to) => tx`
    update playlist_tracks set last_pass = greatest(last_pass, ${to}) where id in (${pickTrack(tx, id, at)})`,
  resetMarks: (tx, id, at) => tx`
    update playlist_tracks set last_pass = 0, last_aired_ms = null where id in (${pickTrack(tx, id, at)})`,
  renamePlay: (tx, id, at, to) => tx`
    update song_history set song_id = md5(${to}::text), title_key = ${to}, artist_keys = ${[to, to + 1].slice(to % 3)}
    where id in (${pick(tx, 'song_history', id, at)})`,
  moveStart: (tx, id, at, to) => tx`
    update song_history set started_at_ms = started_at_ms - ${to * 100} where id in (${pick(tx, 'song_history', id, at)})`,
  editPlay: (tx, id, at, to) => tx`
    update song_history set is_visible = ${to % 2 === 0}, duration_ms = ${to}, occurrence_ms = ${to}, request_id = ${to},
      pass = ${to}, media_id = null, playlist_id = case when ${to % 3 === 0} then null else playlist_id end
    where id in (${pick(tx, 'song_history', id, at)})`,
  removePlay: async (tx, id, at) => {
    const [play] = await tx<{ trackId: number | null }[]>`
      delete from song_history where id in (${pick(tx, 'song_history', id, at)}) returning track_id as "trackId"`
    if (play) await recordPastPlayChange(tx, id, play.trackId)
  },
  addMedia: (tx, id, at, to) => tx`
    with m as (
      insert into media (station_id, unique_id, path, song_id, duration_ms)
      values (${id}, left(md5(random()::text), 24), random()::text, md5(${to}), 1000) returning id
    )
    insert into playlist_tracks (playlist_id, media_id, position)
    select p.id, m.id, ${to % 8} from (${pick(tx, 'playlists', id, at)}) p, m`,
  removeMedia: (tx, id, at) => tx`delete from media where id in (${pick(tx, 'media', id, at)})`,
  enable: (tx, id, at) => tx`
    update playlists set is_enabled = not is_enabled where id in (${pick(tx, 'playlists', id, at)})`,
  changeType: (tx, id, at, to) => tx`
    update playlists set type = ${to % 2 === 0 ? 'custom' : 'once_per_x_songs'}, play_per_songs = ${to + 1}
    where id in (${pick(tx, 'playlists', id, at)})`,
  changeSource: (tx, id, at, to) => tx`
    update playlists set source = ${to % 3 === 0 ? 'remote_url' : 'songs'}, remote_type = ${to % 2 === 0 ? 'playlist' : 'stream'}
    where id in (${pick(tx, 'playlists', id, at)})`,
  moveToRemote: (tx, id, at, to) => tx`
    update media set remote_playlist_id = (${pick(tx, 'playlists', id, to)}) where id in (${pick(tx, 'media', id, at)})`,
  schedule: (tx, id, at, to) => tx`
    update playlists set weight = ${to}, schedule_items = ${tx.json([{ ...item, id: to }])}
    where id in (${pick(tx, 'playlists', id, at)})`,
  addPlaylist: (tx, id, _, to) => tx`insert into playlists (station_id, name) values (${id}, ${`New ${to}`})`,
  removePlaylist: (tx, id, at) => tx`delete from playlists where id in (${pick(tx, 'playlists', id, at)})`
} satisfies Record<string, (tx: Tx, stationId: number, at: number, to: number) => unknown>

type EditName = keyof typeof edits

interface Edit {
  readonly name: EditName
  readonly at: number
  readonly to: number
}

/** Selects the id of one row of a table, by its number. */
const pick = (tx: Tx, table: 'playlists' | 'media' | 'song_history', stationId: number, at: number) => tx`
  select id from ${tx(table)} where station_id = ${stationId} order by id
  limit 1 offset (${at} % greatest(1, (select count(*) from ${tx(table)} where station_id = ${stationId})))`

const pickTrack = (tx: Tx, stationId: number, at: number) => tx`
  select t.id from playlist_tracks t join playlists p on p.id = t.playlist_id and p.station_id = ${stationId}
  order by t.id limit 1 offset (${at} % greatest(1, (
    select count(*) from playlist_tracks t join playlists p on p.id = t.playlist_id and p.station_id = ${stationId})))`

interface SeededPlay {
  readonly at: number
  readonly pass: number
  readonly agoMs: number
  readonly isProvisional?: boolean
}

/** Plays a track, as `openHistoryRowsStatement` does. */
const insertPlay = (tx: Tx, stationId: number, { at, pass, agoMs, isProvisional = false }: SeededPlay) => tx`
  with track as (
    select t.id, t.playlist_id, m.id as media_id, m.song_id, m.title_key, m.artist_keys,
      floor(extract(epoch from clock_timestamp()) * 1000) - ${agoMs}::bigint as start_ms
    from playlist_tracks t join media m on m.id = t.media_id where t.id in (${pickTrack(tx, stationId, at)})
  ), heard as (
    update playlist_tracks t set last_pass = greatest(last_pass, ${pass}), last_aired_ms = track.start_ms
    from track where t.id = track.id and not ${isProvisional}
  )
  insert into song_history (station_id, media_id, playlist_id, track_id, playlist, song_id, artist, title, duration_ms,
    title_key, artist_keys, pass, is_bridged, started_at_ms, ended_at_ms)
  select ${stationId}, media_id, playlist_id, id, '', song_id, '', '', 1000, title_key, artist_keys, ${pass},
    ${isProvisional}, start_ms, start_ms from track`

async function apply(tx: Tx, stationId: number, list: readonly Edit[]): Promise<void> {
  for (const { name, at, to } of list) await edits[name](tx, stationId, at, to)
}

const editLists = (names: readonly EditName[]) =>
  fc.array(fc.record({ name: fc.constantFrom(...names), at: fc.nat(20), to: fc.nat(12) }), { maxLength: 4 })

const everyEdit = Object.keys(edits).filter((name): name is EditName => name in edits)
/** Edits that lock only rows that they insert. */
const additions: readonly EditName[] = ['addMedia']
const trackEdits: readonly EditName[] = [
  'addTrack',
  'removeTrack',
  'moveTrack',
  'editMedia',
  'editCues',
  'addMedia'
]

/** Alone, rolled back, or with another one that begins later. */
type Transaction =
  | { kind: 'commits' | 'fails'; list: Edit[] }
  | { kind: 'overtaken' | 'waited for'; list: Edit[]; other: Edit[] }

const transactions: fc.Arbitrary<Transaction[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('commits' as const, 'fails' as const), list: editLists(everyEdit) }),
    fc.record({
      kind: fc.constantFrom('overtaken' as const, 'waited for' as const),
      list: editLists(additions),
      other: editLists(trackEdits)
    })
  ),
  { minLength: 1, maxLength: 6 }
)

/** A play of a playlist, and a change of another one. */
const playWithChange: Transaction = {
  kind: 'commits',
  list: [
    { name: 'enable', at: 1, to: 0 },
    { name: 'play', at: 0, to: 0 }
  ]
}

/** A song whose start of the next one stops fitting its duration. */
const overlapThatNoLongerFits: Transaction[] = [
  { kind: 'commits', list: [{ name: 'editCues', at: 1, to: 2 }] },
  { kind: 'commits', list: [{ name: 'editMedia', at: 1, to: 0 }] }
]

class Rollback extends Error {}

test('a library that is updated from changes equals one that is read again', async ({ sql }) => {
  const numRuns = sized({ quick: 25, deep: 200, soak: 2_000 })
  await fc.assert(
    fc.asyncProperty(transactions, fc.boolean(), async (list, isPacked) => {
      const stationId = await seedPlaylists(sql)
      const libraries = openLibraryCache(isPacked ? { unpackedAtMost: 0 } : {})
      const check = async () =>
        expect(await read(sql, stationId, libraries)).toEqual(await read(sql, stationId, null))
      await check()
      for (const transaction of list) {
        if ('other' in transaction) await overlap(sql, stationId, transaction, check)
        else
          await sql
            .begin(async tx => {
              await apply(tx, stationId, transaction.list)
              if (transaction.kind === 'fails') throw new Rollback()
            })
            .catch((error: unknown) => {
              if (!(error instanceof Rollback)) throw error
            })
        await check()
      }
    }),
    {
      numRuns,
      examples: [false, true].flatMap(isPacked => [
        [[playWithChange], isPacked],
        [overlapThatNoLongerFits, isPacked]
      ])
    }
  )
})

/** Runs two transactions at once. `waited for`: the first one raises the version before the other commits. */
async function overlap(
  sql: Sql,
  stationId: number,
  { kind, list, other }: { kind: string; list: readonly Edit[]; other: readonly Edit[] },
  check: () => Promise<void>
): Promise<void> {
  let otherCommit: Promise<unknown> = Promise.resolve()
  await sql.begin(async tx => {
    await apply(tx, stationId, list)
    if (kind === 'waited for') await tx`set constraints all immediate`
    otherCommit = sql.begin(second => apply(second, stationId, other))
    if (kind === 'waited for') return
    await otherCommit
    await check()
  })
  await otherCommit
}

describe('a cached library', () => {
  test('keeps the tracks of a playlist whose settings changed', async ({ sql }) => {
    const stationId = await seedPlaylists(sql)
    const libraries = openLibraryCache()
    const before = await read(sql, stationId, libraries)
    await sql.begin(async tx => apply(tx, stationId, [{ name: 'schedule', at: 0, to: 7 }]))
    const after = await read(sql, stationId, libraries)
    expect(after.playlists[0]?.tracks).toBe(before.playlists[0]?.tracks)
    expect(after.playlists[0]).toMatchObject({ weight: 7, schedule: [{ id: 7 }] })
  })

  test('follows a change that commits and reads only what it changed, and not one that fails', async ({
    sql,
    redisUrl
  }) => {
    const stationId = await seedPlaylists(sql)
    await using playout = await openPlayout(sql, redisUrl)
    const { libraries } = playout
    const cached = () => findCachedLibrary(libraries, stationId)
    const change = (list: readonly Edit[], isFailing: boolean) =>
      changeStation(playout, stationId, async opened => {
        await apply(opened.tx, stationId, list)
        await refillQueue(opened)
        if (isFailing) throw new Rollback()
      })
    await change([], false)
    const before = cached()
    const copy = structuredClone(before)
    const changes: Edit[] = [
      { name: 'schedule', at: 0, to: 7 },
      { name: 'play', at: 0, to: 3 },
      { name: 'markPassed', at: 1, to: 5 }
    ]
    await expect(change(changes, true)).rejects.toBeInstanceOf(Rollback)
    expect(cached()).toBe(before)
    expect(cached()).toEqual(copy)
    await change(changes.slice(0, 2), false)
    const after = cached()
    expect(after?.playlists[0]?.schedule).toMatchObject([{ id: 7 }])
    expect(after?.playlists[0]?.tracks.ids).toBe(before?.playlists[0]?.tracks.ids)
    expect(await read(sql, stationId, libraries)).toEqual(await read(sql, stationId, null))
  })

  test('keeps playlists that did not change, and does not need all tracks', async ({ sql }) => {
    const stationId = await seedPlaylists(sql)
    const libraries = openLibraryCache()
    const before = await read(sql, stationId, libraries)
    await sql.begin(async tx => apply(tx, stationId, [{ name: 'addMedia', at: 1, to: 3 }]))
    const after = await read(sql, stationId, libraries)
    expect(after.playlists[0]).toBe(before.playlists[0])
    expect(after.playlists[1]?.tracks.ids).toHaveLength((before.playlists[1]?.tracks.ids.length ?? 0) + 1)
    expect(after.version).toBeGreaterThan(before.version)
  })

  test.for(['more than 1,000 tracks changed', 'a change that is not listed', 'the list was pruned'])(
    'is read again as a whole after: %s',
    async (reason, { sql }) => {
      const stationId = await seedPlaylists(sql)
      const libraries = openLibraryCache()
      const before = await read(sql, stationId, libraries)
      await sql.begin(async tx => {
        if (reason.startsWith('more'))
          await tx`
            with m as (
              insert into media (station_id, unique_id, path, song_id)
              select ${stationId}, left(md5(n::text), 24), n, md5(n::text) from generate_series(1, 1100) n returning id
            )
            insert into playlist_tracks (playlist_id, media_id, position)
            select p.id, m.id, 1 from (${pick(tx, 'playlists', stationId, 1)}) p, m`
        else if (reason.startsWith('a change')) await raiseLibraryVersion(tx, stationId)
        else await apply(tx, stationId, [{ name: 'addMedia', at: 1, to: 3 }])
      })
      if (reason.startsWith('the list'))
        await sql`delete from library_changes where station_id = ${stationId} and version = ${before.version}`
      const after = await read(sql, stationId, libraries)
      expect(after.playlists[0]).not.toBe(before.playlists[0])
      expect(after).toEqual(await read(sql, stationId, null))
    }
  )

  test('of a version that a restored backup does not have is read again', async ({ sql }) => {
    const stationId = await seedPlaylists(sql)
    const libraries = openLibraryCache()
    const { version } = await read(sql, stationId, libraries)
    const edit = (at: number) =>
      sql.begin(async tx => apply(tx, stationId, [{ name: 'addMedia', at, to: 3 }]))
    await edit(0)
    const lost = await read(sql, stationId, libraries)
    // What a backup from before the edit contains.
    await sql.begin(async tx => {
      await tx`set local session_replication_role = replica`
      await tx`delete from playlist_tracks where id = (select max(id) from playlist_tracks)`
      await tx`delete from library_changes where station_id = ${stationId} and version > ${version}`
      await tx`update libraries set version = ${version} where station_id = ${stationId}`
    })
    const restored = await read(sql, stationId, libraries)
    expect(restored).toEqual(await read(sql, stationId, null))
    expect(restored.version).toBe(version)
    // A process that still has the lost version meets a newer one.
    const stale = openLibraryCache()
    cacheLibrary(stale, stationId, lost)
    await edit(1)
    expect(findCachedLibrary(stale, stationId)?.version).toBe(lost.version)
    expect(await read(sql, stationId, stale)).toEqual(await read(sql, stationId, null))
  })

  test('has the last song, however long ago it started, and the jingles after it', async ({ sql }) => {
    const stationId = await seedPlaylists(sql)
    const [clock] = await sql<{ nowMs: number }[]>`
      select floor(extract(epoch from now()) * 1000)::float8 as "nowMs"`
    const nowMs = clock?.nowMs ?? 0
    const plays = Array.from({ length: 62 }, (_, index) => ({
      station_id: stationId,
      song_id: String(index),
      is_visible: index < 2,
      started_at_ms: nowMs - (62 - index) * 300_000,
      ended_at_ms: nowMs - (61 - index) * 300_000
    }))
    await sql`insert into song_history ${sql(plays)}`
    const { past } = await read(sql, stationId, null)
    expect(past.plays.map(({ startsAtMs }) => startsAtMs)).toEqual(
      plays.slice(1).map(play => play.started_at_ms)
    )
    expect(past.plays.map(({ isVisible }) => isVisible)).toEqual([
      true,
      ...Array.from({ length: 60 }, () => false)
    ])
  })

  test('has a list of changes that does not grow for ever', async ({ sql }) => {
    const stationId = await seedPlaylists(sql)
    const edit = () => sql.begin(async tx => apply(tx, stationId, [{ name: 'addMedia', at: 0, to: 3 }]))
    const hourMs = 3_600_000
    for (let times = 0; times < 3; times++) {
      await sql`update library_changes set version = version - ${hourMs} where station_id = ${stationId}`
      await sql`update libraries set version = version - ${hourMs} where station_id = ${stationId}`
      await edit()
    }
    const rows = await sql`select distinct version from library_changes where station_id = ${stationId}`
    // The newest version, and the one before it.
    expect(rows).toHaveLength(2)
  })
})
