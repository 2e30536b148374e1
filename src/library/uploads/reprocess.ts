import { basename, join } from 'node:path'

import { changeStation } from '../../engine/change-station.ts'
import { updateCurrentPlayTexts } from '../../engine/queue/media-changes.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Tx } from '../../stores/db/sql.ts'
import type { AudioFile } from '../media/audio-file.ts'
import { readAudioFileInThread } from '../media/read-in-thread.ts'
import { UnusableFileError } from '../media/unusable-file.ts'
import { findStoredFile } from '../storage/file-store.ts'
import { writeSongContent } from './finish.ts'
import type { MediaStore } from './media-store.ts'
import type { UploadServices } from './services.ts'

/** Of files that are read over the network. */
const windowBytes = 1024 * 1024

interface StoredSong {
  readonly stationId: number
  readonly media: MediaStore
  readonly song: { readonly id: number; readonly path: string }
  /** The path of its file in the media storage. */
  readonly file: string
  readonly replacesCorrections: boolean
}

/**
 * Reads tags, length, cue points and cover of a stored file again, and writes them to its song. Texts and cover replace
 * those that a person set only with `replacesCorrections`. Returns a sentence about a cover that was left out, or an
 * empty text. The song keeps its cover if the file has none. Throws 404 if there is no such file, and 409 if it is no
 * longer usable.
 */
export async function reprocessSong(
  services: UploadServices,
  { stationId, media, song: { id, path }, file, replacesCorrections }: StoredSong,
  recordAudit: (tx: Tx) => Promise<void>
): Promise<string> {
  const stored = await findStoredFile(media.files, file)
  if (stored === null) throw new ApiError('not-found', 'The file is not in the media storage.')
  const { cover, coverNotice, ...song } = await read(media, stored.path, stored.sizeBytes)
  await changeStation(services, stationId, async change => {
    const { tx } = change
    const [found] = await tx<{ coverHash: string | null }[]>`
      select artwork_hash as "coverHash" from media
      where id = ${id} and station_id = ${stationId} and path = ${path} for update`
    if (!found) throw new ApiError('not-found')
    await writeSongContent(change, path, {
      stored: { sizeBytes: stored.sizeBytes, modifiedMs: stored.modifiedMs },
      song,
      cover,
      otherCoverHash: found.coverHash,
      replacesCorrections
    })
    await updateCurrentPlayTexts(tx, stationId, id)
    await recordAudit(tx)
    await refillQueue(change)
  })
  return coverNotice
}

async function read({ files, realFolder }: MediaStore, file: string, size: number): Promise<AudioFile> {
  const name = basename(file)
  try {
    if (realFolder !== null)
      return await readAudioFileInThread({ path: join(realFolder, file), realRoots: [realFolder], name })
    // Its parsers take 15 MB, which a server should not need for itself.
    const { readAudioSource } = await import('../media/audio-file.ts')
    return await readAudioSource({ size, windowBytes, read: readPiece }, name)
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error
    throw new ApiError('conflict', `The file cannot be used: ${error.message}.`)
  }

  async function readPiece(window: Uint8Array, offset: number): Promise<number> {
    const piece = await files.read(file, offset, Math.min(window.length, size - offset))
    window.set(piece)
    return piece.length
  }
}
