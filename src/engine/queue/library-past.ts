import { isDeepStrictEqual } from 'node:util'

import { transferPlayIndex } from '../../model/autodj/duplicates.ts'
import type { LibraryPast, PlayOrRow, Playlist, RemovedRow } from '../../model/autodj/library.ts'
import { markTrackAired, findTrackIndex } from '../../model/autodj/track-columns.ts'
import { literalLimit } from '../../stores/db/batches.ts'
import { markColumnsFragment } from '../../stores/db/library/packed-tracks.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'

const hourMs = 3_600_000
/** An hourly playlist looks back to a play that began a quarter of an hour after its minute. */
const leastMs = 2 * hourMs
/** The longest period of the rules, with a margin. */
const windowMs = 26 * hourMs
/** Plays that are kept regardless of age, for the current play and consecutive requests. */
const playsAtLeast = 25

/** The settings that determine how far rules look back. */
interface LookBackSettings {
  readonly duplicateRangeMs: number
  readonly requestThresholdMs: number
}

/** A station whose past plays are read. */
export interface PastStation extends LookBackSettings {
  readonly id: number
}

/** How far the rules of a station look back. Milliseconds. */
export function lookBackMs(
  { duplicateRangeMs, requestThresholdMs }: LookBackSettings,
  playlists: readonly Playlist[]
) {
  const hasWindows = playlists.some(({ schedule }) => schedule.length > 0)
  return Math.max(leastMs, duplicateRangeMs, requestThresholdMs, hasWindows ? windowMs : 0)
}

/** The past plays of a station in memory. */
export interface CachedPast {
  plays: PastPlay[]
  readonly older: Map<number, { startsAtMs: number; visibleAfter: number }>
}

/**
 * Adds what was read from the newest play on, that one included: new plays, the marks of their tracks, and the
 * passes of their playlists. Returns the playlists; those with the same pass are the same objects.
 */
export function extendPast(
  past: CachedPast,
  playlists: readonly Playlist[],
  plays: readonly NewPlay[]
): readonly Playlist[] {
  const passes = new Map<number | null, number>()
  for (const { playlistPass, lastPass, lastAiredMs, ...play } of plays) {
    const newest = past.plays.at(-1)
    if (newest && play.id < newest.id) continue
    if (play.id !== newest?.id) past.plays.push(play)
    // Another list, because the index of its songs belongs to a list.
    else if (!isDeepStrictEqual(play, newest)) past.plays = [...past.plays.slice(0, -1), play]
    const { tracks, index } = findTrack(playlists, play)
    if (tracks && typeof lastPass === 'number' && typeof lastAiredMs === 'number') {
      tracks.lastPass[index] = lastPass
      tracks.lastAired[index] = lastAiredMs
    } else if (tracks) markTrackAired(tracks, index, play.pass, play.startsAtMs)
    if (play.isProvisional) markProvisionalTracks([play], playlists)
    if (typeof playlistPass === 'number') passes.set(play.playlistId, playlistPass)
  }
  const isMoved = ({ id, pass }: Playlist) => (passes.get(id) ?? pass) !== pass
  if (!playlists.some(isMoved)) return playlists
  return playlists.map(each => (isMoved(each) ? { ...each, pass: passes.get(each.id) ?? each.pass } : each))
}

/** Marks the tracks of provisional plays, which Postgres marks when a report confirms them. */
export function markProvisionalTracks(plays: readonly PastPlay[], playlists: readonly Playlist[]): void {
  for (const play of plays) {
    if (!play.isProvisional) continue
    const { tracks, index } = findTrack(playlists, play)
    if (tracks) markTrackAired(tracks, index, play.pass, play.startsAtMs)
  }
}

function findTrack(playlists: readonly Playlist[], { playlistId, trackId }: PastPlay) {
  const tracks = trackId === null ? null : playlists.find(({ id }) => id === playlistId)?.tracks
  const index = tracks && trackId !== null ? findTrackIndex(tracks, trackId) : -1
  return index < 0 ? { tracks: null, index } : { tracks, index }
}

