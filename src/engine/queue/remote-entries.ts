import { artistKeys, titleKey } from '../../model/songs/duplicate-keys.ts'
import { generateUniqueId, computeAddressSongId, type ImportedSong } from '../../model/songs/song.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import type { StationChange } from '../change-station.ts'

/*
 * A remote playlist has entries instead of songs of the library: media of its own, identified by address,
 * with one track each. Songs that were in the playlist before stay and are used again when its source is the
 * library again: a track belongs to the source of its media.
 */

/** A playlist and its station. */
export type RemotePlaylist = { readonly id: number; readonly stationId: number }

/** The known data of an entry; its address is the path of the media. */
export type EntrySong = Pick<ImportedSong, 'path' | 'artist' | 'title' | 'durationMs'>

export interface RemoteEntry extends EntrySong {
  readonly trackId: number
  readonly mediaId: number
  readonly position: number
}

/** Reads the entries of a playlist, in order. */
export function readRemoteEntries(sql: Sql | Tx, playlistId: number): Promise<RemoteEntry[]> {
  return sql<RemoteEntry[]>`
    select t.id as "trackId", t.position, m.id as "mediaId", m.path, m.artist, m.title,
      m.duration_ms as "durationMs"
    from playlist_tracks t join media m on m.id = t.media_id
    where t.playlist_id = ${playlistId} and m.remote_playlist_id = ${playlistId} order by t.position, t.id`
}

/** Compares entries with songs of distinct addresses. A missing length counts as unchanged. */
export function compareRemoteEntries(entries: readonly RemoteEntry[], songs: readonly EntrySong[]) {
  const known = new Map(entries.map(entry => [entry.path, entry]))
  const added = []
  const moved = []
  const retold = []
  for (const [index, song] of songs.entries()) {
    const entry = known.get(song.path)
    const position = index + 1
    known.delete(song.path)
    if (!entry) added.push({ song, position })
    if (entry && entry.position !== position) moved.push({ trackId: entry.trackId, position })
    if (entry && isToldOtherwise(entry, song)) retold.push({ song, mediaId: entry.mediaId })
  }
  return { added, moved, retold, gone: [...known.values()] }
}

/** The difference between two lists of entries; positions count from 1. */
export type RemoteEntryChanges = ReturnType<typeof compareRemoteEntries>

const isToldOtherwise = (entry: RemoteEntry, { artist, title, durationMs }: EntrySong) =>
  entry.artist !== artist || entry.title !== title || (durationMs !== 0 && entry.durationMs !== durationMs)

export function hasNoEntryChanges({ added, moved, retold, gone }: RemoteEntryChanges): boolean {
  return added.length + moved.length + retold.length + gone.length === 0
}

const insertAtOnce = 1_000

/** Writes the media of new and changed entries, before `applyRemoteEntryChanges` and without the station lock. */
export async function writeRemoteMedia(
  tx: Tx,
  playlist: RemotePlaylist,
  { added, retold }: RemoteEntryChanges
) {
  const songs = [...added, ...retold].map(({ song }) => song)
  for (let start = 0; start < songs.length; start += insertAtOnce) {
    const rows = songs.slice(start, start + insertAtOnce).map(song => mediaRow(playlist, song))
    await tx`
      insert into media ${tx(rows)}
      on conflict (remote_playlist_id, song_id) where remote_playlist_id is not null do update set
        title_key = excluded.title_key, artist_keys = excluded.artist_keys,
        artist = excluded.artist, title = excluded.title,
        duration_ms = case when excluded.duration_ms = 0 then media.duration_ms else excluded.duration_ms end`
  }
}

function mediaRow({ id, stationId }: RemotePlaylist, { path, artist, title, durationMs }: EntrySong) {
  return {
    station_id: stationId,
    remote_playlist_id: id,
    unique_id: generateUniqueId(),
    path,
    song_id: computeAddressSongId(path),
    title_key: titleKey(title),
    artist_keys: artistKeys(artist),
    artist,
    title,
    duration_ms: durationMs
  }
}

