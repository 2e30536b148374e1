import { createHash, randomBytes } from 'node:crypto'

import { artistKeys, titleKey } from '../../src/model/songs/duplicate-keys.ts'
import type { Sql, Tx } from '../../src/stores/db/sql.ts'

export interface SeededStation {
  readonly id: number
  readonly playlistId: number
}

export interface Shape {
  readonly stations?: number
  readonly tracks?: number
  readonly songMs?: number
  readonly queueLength?: number
}

/** Creates stations with a mount and one playlist of `tracks` songs of `songMs` milliseconds each. */
export async function seedStations(sql: Sql | Tx, shape: Shape = {}): Promise<SeededStation[]> {
  const { stations = 1, tracks = 10, songMs = 60_000, queueLength = 3 } = shape
  const tag = randomBytes(6).toString('hex')
  const numbers = Array.from({ length: stations }, (_, index) => index + 1)
  const rows = await sql<{ id: number }[]>`
    insert into stations (name, short_name, queue_length)
    select 'Station ' || n, ${`s${tag}_`} || n, ${queueLength} from unnest(${numbers}::int[]) n returning id`
  const ids = rows.map(row => row.id)
  const songs = Array.from({ length: tracks }, (_, index) => ({
    n: index + 1,
    id: createHash('md5').update(`song${index}`).digest('hex'),
    titleKey: titleKey(`Title ${index + 1}`),
    artistKey: artistKeys(`Artist ${index + 1}`)[0] ?? 0
  }))
  await sql`insert into hls_streams (station_id, name, is_default) select id, '/radio.mp3', true
    from unnest(${ids}::bigint[]) id`
  await sql`
    insert into media (station_id, unique_id, path, song_id, artist, title, duration_ms, title_key, artist_keys)
    select s.id, left(md5(${tag} || s.id || '-' || t.n), 24), 'test:' || t.n, t.song_id, 'Artist ' || t.n,
      'Title ' || t.n, ${songMs}, t.title_key, array[t.artist_key]
    from unnest(${ids}::bigint[]) s(id),
      unnest(${songs.map(song => song.n)}::int[], ${songs.map(song => song.id)}::text[],
        ${songs.map(song => song.titleKey)}::bigint[], ${songs.map(song => song.artistKey)}::bigint[])
        t(n, song_id, title_key, artist_key)`
  const playlists = await sql<SeededStation[]>`
    insert into playlists (station_id, name) select id, 'Rotation' from unnest(${ids}::bigint[]) id
    returning station_id as id, id as "playlistId"`
  await sql`
    insert into playlist_tracks (playlist_id, media_id, position)
    select p.id, m.id, row_number() over (partition by p.id order by m.id)
    from playlists p join media m on m.station_id = p.station_id
    where p.station_id = any(${ids}::bigint[])`
  return playlists.toSorted((a, b) => a.id - b.id)
}

/** Creates one such station. Returns its id. */
export async function seedStation(sql: Sql | Tx, shape: Omit<Shape, 'stations'> = {}): Promise<number> {
  const [station] = await seedStations(sql, shape)
  if (!station) throw new Error('no station was made')
  return station.id
}

/** One row of the history of a station. */
export interface HistoryRow {
  readonly id: number
  readonly title: string
  readonly startedAtMs: number
  readonly endedAtMs: number | null
}

/** The plays of a station, oldest first. */
export function readHistory(sql: Sql | Tx, stationId: number): Promise<HistoryRow[]> {
  return sql<HistoryRow[]>`
    select id, title, started_at_ms as "startedAtMs", ended_at_ms as "endedAtMs"
    from song_history where station_id = ${stationId} order by id`
}
