import type { PlaylistOption, Playlist } from '../../../model/autodj/library.ts'
import {
  buildTrackColumns,
  replaceTrackColumns,
  type TrackColumns,
  columnValueAt
} from '../../../model/autodj/track-columns.ts'
import { openEventLoopYield } from '../../../platform/runtime/time-slices.ts'
import { literalLimit } from '../batches.ts'
import type { Sql, Tx } from '../sql.ts'
import {
  mediaColumnsFragment,
  type PackedTracks,
  packedTracksFragment,
  trackColumnsFragment,
  tracksPerPart,
  unpackTracks
} from './packed-tracks.ts'

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
async function readPlaylistSettings(
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
async function readTracks(
  sql: Sql | Tx,
  stationIds: readonly number[],
  selection: PlaylistSelection = {}
): Promise<Map<number, TrackColumns>> {
  // Joined station by station in a lateral query: otherwise Postgres looks up the media of each track. In parts,
  // because a row of 50,000 tracks would be parsed in one go.
  const lists = await sql<(PackedTracks & { playlistId: number })[]>`
    select list.* from unnest(${[...stationIds]}::bigint[]) as s (id) cross join lateral (
      with t as materialized (
        select ${trackColumnsFragment(sql)}, p.source = 'remote_url' as is_remote, (
            row_number() over (partition by t.playlist_id order by t.position, t.id) - 1
          ) / ${tracksPerPart}::int as part
        from playlists p join playlist_entries t on t.playlist_id = p.id
        where p.station_id = s.id and ${activeIn(sql, selection)}
      ), m as materialized (
        select ${mediaColumnsFragment(sql)}, remote_playlist_id is not null as is_remote from media m where station_id = s.id
      )
      select t.playlist_id as "playlistId", ${packedTracksFragment(sql)}
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
  const tracks = new Map<number, TrackColumns>()
  const pause = openEventLoopYield(unpackSliceMs)
  for (const [id, each] of parts) tracks.set(id, await unpackTracks(each, pause))
  return tracks
}

const unpackSliceMs = 4

const noTracks = buildTrackColumns([])

const options: readonly PlaylistOption[] = ['interrupt', 'single_track', 'merge', 'prioritize', 'loop_once']
const optionNames: ReadonlySet<string> = new Set(options)
const isOption = (name: string): name is PlaylistOption => optionNames.has(name)

/** The ids of what changed in a library. */
interface LibraryChanges {
  readonly playlists: ReadonlySet<number>
  /** Whether past plays changed. */
  readonly plays: boolean
  readonly tracks: ReadonlySet<number>
  readonly media: ReadonlySet<number>
}

/** With more changes, reading the whole library is faster. */
const changesAtMost = 2_000

/**
 * Reads what changed in a library after a version. Returns null if the whole library must be read: the list
 * is not complete, too long, or the version is not one of this database (a backup was restored).
 */
export async function readLibraryChanges(
  tx: Tx,
  stationId: number,
  version: number
): Promise<LibraryChanges | null> {
  const rows = await tx<{ kind: keyof typeof kinds; id: number }[]>`
    select kind, changed_id as id from library_changes
    where station_id = ${stationId} and version > ${version}
      and exists (select from library_changes where station_id = ${stationId} and version = ${version})
    ${literalLimit(tx, changesAtMost + 1)}`
  if (rows.length === 0 || rows.length > changesAtMost) return null
  const changes = {
    playlists: new Set<number>(),
    plays: false,
    tracks: new Set<number>(),
    media: new Set<number>()
  }
  for (const { kind, id } of rows) {
    const name = kinds[kind]
    if (name === null) return null
    if (name === 'playlists' && id === noPlaylist) changes.plays = true
    else changes[name].add(id)
  }
  return changes
}

/** Listed as a changed playlist if past plays changed, because releases before 0.3.0 know no kind for them. */
const noPlaylist = 0
const kinds = { playlist: 'playlists', track: 'tracks', media: 'media', all: null } as const

/**
 * Reads what changed. Returns the playlists of the station; those without a change are the same objects. Of a changed
 * playlist whose tracks are known only the settings are read, since each track that changes is listed itself.
 */
export async function readChangedPlaylists(
  tx: Tx,
  stationId: number,
  playlists: readonly Playlist[],
  changes: LibraryChanges
): Promise<readonly Playlist[]> {
  const known = new Map(playlists.map(playlist => [playlist.id, playlist]))
  const only = [...changes.playlists]
  const settings = only.length > 0 ? await readPlaylistSettings(tx, [stationId], { only }) : []
  // Songs and entries of remote lists are different media.
  const hasKnownTracks = ({ id, source }: (typeof settings)[number]) =>
    known.has(id) && (known.get(id)?.source === 'songs') === (source === 'songs')
  const whole = new Set(settings.filter(each => !hasKnownTracks(each)).map(({ id }) => id))
  const [read, changed] = await Promise.all([
    whole.size > 0 ? readTracks(tx, [stationId], { only: [...whole] }) : new Map<number, TrackColumns>(),
    readChangedTracks(tx, stationId, changes, whole)
  ])
  const withSettings = settings.map(({ stationId: _station, ...each }) => ({
    ...each,
    tracks: (whole.has(each.id) ? read.get(each.id) : known.get(each.id)?.tracks) ?? noTracks
  }))
  return [...playlists.filter(({ id }) => !changes.playlists.has(id)), ...withSettings]
    .map(each =>
      whole.has(each.id) ? each : replaceChanged(each, changes, changed.get(each.id) ?? noTracks)
    )
    .toSorted((a, b) => a.id - b.id)
}

function replaceChanged(playlist: Playlist, changes: LibraryChanges, fresh: Playlist['tracks']): Playlist {
  const { ids, media } = playlist.tracks
  const isReplaced = (index: number) =>
    changes.tracks.has(columnValueAt(ids, index)) || changes.media.has(columnValueAt(media, index))
  if (fresh.ids.length === 0 && !ids.some((_, index) => isReplaced(index))) return playlist
  return { ...playlist, tracks: replaceTrackColumns(playlist.tracks, isReplaced, fresh) }
}

/** Reads changed tracks and those with changed media, by playlist. Playlists that are read as a whole are left out. */
async function readChangedTracks(
  tx: Tx,
  stationId: number,
  { tracks, media }: LibraryChanges,
  whole: ReadonlySet<number>
) {
  if (tracks.size + media.size === 0) return new Map<number, Playlist['tracks']>()
  // Joined row by row: otherwise Postgres might go through all tracks.
  const lists = await tx<(PackedTracks & { playlistId: number })[]>`
    select t.playlist_id as "playlistId", ${packedTracksFragment(tx)}
    from (
      select unnest(${[...tracks]}::bigint[]) as id
      union
      select other.id from unnest(${[...media]}::bigint[]) as changed (id)
      cross join lateral (
        select id from playlist_tracks where media_id = changed.id or repeated_media_id = changed.id offset 0
      ) other
    ) changed
    cross join lateral (
      select ${trackColumnsFragment(tx)}, p.source = 'remote_url' as is_remote
      from playlist_entries t join playlists p on p.id = t.playlist_id
      where t.id = changed.id and p.station_id = ${stationId} and p.is_enabled and p.type <> 'custom'
        and p.id <> all(${[...whole]}::bigint[])
      limit 1
    ) t
    cross join lateral (
      select ${mediaColumnsFragment(tx)} from media m where id = t.media_id and station_id = ${stationId}
        and (remote_playlist_id is not null) = t.is_remote
      limit 1
    ) m
    group by t.playlist_id`
  const pause = openEventLoopYield(unpackSliceMs)
  return new Map(
    await Promise.all(lists.map(async list => [list.playlistId, await unpackTracks([list], pause)] as const))
  )
}

/**
 * Raises the version of a library for a change that is not listed, so that cached copies are read again as a
 * whole.
 */
export async function raiseLibraryVersion(tx: Tx, stationId: number): Promise<void> {
  await tx`select count_library_change(${stationId})`
}

/**
 * Lists a past play that was removed, or inserted before others, and its track (null: none), so that processes
 * read the past plays and the track again.
 */
export async function recordPastPlayChange(tx: Tx, stationId: number, trackId: number | null): Promise<void> {
  await tx`select record_play_change(${stationId}, ${trackId})`
}
