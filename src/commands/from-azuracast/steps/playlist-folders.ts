import { parseLibraryPath } from '../../../model/songs/library-path.ts'
import { assignFoldersToPlaylistId, isInFolderFragment } from '../../../stores/db/library/playlist-folders.ts'
import { type AzuracastMigration, migrateSourceTable } from '../migration.ts'
import type { RowReader, SourceRow } from '../source.ts'

export const playlistFolderTable = 'station_playlist_folders'

/** The path of a folder; empty for the top folder, which contains no songs for AzuraCast. */
export const playlistFolderPath = (row: SourceRow, read: RowReader) =>
  (read.text(row, 'path') ?? '').replace(/^\/+|\/+$/g, '')

interface MappedFolder {
  readonly playlistId: number
  readonly path: string
}

/** Takes the folders of playlists, after their songs. Songs that AzuraCast has not added yet are. */
export async function migratePlaylistFolders(migration: AzuracastMigration): Promise<void> {
  const { ids, report, source, stations } = migration
  const hasFolderIds = source.tables.get('station_playlist_media')?.columns.includes('folder_id')
  await migrateSourceTable<MappedFolder>(migration, {
    table: playlistFolderTable,
    title: 'folders of playlists',
    convert(row, read) {
      const station = stations.get(read.number(row, 'station_id'))
      const playlistId = ids.find('playlist', read.number(row, 'playlist_id'))
      if (!station || playlistId === null) return null
      const path = playlistFolderPath(row, read)
      const problem = path === '' ? 'the top folder' : 'problem' in parseLibraryPath(path, null) ? path : null
      if (problem !== null) {
        report.leave(
          'folders of playlists that are not usable',
          `${station.name}: playlist ${playlistId}, ${problem}`
        )
        return null
      }
      return { playlistId, path }
    },
    async write(tx, folders) {
      for (const playlistId of new Set(folders.map(folder => folder.playlistId))) {
        const own = folders.filter(folder => folder.playlistId === playlistId)
        const [playlist] = await tx<{ stationId: number }[]>`
          select station_id as "stationId" from playlists where id = ${playlistId}`
        if (!playlist) continue
        const paths = own.map(({ path }) => path)
        // Until 2025 AzuraCast did not store which songs are in a playlist because of a folder; its upgrade assumes
        // all.
        if (!hasFolderIds)
          await tx`
            update playlist_tracks t set is_from_folder = true
            from media m, unnest(${paths}::text[]) as f (path)
            where t.playlist_id = ${playlistId} and m.id = t.media_id and ${isInFolderFragment(tx, playlist.stationId)}
              and not exists (
                select from playlist_tracks r where r.playlist_id = t.playlist_id and r.repeated_media_id = t.media_id)`
        await assignFoldersToPlaylistId(tx, { stationId: playlist.stationId, playlistId }, paths)
      }
    }
  })
}