/** Orders the tracks of a playlist like its entries; unsent rows of removed entries leave the queue. */
export async function applyRemoteEntryChanges(
  { tx, mark }: StationChange,
  playlist: RemotePlaylist,
  { added, moved, retold, gone }: RemoteEntryChanges
): Promise<void> {
  const goneIds = gone.map(({ trackId }) => trackId)
  const [withdrawn, , resized] = await Promise.all([
    tx`
      delete from queue where station_id = ${playlist.stationId} and track_id = any(${goneIds}::bigint[])
        and played_at_ms is null and skipped_at_ms is null and not is_sent`,
    tx`delete from playlist_tracks where id = any(${goneIds}::bigint[])`,
    tx`
      update queue q set duration_ms = case m.duration_ms when 0 then q.duration_ms else m.duration_ms end
      from media m
      where m.id = q.media_id and q.station_id = ${playlist.stationId}
        and q.media_id = any(${retold.map(({ mediaId }) => mediaId)}::bigint[])
        and q.played_at_ms is null and q.skipped_at_ms is null and not q.is_sent`,
    tx`
      insert into playlist_tracks (playlist_id, media_id, position)
      select ${playlist.id}::bigint, m.id, new.position
      from unnest(${added.map(({ song }) => computeAddressSongId(song.path))}::text[],
        ${added.map(({ position }) => position)}::int[]) as new (song_id, position)
      cross join lateral (
        -- The limit makes Postgres look up each row. It has no statistics of rows that were just written, and
        -- would compare each with each.
        select id from media where remote_playlist_id = ${playlist.id} and song_id = new.song_id limit 1
      ) m
      on conflict do nothing`,
    tx`
      update playlist_tracks t set position = other.position
      from unnest(${moved.map(({ trackId }) => trackId)}::bigint[],
        ${moved.map(({ position }) => position)}::int[]) as other (id, position)
      where t.id = other.id`,
    ...(gone.length > 0 ? [removeUnused(tx, tx`m.remote_playlist_id = ${playlist.id}`)] : [])
  ])
  if (withdrawn.count + resized.count > 0) mark(['queue'])
}

/** Replaces the entries of a playlist by songs of distinct addresses. Returns whether they changed. */
export async function replaceRemoteEntries(
  change: StationChange,
  playlist: RemotePlaylist,
  songs: readonly EntrySong[]
): Promise<boolean> {
  const { tx } = change
  const changes = compareRemoteEntries(await readRemoteEntries(tx, playlist.id), songs)
  if (hasNoEntryChanges(changes)) return false
  await writeRemoteMedia(tx, playlist, changes)
  await applyRemoteEntryChanges(change, playlist, changes)
  return true
}

/** Removes media of former entries that are no longer queued or playing. Returns how many. */
export async function removeUnusedEntryMedia(sql: Sql): Promise<number> {
  const { count } = await removeUnused(sql, sql`m.remote_playlist_id is not null`)
  return count
}

function removeUnused(sql: Sql | Tx, which: Fragment) {
  return sql`
    delete from media m where ${which}
      and not exists (select from playlist_tracks t where t.media_id = m.id)
      and not exists (select from queue q where q.media_id = m.id)
      and not exists (
        select from song_history h
        where h.station_id = m.station_id and h.ended_at_ms is null and h.media_id = m.id)`
}

/** The settings of a playlist that define its source. */
interface Source {
  readonly name: string
  readonly source: string
  readonly remote_url: string
  readonly remote_type: string
}

/** `songs` of the library, a `list` that the workers fetch, or a `single` stream without an end. */
type Kind = 'songs' | 'list' | 'single'

function kindOf({ source, remote_type: type }: Source): Kind {
  if (source !== 'remote_url') return 'songs'
  return type === 'playlist' ? 'list' : 'single'
}

/** Makes the entries of a playlist match its saved settings. Returns whether the entries changed. */
export async function syncRemoteEntries(
  change: StationChange,
  playlist: RemotePlaylist,
  before: Source | null,
  after: Source
): Promise<boolean> {
  const was = before ? kindOf(before) : 'songs'
  const is = kindOf(after)
  if (was === 'songs' && is === 'songs') return false
  if (was === 'list' && is === 'list' && before?.remote_url === after.remote_url) return false
  // Refuses the result of a fetch of the former address.
  if (was === 'list' || is === 'list')
    await change.tx`
      update playlists set fetched_at_ms = 0, fetch_at_ms = 0, fetch_problem = '', failing_since_ms = null
      where id = ${playlist.id}`
  const single = { path: after.remote_url, artist: '', title: after.name, durationMs: 0 }
  return replaceRemoteEntries(change, playlist, is === 'single' ? [single] : [])
}
