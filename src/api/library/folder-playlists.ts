import { changeStation, type StationChange } from '../../engine/change-station.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import { lockImports } from '../../stores/db/library/media-rows.ts'
import {
  syncFolderSongs,
  assignFoldersToPlaylistId,
  isInFolderFragment,
  maxFoldersOfPlaylist
} from '../../stores/db/library/playlist-folders.ts'
import { recordAudit, changedWithoutValues } from '../core/audit.ts'
import type { FileAction } from './file-selection.ts'
import { folderPrefix } from './media-paths.ts'

/*
 * Changes of the playlists to which folders are assigned (`src/stores/db/library/playlist-folders.ts`).
 */

/** Assigns folders to a playlist. Throws 400 if it has too many then. The imports of the station must be locked. */
export async function assignFoldersToPlaylist(
  { tx, station }: StationChange,
  playlistId: number,
  paths: readonly string[],
  field: string
): Promise<void> {
  await assignFoldersToPlaylistId(tx, { stationId: station.id, playlistId }, paths)
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count from playlist_folders where playlist_id = ${playlistId}`
  if ((row?.count ?? 0) > maxFoldersOfPlaylist)
    refuseField(field, 'too_many', `must leave the playlist with at most ${maxFoldersOfPlaylist} folders.`)
}

/** Assigns a folder to these playlists and to no others. */
export async function setFolderPlaylists(
  action: FileAction,
  folder: string,
  playlistIds: readonly number[]
): Promise<void> {
  const { request, stationId } = action
  await changeFolders(action, async change => {
    const { tx } = change
    const removed = await tx<{ id: number }[]>`
      delete from playlist_folders f using playlists p
      where p.id = f.playlist_id and p.station_id = ${stationId} and name_key(f.path) = name_key(${folder})
        and p.id <> all(${[...playlistIds]}::bigint[])
      returning p.id`
    for (const { id } of removed) await syncFolderSongs(tx, { stationId, playlistId: id })
    for (const id of playlistIds) await assignFoldersToPlaylist(change, id, [folder], 'playlists')
    const ids = [...removed.map(playlist => playlist.id), ...playlistIds]
    const playlists = await tx<{ id: number; name: string }[]>`
      select id, name from playlists where id = any(${ids}::bigint[]) order by id`
    for (const { id, name } of playlists)
      await recordAudit(tx, request, {
        record: 'Playlist',
        id,
        name,
        changes: changedWithoutValues('folders')
      })
    await refillQueue(change)
  })
}

/**
 * Assigns the target of a folder that is about to be moved to the same playlists, also for the folders in it, so that
 * its songs stay in these.
 */
export async function copyFolderAssignments(
  action: FileAction,
  folder: string,
  target: string
): Promise<void> {
  const { stationId } = action
  const prefix = folderPrefix(folder)
  await changeFolders(action, async change => {
    const { tx } = change
    const copies = await tx<{ id: number; path: string }[]>`
      select p.id, ${target} || substr(name_key(f.path), length(name_key(${prefix}::text))) as path
      from playlists p join playlist_folders f on f.playlist_id = p.id
      where p.station_id = ${stationId} and starts_with(name_key(f.path) || '/', name_key(${prefix})) order by p.id, f.path`
    for (const { id, path } of copies)
      await assignFoldersToPlaylistId(tx, { stationId, playlistId: id }, [path])
    if (copies.length > 0) await refillQueue(change)
  })
}

/** Ends the assignments of these folders, and of the folders in them, that have no songs any more. */
export async function unassignEmptyFolders(action: FileAction, folders: readonly string[]): Promise<void> {
  const { stationId } = action
  const prefixes = folders.map(folderPrefix)
  await changeFolders(action, async ({ tx }) => {
    await tx`
      delete from playlist_folders f using playlists p
      where p.id = f.playlist_id and p.station_id = ${stationId}
        and exists (select from unnest(${prefixes}::text[]) as x (prefix)
          where starts_with(name_key(f.path) || '/', name_key(x.prefix)))
        and not exists (
          select from media m where m.station_id = ${stationId} and m.remote_playlist_id is null
            and ${isInFolderFragment(tx, stationId)})`
  })
}

/** Changes folders of playlists while no songs are written: imports do not lock the station. */
async function changeFolders(
  { services, stationId }: FileAction,
  change: (change: StationChange) => Promise<void>
): Promise<void> {
  await changeStation(services, stationId, async stationChange => {
    await lockImports(stationChange.tx, stationId)
    await change(stationChange)
  })
}
