import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { openCache } from '../../platform/runtime/cache.ts'
import {
  ApiError,
  errorCodeOf,
  type ApiErrorKind,
  fieldError,
  TooManyRequests
} from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { readFreeBytes } from '../storage/local.ts'
import { openUsableMediaStore, createQuotaError, readReplacedFileSize } from './media-store.ts'
import type { UploadServices, UploadSettings } from './services.ts'

/** Why a file was refused. */
interface UploadFailure {
  readonly kind: ApiErrorKind
  readonly message: string
  readonly extraData: Record<string, unknown>
}

/** A file that is being received, or was. */
export interface Upload {
  readonly id: string
  readonly stationId: number
  /** Relative and normalized; empty until it is known. */
  readonly path: string
  /** 0 if the client has not declared it. */
  readonly sizeBytes: number
  readonly playlistIds: readonly number[]
  readonly state: 'receiving' | 'storing' | 'done' | 'failed'
  readonly mediaId: number | null
  readonly failure: UploadFailure | null
  /** Names the request that works on it. */
  readonly lease: string
  readonly expiresAtMs: number
}

/** The id of an upload. */
export const uploadIdPattern = /^[0-9a-f]{32}$/

const columns = (sql: Sql) => sql`id, station_id as "stationId", path, size_bytes as "sizeBytes",
  playlist_ids as "playlistIds", state, media_id as "mediaId", failure, lease,
  (extract(epoch from expires_at) * 1000)::bigint as "expiresAtMs"`

/** How long an upload waits for its next request, or for a storage that is broken. */
const expiry = '24 hours'
/** How long one of which nothing was received does: its client may never have got the address. */
const emptyExpiry = '15 minutes'
/** How long the result of a finished upload can be read. */
const resultExpiry = '1 hour'
const leaseSeconds = 30
const renewMs = 10_000
const maxUnfinishedPerStation = 1_000
/** The disk of DATA_DIR also has the database of small installations. */
const reservedBytes = 64n * 1024n * 1024n

const mebibyte = 1024 * 1024

/** The largest file that is taken. */
export const maxUploadBytes = ({ config }: Pick<UploadServices, 'config'>) => config.UPLOAD_MAX_MB * mebibyte

export interface NewUpload {
  readonly stationId: number
  readonly path: string
  /** Null if it is not known. */
  readonly sizeBytes: number | null
  readonly playlistIds: readonly number[]
  /** The name that the client gave it; a second upload with it is the same. */
  readonly clientKey?: string
  /** Whether the content comes with later requests, by the address that the client is sent. */
  readonly isResumable?: boolean
  /** What errors about the size name; `file` by default. */
  readonly sizeField?: string
}

/**
 * Begins an upload. Throws 413 for a file that is too large, 507 if it does not fit into the storage location, together
 * with those that are being received, or on the disk, 503 if the storage cannot be used, and 404 for a missing station.
 * `limitBytes` is the most that fits. The room of files that are replaced counts as free; `finishUpload` decides.
 */
