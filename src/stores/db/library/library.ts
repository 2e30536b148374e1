import type { PlayOrRow, PlaylistOption, Playlist } from '../../../model/autodj/library.ts'
import { buildTracks, type Tracks } from '../../../model/autodj/tracks.ts'
import { openPauses } from '../../../platform/runtime/time-slices.ts'
import type { Sql, Tx } from '../sql.ts'
import {
  markColumns,
  mediaColumns,
  type PackedTracks,
  packedTracks,
  trackColumns,
  tracksPerPart,
  unpackTracks
} from './tracks.ts'

interface PlaylistRow extends Omit<Playlist, 'source' | 'options' | 'tracks'> {
  stationId: number
  source: string
  remoteType: string
  options: string
}

interface PlaylistSelection {
  /** The ids of the playlists to read; null: all. */
  readonly only?: readonly number[] | null
  /** Whether to read disabled and custom playlists too. */
  readonly hasInactive?: boolean
}

/** Reads the playlists that the AutoDJ uses, with all their tracks, by station; stations without any are left out. */
export async function readPlaylists(
  sql: Sql | Tx,
  stationIds: readonly number[],
  selection: PlaylistSelection = {}
): Promise<Map<number, Playlist[]>> {
  const [playlists, tracks] = await Promise.all([
    readPlaylistSettings(sql, stationIds, selection),
    readTracks(sql, stationIds, selection)
  ])
  const byStation = new Map<number, Playlist[]>()
  for (const { stationId, ...settings } of playlists) {
    const own = byStation.get(stationId) ?? []
    byStation.set(stationId, own)
    own.push({ ...settings, tracks: tracks.get(settings.id) ?? noTracks })
  }
  return byStation
}

const activeIn = (sql: Sql | Tx, { only = null, hasInactive = false }: PlaylistSelection) => sql`
  (${hasInactive} or (p.is_enabled and p.type <> 'custom'))
  and (${only && [...only]}::bigint[] is null or p.id = any(${only && [...only]}::bigint[]))`

/** Reads playlists without their tracks, by id. */
export async function readPlaylistSettings(
  sql: Sql | Tx,
  stationIds: readonly number[],
  selection: PlaylistSelection = {}
): Promise<(Omit<Playlist, 'tracks'> & { stationId: number })[]> {
  const rows = await sql<PlaylistRow[]>`
    select p.station_id as "stationId", p.id, p.name, p.type, p.source, p.remote_type as "remoteType", p."order",
      p.weight, p.is_enabled as "isEnabled", p.is_jingle as "isJingle", p.avoid_duplicates as "avoidsDuplicates",
      p.play_per_songs as "everySongs", p.play_per_minutes as "everyMinutes",
      p.play_per_hour_minute as "hourMinute", p.backend_options as options, p.schedule_items as schedule, p.pass
    from playlists p
    where p.station_id = any(${[...stationIds]}::bigint[]) and ${activeIn(sql, selection)}
    order by p.id`
  return rows.map(({ source, remoteType, options: names, ...row }) => ({
    ...row,
    source: source === 'songs' ? 'songs' : remoteType === 'playlist' ? 'list' : 'stream',
    options: new Set(names.split(',').filter(isOption))
  }))
}

/** Reads all tracks of playlists, by playlist; those without any are left out. */
export async function readTracks(
  sql: Sql | Tx,
  stationIds: readonly number[],
  selection: PlaylistSelection = {}
): Promise<Map<number, Tracks>> {
  // Joined station by station in a lateral query: otherwise Postgres looks up the media of each track. In parts,
  // because a row of 50,000 tracks would be parsed in one go.
  const lists = await sql<(PackedTracks & { playlistId: number })[]>`
    select list.* from unnest(${[...stationIds]}::bigint[]) as s (id) cross join lateral (
      with t as materialized (
        select ${trackColumns(sql)}, p.source = 'remote_url' as is_remote, (
            row_number() over (partition by t.playlist_id order by t.position, t.id) - 1
          ) / ${tracksPerPart}::int as part
        from playlists p join playlist_entries t on t.playlist_id = p.id
        where p.station_id = s.id and ${activeIn(sql, selection)}
      ), m as materialized (
        select ${mediaColumns(sql)}, remote_playlist_id is not null as is_remote from media m where station_id = s.id
      )
      select t.playlist_id as "playlistId", ${packedTracks(sql)}
      from t join m on m.id = t.media_id and m.is_remote = t.is_remote
      group by t.playlist_id, t.part
      order by t.playlist_id, t.part
    ) list`
  const parts = new Map<number, PackedTracks[]>()
  for (const list of lists) {
    const before = parts.get(list.playlistId)
    if (before) before.push(list)
    else parts.set(list.playlistId, [list])
  }
  const tracks = new Map<number, Tracks>()
  const pause = openPauses(unpackSliceMs)
  for (const [id, each] of parts) tracks.set(id, await unpackTracks(each, pause))
  return tracks
}

const unpackSliceMs = 4

/** No tracks. */
export const noTracks = buildTracks([])

const options: readonly PlaylistOption[] = ['interrupt', 'single_track', 'merge', 'prioritize', 'loop_once']
const optionNames: ReadonlySet<string> = new Set(options)
const isOption = (name: string): name is PlaylistOption => optionNames.has(name)

/** A play of the history. */
export interface PastPlay extends Omit<PlayOrRow, 'overlapMs'> {
  readonly stationId: number
  readonly id: number
  /** Present if the marks of its track are not written until a report confirms it. */
  readonly isProvisional?: true
}

