import type { StationChange } from '../../engine/change-station.ts'
import { markPlaylistParts, updateQueuedDurations } from '../../engine/queue/media.ts'
import { type Artwork, findMediaIds, insertArtwork, upsertMedia } from '../../stores/db/library/media-rows.ts'
import type { AudioFile } from '../media/audio-file.ts'
import type { StoredFile } from '../storage/file-store.ts'

/** What was read of a stored file. */
export interface SongContent {
  readonly stored: StoredFile
  readonly song: Omit<AudioFile, 'cover' | 'coverNotice'>
  readonly cover: Artwork | null
  /** The cover of a song whose file has none. */
  readonly otherCoverHash?: string | null
  /** Whether the tags replace what a person set; false by default. */
  readonly replacesCorrections?: boolean
}

/**
 * Writes the song of a file, and what shows it; the caller refills the queue. What a person set is kept. Returns the id
 * of the media, and whether it is new and was added to playlists of its folder.
 */
export async function writeSong(
  change: StationChange,
  path: string,
  { stored, song, cover, otherCoverHash = null, replacesCorrections = false }: SongContent
): Promise<{ readonly mediaId: number; readonly isNew: boolean; readonly hasJoined: boolean }> {
  const { tx, station } = change
  const known = (await findMediaIds(tx, station.id, [path])).get(path)
  if (cover) await insertArtwork(tx, [cover])
  const row = { ...song, path, ...stored, coverHash: cover?.hash ?? otherCoverHash }
  const { joined } = await upsertMedia(tx, station.id, [row], { replacesCorrections })
  const mediaId = (await findMediaIds(tx, station.id, [path])).get(path)
  if (mediaId === undefined) throw new Error('the media was not stored')
  if (known !== undefined) {
    await updateQueuedDurations(tx, station.id, mediaId)
    await markPlaylistParts(change, mediaId)
  }
  return { mediaId, isNew: known === undefined, hasJoined: joined > 0 }
}
