import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { changeStation, type StationChange } from '../../engine/change-station.ts'
import { markPartsShowingMedia, updateQueuedDurations } from '../../engine/queue/media-changes.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import { ApiError, errorCodeOf, fieldError, Overloaded } from '../../platform/runtime/errors.ts'
import { type FairSemaphore, openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import {
  type Cover,
  findMediaIdsByPaths,
  storeCovers,
  upsertMedia
} from '../../stores/db/library/media-rows.ts'
import { appendMissingEntries, countOccurrences } from '../../stores/db/library/playlist-entries.ts'
import { resolveLibraryPath, findStoredTarget } from '../../stores/db/library/stored-names.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import type { AudioFile } from '../media/audio-file.ts'
import { readAudioFileInThread } from '../media/read-in-thread.ts'
import { UnusableFileError } from '../media/unusable-file.ts'
import { findStoredFile, type StoredFile } from '../storage/file-store.ts'
import { toStoredPath } from '../storage/media-folder.ts'
import { storeUploadRefusal } from './end-upload.ts'
import {
  isFileMoving,
  lockFilePaths,
  type MediaStore,
  openMediaStore,
  createQuotaError,
  statWithin,
  toFileApiError
} from './media-store.ts'
import type { UploadServices } from './services.ts'
import {
  uploadFilePath,
  readReceivedBytes,
  removeUploadFile,
  throwUploadFailure,
  type Upload,
  ensureUploadsFolder
} from './uploads.ts'

/** Files that are stored at once. */
const limits = { total: 2, perOwner: 2, waitingPerOwner: 500, waiting: 1_000, waitMs: 60_000 }
const semaphores = new WeakMap<Sql, FairSemaphore>()
const retryAfterSeconds = 5

/** How long an upload waits for another one of the same path, or until a file there has been moved. */
const samePathWaitMs = 10_000
const samePathPauseMs = 100

/** What the audit log says of a file that was stored. */
interface StoredFileEntry {
  readonly record: 'StationFile'
  readonly id: number
  readonly name: string
  readonly changes: { readonly file: 'changed' }
}

interface FinishOptions {
  /** Runs in the transaction that adds the file to the library. */
  readonly recordAudit?: ((tx: Tx, entry: StoredFileEntry) => Promise<void>) | undefined
}

/** A file that was stored. */
export interface FinishedUpload {
  readonly mediaId: number
  /** A sentence about what was left out of the file; empty if nothing was, or if it was stored before. */
  readonly notice: string
}

/**
 * Stores a file that was received completely, and adds it to the library and its playlists. Returns its media, also if
 * it was stored before. `upload` must be leased (`withUpload`).
 *
 * The content is kept until the transaction is committed, so after a crash the same steps end with the same result. A
 * file that is refused is removed, and its error is kept. After an error that may pass (503) it can be tried again.
 */
export async function finishUpload(
  services: UploadServices,
  upload: Upload,
  { recordAudit }: FinishOptions = {}
): Promise<FinishedUpload> {
  if (upload.mediaId !== null && upload.state === 'done') return { mediaId: upload.mediaId, notice: '' }
  throwUploadFailure(upload)
  const permit = await semaphoreOf(services.sql).acquire(String(upload.stationId), 0).permit
  if (typeof permit === 'string')
    throw new Overloaded(retryAfterSeconds, 'Too many files are being stored: try again later.')
  try {
    return await store(services, upload, recordAudit)
  } catch (error) {
    const shown = toFileApiError(error, 'path', 'file')
    if (shown instanceof ApiError && !(shown instanceof Overloaded))
      await storeUploadRefusal(services, upload, shown)
    throw shown
  } finally {
    permit.release()
  }
}

function semaphoreOf(sql: Sql): FairSemaphore {
  const semaphore = semaphores.get(sql) ?? openFairSemaphore(limits)
  semaphores.set(sql, semaphore)
  return semaphore
}

async function store(
  services: UploadServices,
  upload: Upload,
  recordAudit: FinishOptions['recordAudit']
): Promise<FinishedUpload> {
  const { config, log } = services
  const { id } = upload
  const content = await uploadFilePath(config, id)
  const { cover, coverNotice, ...song } = await readReceivedContent(services, upload, content)
  const media = await openMediaStore(services, upload.stationId)
  const path = upload.state === 'storing' ? upload.path : await reserve(services, upload, media)
  const isReplaced = (await media.files.stat(path)) !== null
  try {
    const stored = await media.files.put(content, path, id)
    const mediaId = await commit(services, upload, { media, target: path, stored, song, cover, recordAudit })
    await removeUploadFile(config, id).catch((error: unknown) =>
      log.warn({ err: error, upload: id }, 'content of an upload not removed')
    )
    return { mediaId, notice: coverNotice }
  } catch (error) {
    const shown = toFileApiError(error)
    const isFinal = shown instanceof ApiError && !(shown instanceof Overloaded)
    if (isFinal && !isReplaced)
      await media.files
        .remove(path)
        .catch((failure: unknown) => log.warn({ err: failure, upload: id }, 'refused file not removed'))
    throw error
  }
}

async function readReceivedContent(
  { config }: UploadServices,
  { id, path }: Upload,
  content: string
): Promise<AudioFile> {
  try {
    return await readAudioFileInThread({
      path: content,
      realRoots: [await ensureUploadsFolder(config)],
      name: basename(path)
    })
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error
    if ((await readReceivedBytes(config, id)) === 0) return refuseFile('it is empty')
    return refuseFile(error.message)
  }
}

function refuseFile(reason: string): never {
  throw ApiError.ofFields([fieldError('file', 'invalid_format', `cannot be used: ${reason}.`)])
}

/**
 * Counts the size as used, without that of the file that is replaced, and takes the path. A smaller file frees nothing
 * until the storage is measured: the old one is still there. Throws 507, 409 if another upload holds the path, 404 if
 * it was ended. Returns the path at which the file is stored: a song or file of this name keeps its own.
 */
async function reserve({ sql, config }: UploadServices, upload: Upload, media: MediaStore): Promise<string> {
  const { id, lease, stationId, playlistIds } = upload
  const sizeBytes = await readReceivedBytes(config, id)
  const begin = (path: string) =>
    sql.begin(async tx => {
      await lockFilePaths(tx, media, [path])
      if (await isFileMoving(tx, media, path)) return false
      const others = await tx`
        select from uploads where station_id = ${stationId} and state = 'storing' and id <> ${id}
          and name_key(path) = name_key(${path})`
      if (others.length > 0) return false
      const { count } = await tx`
        update uploads set state = 'storing', size_bytes = ${sizeBytes}, path = ${path},
          playlist_ids = ${[...playlistIds]}::bigint[]
        where id = ${id} and lease = ${lease}`
      if (count === 0) throw new ApiError('not-found')
      if (media.locationId === null) return true
      // Nobody else can store a file at the path meanwhile.
      const replacedBytes = await statWithin(media, path)
      const addedBytes = Math.max(0, sizeBytes - replacedBytes)
      const fits = await tx`
        update storage_locations set used_bytes = used_bytes + ${addedBytes},
          measure_at = least(measure_at, now() + interval '1 minute')
        where id = ${media.locationId}
          and (storage_quota_bytes = 0 or used_bytes + ${sizeBytes - replacedBytes} <= storage_quota_bytes)`
      if (fits.count === 0) throw createQuotaError()
      return true
    })
  const endMs = performance.now() + samePathWaitMs
  for (;;) {
    const wanted = await chooseTarget(sql, upload, media)
    const path = (await findStoredFile(media.files, wanted))?.path ?? wanted
    const isReserved = await begin(path).catch((error: unknown) => {
      if (errorCodeOf(error) !== '23505') throw error
      return false
    })
    if (isReserved) return path
    if (performance.now() > endMs)
      throw new Overloaded(
        retryAfterSeconds,
        'Another file of this path is being stored or moved: try again later.'
      )
    await sleep(samePathPauseMs)
  }
}

interface StoredUpload extends SongContent, FinishOptions {
  readonly media: MediaStore
  /** Its path in the media storage. */
  readonly target: string
}

async function commit(
  services: UploadServices,
  upload: Upload,
  { media, target, stored, song, cover, recordAudit }: StoredUpload
): Promise<number> {
  const { id, lease, stationId, playlistIds } = upload
  return changeStation(services, stationId, async change => {
    const { tx } = change
    const path = await resolveLibraryPath(tx, stationId, target, media.folder)
    const [held] = await tx`
      select from uploads where id = ${id} and lease = ${lease} and state = 'storing' for update`
    if (!held) throw new ApiError('not-found')
    const { mediaId, isNew, hasJoined } = await writeSongContent(change, path, { song, stored, cover })
    const playlists = await tx<{ id: number }[]>`
      select id from playlists where station_id = ${stationId} and id = any(${[...playlistIds]}::bigint[])
        and source = 'songs' order by id`
    for (const playlist of playlists) await appendMissingEntries(tx, playlist.id, countOccurrences([mediaId]))
    await tx`update uploads set state = 'done', media_id = ${mediaId}, client_key = null where id = ${id}`
    const changes = { file: 'changed' } as const
    await recordAudit?.(tx, { record: 'StationFile', id: mediaId, name: upload.path, changes })
    if (!isNew || hasJoined || playlists.length > 0) await refillQueue(change)
    return mediaId
  })
}

/** Where a file of this name is stored: where its song, or as much of its folder as there is, has it already. */
async function chooseTarget(
  sql: Sql,
  { stationId, path }: Pick<Upload, 'stationId' | 'path'>,
  { folder }: MediaStore
): Promise<string> {
  const known = await resolveLibraryPath(sql, stationId, path, folder)
  return known === path ? findStoredTarget(sql, stationId, path) : (toStoredPath(known, folder) ?? path)
}

/** What was read of a stored file. */
export interface SongContent {
  readonly stored: StoredFile
  readonly song: Omit<AudioFile, 'cover' | 'coverNotice'>
  readonly cover: Cover | null
  /** The cover of a song whose file has none. */
  readonly otherCoverHash?: string | null
  /** Whether the tags replace what a person set; false by default. */
  readonly replacesCorrections?: boolean
}

/**
 * Writes the song of a file, and what shows it; the caller refills the queue. What a person set is kept. Returns the id
 * of the media, and whether it is new and was added to playlists of its folder.
 */
export async function writeSongContent(
  change: StationChange,
  path: string,
  { stored, song, cover, otherCoverHash = null, replacesCorrections = false }: SongContent
): Promise<{ readonly mediaId: number; readonly isNew: boolean; readonly hasJoined: boolean }> {
  const { tx, station } = change
  const known = (await findMediaIdsByPaths(tx, station.id, [path])).get(path)
  if (cover) await storeCovers(tx, [cover])
  const row = { ...song, path, ...stored, coverHash: cover?.hash ?? otherCoverHash }
  const { joined } = await upsertMedia(tx, station.id, [row], { replacesCorrections })
  const mediaId = (await findMediaIdsByPaths(tx, station.id, [path])).get(path)
  if (mediaId === undefined) throw new Error('the media was not stored')
  if (known !== undefined) {
    await updateQueuedDurations(tx, station.id, mediaId)
    await markPartsShowingMedia(change, mediaId)
  }
  return { mediaId, isNew: known === undefined, hasJoined: joined > 0 }
}
