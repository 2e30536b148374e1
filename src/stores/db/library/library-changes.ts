import type { Playlist } from '../../../model/autodj/library.ts'
import { replaceTracks, type Tracks, valueAt } from '../../../model/autodj/tracks.ts'
import { openPauses } from '../../../platform/runtime/time-slices.ts'
import type { Tx } from '../sql.ts'
import { noTracks, readPlaylistSettings, readTracks } from './library.ts'
import { mediaColumns, type PackedTracks, packedTracks, trackColumns, unpackTracks } from './tracks.ts'

const sliceMs = 4

/** The ids of what changed in a library. */
export interface LibraryChanges {
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
    ${tx.unsafe(`limit ${changesAtMost + 1}`)}`
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
    whole.size > 0 ? readTracks(tx, [stationId], { only: [...whole] }) : new Map<number, Tracks>(),
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
    changes.tracks.has(valueAt(ids, index)) || changes.media.has(valueAt(media, index))
  if (fresh.ids.length === 0 && !ids.some((_, index) => isReplaced(index))) return playlist
  return { ...playlist, tracks: replaceTracks(playlist.tracks, isReplaced, fresh) }
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
    select t.playlist_id as "playlistId", ${packedTracks(tx)}
    from (
      select unnest(${[...tracks]}::bigint[]) as id
      union
      select other.id from unnest(${[...media]}::bigint[]) as changed (id)
      cross join lateral (
        select id from playlist_tracks where media_id = changed.id or repeated_media_id = changed.id offset 0
      ) other
    ) changed
    cross join lateral (
      select ${trackColumns(tx)}, p.source = 'remote_url' as is_remote
      from playlist_entries t join playlists p on p.id = t.playlist_id
      where t.id = changed.id and p.station_id = ${stationId} and p.is_enabled and p.type <> 'custom'
        and p.id <> all(${[...whole]}::bigint[])
      limit 1
    ) t
    cross join lateral (
      select ${mediaColumns(tx)} from media m where id = t.media_id and station_id = ${stationId}
        and (remote_playlist_id is not null) = t.is_remote
      limit 1
    ) m
    group by t.playlist_id`
  const pause = openPauses(sliceMs)
  return new Map(
    await Promise.all(lists.map(async list => [list.playlistId, await unpackTracks([list], pause)] as const))
  )
}