export async function createUpload(services: UploadServices, given: NewUpload) {
  const { sql, config } = services
  const { stationId, path, playlistIds, clientKey = null, isResumable = false, sizeField = 'file' } = given
  const maxBytes = maxUploadBytes(services)
  const sizeBytes = given.sizeBytes ?? 0
  if (sizeBytes > maxBytes) throw createTooLargeError(services, sizeField)
  const { files, locationId } = await openUsableMediaStore(services, stationId)
  const folder = await ensureUploadsFolder(config)
  const freeBytes = await readFreeBytes(folder)
  if (freeBytes !== null && BigInt(sizeBytes) + reservedBytes > freeBytes)
    throw ApiError.ofFields(
      [fieldError(sizeField, 'storage_full', 'does not fit: the disk of the server is full.')],
      'storage-full'
    )
  const [room] = await sql<{ bytes: number | null; unfinished: number }[]>`
    select (select case when storage_quota_bytes > 0 then (storage_quota_bytes - used_bytes - (
        select coalesce(sum(greatest(0, u.size_bytes - coalesce(m.size_bytes, 0))), 0)
        from uploads u join stations s on s.id = u.station_id
        left join media m on m.station_id = u.station_id and m.path = u.path and m.remote_playlist_id is null
        where s.media_storage_location_id = l.id and u.state = 'receiving' and u.expires_at > now()
      ))::float8 end from storage_locations l where l.id = ${locationId}) as bytes,
      (select count(*) from uploads where station_id = ${stationId} and state = 'receiving')::integer as unfinished`
  if (room && room.unfinished >= maxUnfinishedPerStation)
    throw new TooManyRequests(60, `The station has ${maxUnfinishedPerStation} unfinished uploads.`)
  const freeInQuota = room?.bytes ?? maxBytes
  const replacedBytes = freeInQuota < maxBytes ? await readReplacedFileSize({ files }, path) : 0
  const limitBytes = Math.max(0, Math.min(maxBytes, freeInQuota + replacedBytes))
  if (sizeBytes > limitBytes || limitBytes === 0) throw createQuotaError(sizeField)
  const [upload] = await sql<Upload[]>`
    insert into uploads (id, station_id, path, size_bytes, playlist_ids, client_key, expires_at)
    select ${randomBytes(16).toString('hex')}, id, ${path}, ${sizeBytes}, ${[...playlistIds]}::bigint[], ${clientKey},
      now() + ${isResumable ? emptyExpiry : expiry}::interval
    from stations where id = ${stationId} and deleted_at is null for key share
    on conflict (station_id, client_key) do update set expires_at = excluded.expires_at
    returning ${columns(sql)}`
  if (!upload) throw new ApiError('not-found')
  return { upload, limitBytes }
}

/** The error of a file that is larger than any may be. */
export const createTooLargeError = ({ config }: Pick<UploadServices, 'config'>, field = 'file') =>
  ApiError.ofFields(
    [fieldError(field, 'too_large', `is too large: a file may have ${config.UPLOAD_MAX_MB} MiB.`)],
    'too-large'
  )

/** Finds an upload of a station. Throws 404. */
export async function getUpload(sql: Sql, stationId: number, id: string): Promise<Upload> {
  const [upload] = await sql<Upload[]>`
    select ${columns(sql)} from uploads where id = ${id} and station_id = ${stationId} and expires_at > now()`
  if (!upload) throw new ApiError('not-found')
  return upload
}

const maxWaitMs = 30_000
const pauseMs = 50

/**
 * Works on an upload, which no other request can meanwhile. Throws 404, and 423 if another request works on it: at once,
 * or with `waits` after half a minute. The lease of a process that was killed expires after half a minute.
 */
export async function withUpload<Result>(
  services: UploadServices,
  stationId: number,
  id: string,
  work: (upload: Upload) => Promise<Result>,
  { waits = false }: { readonly waits?: boolean } = {}
): Promise<Result> {
  const { sql, log } = services
  const lease = randomBytes(8).toString('hex')
  const until = sql`now() + make_interval(secs => ${leaseSeconds})`
  const endMs = performance.now() + (waits ? maxWaitMs : 0)
  let upload: Upload | undefined
  while (upload === undefined) {
    const [free] = await sql<Upload[]>`
      update uploads set lease = ${lease}, leased_until = ${until},
        expires_at = case state when 'receiving' then now() + ${expiry}::interval else expires_at end
      where id = ${id} and station_id = ${stationId} and leased_until < now() and expires_at > now()
      returning ${columns(sql)}`
    upload = free
    if (upload !== undefined) break
    await getUpload(sql, stationId, id)
    if (performance.now() > endMs)
      throw new ApiError('locked', 'Another request is sending this upload: try again.')
    await sleep(pauseMs)
  }
  const renew = () => {
    const renewed = sql`update uploads set leased_until = ${until} where id = ${id} and lease = ${lease}`
    renewed.catch((error: unknown) => log.warn({ err: error, upload: id }, 'lease of an upload not renewed'))
  }
  const timer = setInterval(renew, renewMs)
  try {
    return await work(upload)
  } finally {
    clearInterval(timer)
    const isEmpty = upload.state === 'receiving' && (await isWithoutContent(services, id))
    await sql`
      update uploads set leased_until = '-infinity', expires_at = case state
        when 'receiving' then now() + ${isEmpty ? emptyExpiry : expiry}::interval
        when 'storing' then expires_at
        else now() + ${resultExpiry}::interval end
      where id = ${id} and lease = ${lease}`
  }
}

