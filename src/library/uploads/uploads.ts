import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { ApiError, type ErrorKind, fieldError, TooManyRequests } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { findFile } from '../storage/file-store.ts'
import { readFreeBytes } from '../storage/local.ts'
import { receivedBytes, removeContent, uploadsFolder } from './content.ts'
import { type MediaStore, openUsableMediaStore, toCallerError } from './media-store.ts'
import type { UploadServices } from './services.ts'

/** Why a file was refused. */
interface UploadFailure {
  readonly kind: ErrorKind
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
  if (sizeBytes > maxBytes) throw tooLarge(services, sizeField)
  const { files, locationId } = await openUsableMediaStore(services, stationId)
  const folder = await uploadsFolder(config)
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
  const replacedBytes = freeInQuota < maxBytes ? await sizeOfReplaced({ files }, path) : 0
  const limitBytes = Math.max(0, Math.min(maxBytes, freeInQuota + replacedBytes))
  if (sizeBytes > limitBytes || limitBytes === 0) throw quotaExceeded(sizeField)
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
export const tooLarge = ({ config }: Pick<UploadServices, 'config'>, field = 'file') =>
  ApiError.ofFields(
    [fieldError(field, 'too_large', `is too large: a file may have ${config.UPLOAD_MAX_MB} MiB.`)],
    'too-large'
  )

export const quotaExceeded = (field = 'file') =>
  ApiError.ofFields(
    [fieldError(field, 'storage_full', 'does not fit: the quota of the storage location is reached.')],
    'storage-full'
  )

/** Finds an upload of a station. Throws 404. */
export async function loadUpload(sql: Sql, stationId: number, id: string): Promise<Upload> {
  const [upload] = await sql<Upload[]>`
    select ${columns(sql)} from uploads where id = ${id} and station_id = ${stationId} and expires_at > now()`
  if (!upload) throw new ApiError('not-found')
  return upload
}

/**
 * Works on an upload, which no other request can meanwhile. Throws 404, and 423 if another request works on it. The
 * lease of a process that was killed expires after half a minute.
 */
export async function withUpload<Result>(
  services: UploadServices,
  stationId: number,
  id: string,
  work: (upload: Upload) => Promise<Result>
): Promise<Result> {
  const { sql, log } = services
  const lease = randomBytes(8).toString('hex')
  const until = sql`now() + make_interval(secs => ${leaseSeconds})`
  const [upload] = await sql<Upload[]>`
    update uploads set lease = ${lease}, leased_until = ${until},
      expires_at = case state when 'receiving' then now() + ${expiry}::interval else expires_at end
    where id = ${id} and station_id = ${stationId} and leased_until < now() and expires_at > now()
    returning ${columns(sql)}`
  if (!upload) {
    await loadUpload(sql, stationId, id)
    throw new ApiError('locked', 'Another request is sending this upload: try again.')
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
    return (await receivedBytes(config, id)) === 0
  } catch (error) {
    log.warn({ err: error, upload: id }, 'content of an upload not read')
    return false
  }
}

/** Finds an unfinished upload by the name that its client gave it. */
export async function findByClientKey(
  sql: Sql,
  stationId: number,
  clientKey: string
): Promise<{ readonly id: string; readonly pieces: readonly number[] } | null> {
  const [upload] = await sql<{ id: string; pieces: number[] }[]>`
    select id, pieces from uploads
    where station_id = ${stationId} and client_key = ${clientKey} and expires_at > now()`
  return upload ?? null
}

/** Remembers that a numbered piece was received. Returns how many were; 404 if the upload was ended. */
export async function addPiece(sql: Sql, { id, lease }: Upload, number: number): Promise<number> {
  const [upload] = await sql<{ count: number }[]>`
    update uploads set pieces = array(select distinct unnest(pieces || ${number}::integer) order by 1)
    where id = ${id} and lease = ${lease} returning cardinality(pieces) as count`
  if (!upload) throw new ApiError('not-found')
  return upload.count
}

/** Like `withUpload`, but waits for other requests that work on the upload. */
export async function withUploadInTurn<Result>(
  services: UploadServices,
  stationId: number,
  id: string,
  work: (upload: Upload) => Promise<Result>
): Promise<Result> {
  const endMs = performance.now() + maxTurnWaitMs
  for (;;) {
    try {
      return await withUpload(services, stationId, id, work)
    } catch (error) {
      const isLocked = error instanceof ApiError && error.kind === 'locked'
      if (!isLocked || performance.now() > endMs) throw error
      await sleep(turnPauseMs)
    }
  }
}

const maxTurnWaitMs = 30_000
const turnPauseMs = 50

/**
 * Ends an upload and removes its content. One that may be in the media storage already remains, for the sweep to
 * finish.
 */
export async function removeUpload({ sql, config }: UploadServices, id: string): Promise<void> {
  const [kept] = await sql`select from uploads where id = ${id} and state = 'storing'`
  if (kept) return
  await sql`delete from uploads where id = ${id}`
  await removeContent(config, id)
}

/** The size of the file that an upload replaces; 0 if there is none, or its path is not known. */
export async function sizeOfReplaced({ files }: Pick<MediaStore, 'files'>, path: string): Promise<number> {
  if (path === '') return 0
  try {
    return (await findFile(files, path))?.sizeBytes ?? 0
  } catch (error) {
    throw toCallerError(error)
  }
}

/**
 * Throws 507 if a file of this size no longer fits into the storage location of a station, in place of the one that it
 * replaces, and 404 if the station was deleted.
 */
export async function assertFits(
  services: UploadServices,
  { stationId, path }: Pick<Upload, 'stationId' | 'path'>,
  sizeBytes: number,
  field = 'file'
): Promise<void> {
  const [station] = await services.sql<{ missingBytes: number | null }[]>`
    select case when l.storage_quota_bytes > 0
      then (l.used_bytes + ${sizeBytes} - l.storage_quota_bytes)::float8 end as "missingBytes"
    from stations s left join storage_locations l on l.id = s.media_storage_location_id
    where s.id = ${stationId} and s.deleted_at is null`
  if (!station) throw new ApiError('not-found', 'The station was deleted.')
  const missingBytes = station.missingBytes ?? 0
  if (missingBytes <= 0) return
  const store = await openUsableMediaStore(services, stationId)
  if (missingBytes > (await sizeOfReplaced(store, path))) throw quotaExceeded(field)
}

/** Throws the error with which the file was refused. */
export function throwFailure({ failure }: Upload): void {
  if (failure) throw new ApiError(failure.kind, failure.message, failure.extraData)
}
