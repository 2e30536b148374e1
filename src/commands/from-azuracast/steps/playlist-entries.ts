import type { Tx } from '../../../stores/db/sql.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import { type AzuracastMigration, readSourceRows, migrateSourceTable } from '../migration.ts'
import type { RowReader, SourceRow } from '../source.ts'
import { readUsableCount, readUsableTime } from '../usable-values.ts'
import { playlistFolderPath, playlistFolderTable } from './playlist-folders.ts'

interface MappedTrack {
  readonly sourceId: number
  readonly playlistId: number
  readonly mediaId: number
  readonly position: number
  readonly isQueued: boolean
  readonly isFromFolder: boolean
  readonly isRepeat: boolean
  readonly lastPlayedMs: number | null
}

/** Takes the entries of playlists in their order, with when they were last played. */
export async function migratePlaylistEntries(migration: AzuracastMigration): Promise<void> {
  const { ids, stations } = migration
  const stationOf = new Map<number, number>()
  for await (const { row, read } of readSourceRows(migration, 'station_playlists')) {
    const station = stations.get(read.number(row, 'station_id'))
    if (station) stationOf.set(read.number(row, 'id'), station.id)
  }
  const folderIds = new Set<number>()
  for await (const { row, read } of readSourceRows(migration, playlistFolderTable))
    if (playlistFolderPath(row, read) !== '') folderIds.add(read.number(row, 'id'))
  // A folder adds a song that is not in the playlist otherwise, once; AzuraCast may have both.
  const isFolderRow = (row: SourceRow, read: RowReader) => folderIds.has(read.number(row, 'folder_id'))
  const added = new Set<string>()
  if (folderIds.size > 0)
    for await (const { row, read } of readSourceRows(migration, 'station_playlist_media'))
      if (!isFolderRow(row, read)) added.add(entryKey(row, read))
  const seen = new Set<string>()
  await migrateSourceTable<MappedTrack>(migration, {
    table: 'station_playlist_media',
    kind: 'track',
    title: 'songs in playlists',
    convert(row, read, sourceId) {
      const playlistSource = read.number(row, 'playlist_id')
      const stationId = stationOf.get(playlistSource)
      const playlistId = ids.find('playlist', playlistSource)
      const mediaId = ids.find('media', read.number(row, 'media_id'), stationId)
      if (stationId === undefined || playlistId === null || mediaId === null) return null
      const key = entryKey(row, read)
      const isFromFolder = isFolderRow(row, read)
      const isRepeat = seen.has(key)
      if (isFromFolder && (isRepeat || added.has(key))) {
        migration.report.leave(
          'songs of folders that a playlist has already',
          `playlist ${playlistSource}, song ${mediaId}`
        )
        return null
      }
      seen.add(key)
      const onProblem = (problem: string) =>
        migration.report.leave(
          'values of songs in playlists that are not usable',
          `playlist ${playlistSource}, song ${mediaId}: ${problem}`
        )
      return {
        sourceId,
        playlistId,
        mediaId,
        position: readUsableCount(read, row, 'weight', onProblem, -2_147_483_648),
        isQueued: read.flag(row, 'is_queued', true),
        isFromFolder,
        isRepeat,
        lastPlayedMs: readUsableTime(read, row, 'last_played', onProblem)
      }
    },
    async write(tx, tracks) {
      const newIds = await ids.assign(
        tx,
        'track',
        tracks.map(({ sourceId }) => ({ id: sourceId }))
      )
      const rows = tracks.map(
        ({ playlistId, mediaId, position, isQueued, isFromFolder, isRepeat, lastPlayedMs }, index) => ({
          id: newIds[index],
          playlist_id: playlistId,
          media_id: isRepeat ? null : mediaId,
          repeated_media_id: isRepeat ? mediaId : null,
          position,
          // AzuraCast removes songs from its queue of a pass when they were played.
          last_pass: isQueued ? 0 : 1,
          last_aired_ms: lastPlayedMs,
          is_from_folder: isFromFolder
        })
      )
      await insertEntries(tx, rows)
    }
  })
}

const entryKey = (row: SourceRow, read: RowReader) =>
  `${read.number(row, 'playlist_id')} ${read.number(row, 'media_id')}`

/** Inserts entries, those that repeat a song after the first ones. */
async function insertEntries(tx: Tx, rows: readonly RowToInsert[]): Promise<void> {
  const firsts = rows.filter(row => row['media_id'] !== null)
  await insertRows(tx, 'playlist_tracks', firsts, { playlist_id: 'playlists', media_id: 'media' })
  const repeats = rows.filter(row => row['repeated_media_id'] !== null)
  if (repeats.length === 0) return
  const column = (name: string) => repeats.map(row => Number(row[name]))
  const known = await tx<{ id: number }[]>`
    select x.id from unnest(${column('id')}::bigint[], ${column('playlist_id')}::bigint[],
      ${column('repeated_media_id')}::bigint[]) as x (id, playlist_id, media_id)
    cross join lateral (
      select from playlist_tracks where playlist_id = x.playlist_id and media_id = x.media_id for key share
    ) t`
  const ids = new Set(known.map(({ id }) => id))
  // A song that was removed here since an earlier run stays removed.
  await insertRows(
    tx,
    'playlist_tracks',
    repeats.filter(row => ids.has(Number(row['id'])))
  )
}