/**
 * Removes plays that began before a time. The last one of each playlist is kept, and all plays from the last one
 * on that is not a jingle, unless too many jingles follow it.
 */
export function trimPast(past: CachedPast, beforeMs: number): void {
  const cut = past.plays.findIndex(play => play.startsAtMs >= beforeMs)
  const song = past.plays.findLastIndex(({ isVisible }) => isVisible)
  const jingles = past.plays.length - song - 1
  const kept = song >= 0 && jingles <= jinglesAtMost ? Math.max(playsAtLeast, jingles + 1) : playsAtLeast
  const count = Math.min(cut === -1 ? past.plays.length : cut, past.plays.length - kept)
  if (count <= 0) return
  for (const { playlistId, startsAtMs, isVisible } of past.plays.slice(0, count)) {
    if (isVisible) for (const last of past.older.values()) last.visibleAfter++
    if (playlistId !== null) past.older.set(playlistId, { startsAtMs, visibleAfter: 0 })
  }
  const rest = past.plays.slice(count)
  transferPlayIndex(past.plays, rest)
  past.plays = rest
}

/** The past in the form that the AutoDJ uses. */
export function toLibraryPast({ plays, older }: CachedPast, removed: readonly RemovedRow[]): LibraryPast {
  return { plays, older, removed }
}

/** The past of a station without plays. */
export const emptyPast = (): CachedPast => ({ plays: [], older: new Map() })

/** Reads the past plays on which the rules of the playlists of a station depend, without a cache. */
export async function readLibraryPast(
  tx: Tx,
  station: PastStation,
  nowMs: number,
  playlists: readonly Playlist[]
): Promise<CachedPast> {
  const past = await loadPast(tx, station, nowMs, playlists)
  trimPast(past, nowMs - lookBackMs(station, playlists))
  return past
}

/** Reads the past plays of one station like `loadPasts`. */
export async function loadPast(
  tx: Tx,
  station: PastStation,
  nowMs: number,
  playlists: readonly Playlist[]
): Promise<CachedPast> {
  const pasts = await loadPasts(tx, [station], nowMs, new Map([[station.id, playlists]]))
  return pasts.get(station.id) ?? emptyPast()
}

/**
 * Reads the past plays of stations, as far back as their rules look: at least to the last play that is not a jingle.
 */
export async function loadPasts(
  tx: Tx,
  stations: readonly PastStation[],
  nowMs: number,
  playlists: ReadonlyMap<number, readonly Playlist[]>
): Promise<Map<number, CachedPast>> {
  const ids = stations.map(({ id }) => id)
  const songs = await readLastSongStarts(tx, ids)
  const from = stations.map(station =>
    Math.min(nowMs - lookBackMs(station, playlists.get(station.id) ?? []), songs.get(station.id) ?? Infinity)
  )
  const [plays, last] = await Promise.all([
    readPlays(tx, ids, { startsAtMs: from }),
    readLastPlays(tx, ids, from)
  ])
  const pasts = new Map(ids.map(id => [id, emptyPast()]))
  for (const play of plays) pasts.get(play.stationId)?.plays.push(play)
  for (const [id, { plays: own }] of pasts) markProvisionalTracks(own, playlists.get(id) ?? [])
  for (const { stationId, playlistId, startsAtMs, visibleAfter } of last)
    pasts.get(stationId)?.older.set(playlistId, { startsAtMs, visibleAfter })
  return pasts
}

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
      order by h.station_id desc, h.${column} desc ${literalLimit(sql, playsAtMost)}
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
    select ${markColumnsFragment(sql)} from playlist_tracks t where t.id = h.track_id limit 1
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
const jinglesAtMost = 1_000

/** Reads when the last play that is not a jingle started, by station; omits those that have none. */
async function readLastSongStarts(
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
        order by station_id desc, started_at_ms desc ${literalLimit(sql, jinglesAtMost + 1)}
      ) newest
      where is_visible order by station_id desc, started_at_ms desc limit 1
    ) h`
  return new Map(rows.map(({ stationId, startsAtMs }) => [stationId, startsAtMs]))
}