/** A play that is read to extend a library in memory, with what a play changes in its playlist. */
export interface NewPlay extends PastPlay {
  /** The current pass of the playlist; null or absent: unknown. */
  readonly playlistPass?: number | null
  /** The current marks of the track; null or absent: unknown. */
  readonly lastPass?: number | null
  readonly lastAiredMs?: number | null
}

const playsAtMost = 10_000

/** Reads plays, the current one included, oldest first: those from an id on, or from a start time on. */
export async function readPlays(
  sql: Sql | Tx,
  stationIds: readonly number[],
  from: { readonly ids: readonly number[] }
): Promise<NewPlay[]>
export async function readPlays(
  sql: Sql | Tx,
  stationIds: readonly number[],
  from: { readonly startsAtMs: readonly number[] }
): Promise<PastPlay[]>
export async function readPlays(
  sql: Sql | Tx,
  stationIds: readonly number[],
  from: { readonly ids: readonly number[] } | { readonly startsAtMs: readonly number[] }
): Promise<PastPlay[]> {
  const isById = 'ids' in from
  // Bounds and order of an index that begins with the station; see "walks an index of all stations" in
  // docs/gotchas.md.
  const column = isById ? sql`id` : sql`started_at_ms`
  const rows = await sql<PlayRow[]>`
    select h.station_id as "stationId", h.id, h.playlist_id as "playlistId", h.track_id as "trackId",
      h.media_id as "mediaId", h.pass, h.request_id as "requestId", h.occurrence_ms as "occurrenceMs",
      h.song_key as song, coalesce(h.title_key, 0) as title, coalesce(h.artist_keys, '{}') as artists,
      h.is_visible as "isVisible", h.is_bridged as "isProvisional", h.started_at_ms as "startsAtMs",
      h.duration_ms as "durationMs"${isById ? sql`, p.pass as "playlistPass", t.*` : sql``}
    from unnest(${[...stationIds]}::bigint[], ${[...(isById ? from.ids : from.startsAtMs)]}::bigint[]) as s (id, since)
    cross join lateral (
      select station_id, id, playlist_id, track_id, media_id, pass, request_id, occurrence_ms, song_key, title_key,
        artist_keys, is_visible, is_bridged, started_at_ms, duration_ms
      from song_history h where (h.station_id, h.${column}) >= (s.id, s.since) and h.station_id <= s.id
      order by h.station_id desc, h.${column} desc ${sql.unsafe(`limit ${playsAtMost}`)}
    ) h ${isById ? whatPlaysChange(sql) : sql``}
    order by h.id`
  return rows.map(({ song, title, artists, isProvisional, ...row }) => ({
    ...row,
    ...(isProvisional ? { isProvisional } : {}),
    isInterrupt: false,
    song: { song, title, artists: artists.map(Number) }
  }))
}

/** The playlist and the track of the plays `h`, each looked up: otherwise Postgres might go through all. */
const whatPlaysChange = (sql: Sql | Tx) => sql`
  left join lateral (select pass from playlists where id = h.playlist_id limit 1) p on true
  left join lateral (
    select ${markColumns(sql)} from playlist_tracks t where t.id = h.track_id limit 1
  ) t on true`

interface PlayRow extends Omit<NewPlay, 'song' | 'isInterrupt' | 'isProvisional'> {
  isProvisional: boolean
  song: number
  title: number
  artists: number[]
}

/**
 * Reads, for each playlist that counts, its last play before a time and the visible plays since (32,768 at
 * most).
 */
export async function readLastPlays(
  sql: Sql | Tx,
  stationIds: readonly number[],
  beforeMs: readonly number[]
) {
  return sql<{ stationId: number; playlistId: number; startsAtMs: number; visibleAfter: number }[]>`
    select p.station_id as "stationId", p.id as "playlistId", h.started_at_ms as "startsAtMs", (
      select count(*) filter (where v.is_visible and v.started_at_ms < s.before_ms) from (
        select v.is_visible, v.started_at_ms from song_history v
        where (v.station_id, v.id) > (p.station_id, h.id) and v.station_id <= p.station_id
        order by v.station_id, v.id limit 32768
      ) v)::integer as "visibleAfter"
    from unnest(${[...stationIds]}::bigint[], ${[...beforeMs]}::bigint[]) as s (id, before_ms)
    join playlists p on p.station_id = s.id and p.is_enabled and p.type in ('once_per_x_songs', 'once_per_x_minutes')
    cross join lateral (
      select h.id, h.started_at_ms from song_history h
      where (h.station_id, h.playlist_id) >= (p.station_id, p.id) and (h.station_id, h.playlist_id) <= (p.station_id, p.id)
        and h.playlist_id is not null
      order by h.station_id, h.playlist_id, h.id desc limit 1
    ) h
    where h.started_at_ms < s.before_ms`
}

/** Jingles after which the play before them is not searched. */
export const jinglesAtMost = 1_000

/** Reads when the last play that is not a jingle started, by station; omits those that have none. */
export async function readLastSongStarts(
  sql: Sql | Tx,
  stationIds: readonly number[]
): Promise<Map<number, number>> {
  const rows = await sql<{ stationId: number; startsAtMs: number }[]>`
    select s.id as "stationId", h.started_at_ms as "startsAtMs"
    from unnest(${[...stationIds]}::bigint[]) as s (id)
    cross join lateral (
      select started_at_ms from (
        select station_id, started_at_ms, is_visible from song_history
        where station_id between s.id and s.id
        order by station_id desc, started_at_ms desc ${sql.unsafe(`limit ${jinglesAtMost + 1}`)}
      ) newest
      where is_visible order by station_id desc, started_at_ms desc limit 1
    ) h`
  return new Map(rows.map(({ stationId, startsAtMs }) => [stationId, startsAtMs]))
}