/** Whether nothing was received; false if that cannot be read. */
async function isWithoutContent({ config, log }: UploadServices, id: string): Promise<boolean> {
  try {
    return (await readReceivedBytes(config, id)) === 0
  } catch (error) {
    log.warn({ err: error, upload: id }, 'content of an upload not read')
    return false
  }
}

/** Throws the error with which the file was refused. */
export function throwUploadFailure({ failure }: Upload): void {
  if (failure) throw new ApiError(failure.kind, failure.message, failure.extraData)
}

type DataFolder = Pick<UploadSettings, 'DATA_DIR'>

/** How long a folder is assumed to exist: checking it for each step of an upload would cost a tenth of its CPU time. */
const knownFolders = openCache<string, string>({ maxEntries: 10, ttlMs: 5_000 })

/** The folder of unfinished uploads, which is created if necessary. */
export async function ensureUploadsFolder({ DATA_DIR }: DataFolder): Promise<string> {
  const folder = resolve(DATA_DIR, 'uploads')
  return knownFolders.load(folder, async () => {
    await mkdir(folder, { recursive: true })
    return realpath(folder)
  })
}

/** The path of the content of an upload. */
export async function uploadFilePath(config: DataFolder, id: string): Promise<string> {
  return join(await ensureUploadsFolder(config), id)
}

/** The number of bytes that were received; 0 without any. */
export async function readReceivedBytes(config: DataFolder, id: string): Promise<number> {
  try {
    return (await stat(await uploadFilePath(config, id))).size
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return 0
    throw error
  }
}

export async function removeUploadFile(config: DataFolder, id: string): Promise<void> {
  await rm(await uploadFilePath(config, id), { force: true })
}

/** Opens the content of an upload for writing. */
export async function openUploadForWriting(config: DataFolder, id: string): Promise<FileHandle> {
  const { O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  return open(await uploadFilePath(config, id), O_CREAT | O_NOFOLLOW | O_WRONLY, 0o644)
}

interface WriteOptions {
  readonly offset: number
  /** The most bytes from the offset on. */
  readonly maxBytes: number
  /** The error if there are more. */
  readonly tooLong: () => ApiError
  /** Called with the number of bytes from time to time, before they are written. */
  readonly check?: (bytes: number) => Promise<void>
}

/** `check` is called each time that this much was received. */
const checkedBytes = 32 * 1024 * 1024
/**
 * So that what the system writes later to the disk is little: if it is much, each write to any file waits for the disk.
 */
const syncedBytes = 32 * 1024 * 1024

/**
 * Writes pieces as they come to a file, as fast as the disk takes them. Returns the offset behind them. What was
 * written remains if a piece cannot be read or written.
 */
export async function writeFilePieces(
  file: FileHandle,
  pieces: AsyncIterable<Uint8Array>,
  { offset, maxBytes, tooLong, check }: WriteOptions
): Promise<number> {
  let end = offset
  let checkAt = offset + checkedBytes
  let syncAt = offset + syncedBytes
  for await (const piece of pieces) {
    const pieceEnd = end + piece.length
    if (check && pieceEnd >= checkAt) {
      await check(pieceEnd - offset)
      checkAt = pieceEnd + checkedBytes
    }
    if (pieceEnd > offset + maxBytes) throw tooLong()
    let written = 0
    while (written < piece.length) {
      const { bytesWritten } = await file.write(piece, written, piece.length - written, end + written)
      written += bytesWritten
    }
    end = pieceEnd
    if (end < syncAt) continue
    await file.datasync()
    syncAt = end + syncedBytes
  }
  return end
}
