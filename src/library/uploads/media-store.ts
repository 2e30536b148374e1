import { mkdir, realpath, stat } from 'node:fs/promises'

import { OutsideRootsError } from '../../platform/runtime/contained-files.ts'
import { DeadlineExceeded, withDeadline } from '../../platform/runtime/deadline.ts'
import { ApiError, errorCodeOf, fieldError, Overloaded } from '../../platform/runtime/errors.ts'
import { unicodeNameKey } from '../../platform/text/unicode-names.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { FileExistsError, type FileStore, findStoredFile } from '../storage/file-store.ts'
import { openLocalFiles } from '../storage/local-files.ts'
import {
  unsealStoredSecret,
  locationColumnsFragment,
  type StoredLocation,
  toStorageLocation
} from '../storage/location-record.ts'
import { defaultStationFolder, resolveAllowedMediaFolder } from '../storage/media-folder.ts'
import { openRemoteFiles } from '../storage/remote-files.ts'
import { StorageFault } from '../storage/storage-fault.ts'
import type { UploadServices } from './services.ts'

/** Where the media of a station are stored. */
export interface MediaStore {
  readonly files: FileStore
  /** The folder as configured, if it is local: imports may have stored absolute paths below it. */
  readonly folder: string | null
  /** The real path of that folder; null if it is not local. */
  readonly realFolder: string | null
  /** Null: the station has no storage location, so its files are in DATA_DIR. */
  readonly locationId: number | null
  /** Names the storage: stations that share it have the same number. */
  readonly storageId: number
}

type Services = Pick<UploadServices, 'sql' | 'config' | 'secrets'>

/**
 * Opens the media storage of a station. Throws 404 if there is no such station, and a `StorageFault` if a local folder
 * cannot be used.
 */
export const openMediaStore = (services: Services, stationId: number): Promise<MediaStore> =>
  openStore(services, stationId, 'media')

/** Opens the storage of the recordings of a station. Throws like `openMediaStore`. */
export const openRecordingStore = (services: Services, stationId: number): Promise<MediaStore> =>
  openStore(services, stationId, 'recordings')

async function openStore(
  { sql, config, secrets }: Services,
  stationId: number,
  content: 'media' | 'recordings'
): Promise<MediaStore> {
  const [station] = await sql<{ locationId: number | null }[]>`
    select ${sql(`${content}_storage_location_id`)} as "locationId" from stations
    where id = ${stationId} and deleted_at is null`
  if (!station) throw new ApiError('not-found')
  const { locationId } = station
  const storageId = locationId ?? -stationId
  if (locationId === null) {
    const folder = defaultStationFolder(stationId, config.DATA_DIR, content)
    await mkdir(folder, { recursive: true })
    const realFolder = await realpath(folder)
    return { files: openLocalFiles(realFolder), folder, realFolder, locationId, storageId }
  }
  return { ...(await openStorageLocation({ sql, config, secrets }, locationId)), locationId, storageId }
}

/**
 * Opens a storage location. Throws 404 if there is none with this id, and a `StorageFault` if a local folder cannot be
 * used.
 */
export async function openStorageLocation(
  { sql, config, secrets }: Services,
  locationId: number
): Promise<Pick<MediaStore, 'files' | 'folder' | 'realFolder'>> {
  const [row] = await sql<StoredLocation[]>`
    select ${locationColumnsFragment(sql)} from storage_locations where id = ${locationId}`
  if (!row) throw new ApiError('not-found')
  const location = toStorageLocation(row, field => unsealStoredSecret(row, field, secrets))
  switch (location.adapter) {
    case 'local': {
      const real = await resolveAllowedMediaFolder(location.path, config)
      if (real === null) throw new StorageFault('denied')
      const isFolder = await stat(real).then(
        stats => stats.isDirectory(),
        () => false
      )
      // A volume that is not mounted must not be filled where it would be.
      if (!isFolder) throw new StorageFault('no_folder')
      return { files: openLocalFiles(real), folder: location.path, realFolder: real }
    }
    case 's3':
    case 'sftp':
      return { files: openRemoteFiles(location), folder: null, realFolder: null }
    case 'dropbox':
      throw new ApiError('not-implemented', 'Files of a Dropbox cannot be read or changed.')
    default:
      return location satisfies never
  }
}

/** Like `openMediaStore`, with errors of `toFileApiError`. */
export async function openUsableMediaStore(services: Services, stationId: number): Promise<MediaStore> {
  try {
    return await openMediaStore(services, stationId)
  } catch (error) {
    throw toFileApiError(error)
  }
}

/** Errors of a full disk, or of the quota of its user. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/**
 * The error for the caller of a failed operation on files; other errors are returned as they are. It names the field of
 * the path, and for a full disk that of the content.
 */
export function toFileApiError(error: unknown, field = 'path', contentField = field): unknown {
  if (error instanceof StorageFault)
    return new Overloaded(10, `The media storage cannot be used: ${error.message}`)
  if (error instanceof FileExistsError)
    return ApiError.ofFields(
      [fieldError(field, 'duplicate', `cannot be used: a file or folder is in the way: ${error.message}`)],
      'conflict'
    )
  if (error instanceof OutsideRootsError)
    return ApiError.ofFields([fieldError(field, 'invalid_format', 'leads out of the media folder.')])
  if (errorCodeOf(error) === 'ENAMETOOLONG')
    return ApiError.ofFields([fieldError(field, 'invalid_format', 'is too long for the media storage.')])
  return fullCodes.has(errorCodeOf(error))
    ? ApiError.ofFields(
        [fieldError(contentField, 'storage_full', 'cannot be stored: the disk is full.')],
        'storage-full'
      )
    : error
}

/** The size of the file that another one replaces; 0 if there is none, or its path is not known. */
export async function readReplacedFileSize(
  { files }: Pick<MediaStore, 'files'>,
  path: string
): Promise<number> {
  if (path === '') return 0
  try {
    return (await findStoredFile(files, path))?.sizeBytes ?? 0
  } catch (error) {
    throw toFileApiError(error)
  }
}

/** Shorter than a transaction may be idle. */
const statTimeoutMs = 5_000

/** Like `readReplacedFileSize`, for an open transaction. */
export async function statWithin(media: MediaStore, path: string): Promise<number> {
  try {
    return await withDeadline(statTimeoutMs, 'reading the size of a file', () =>
      readReplacedFileSize(media, path)
    )
  } catch (error) {
    throw error instanceof DeadlineExceeded ? new StorageFault('timed_out') : error
  }
}

/**
 * Throws 507 if a file of this size does not fit into the storage location of a station, in place of the one that it
 * replaces, and 404 if the station was deleted.
 */
export async function assertUploadFits(
  services: Services,
  { stationId, path }: { readonly stationId: number; readonly path: string },
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
  if (missingBytes > (await readReplacedFileSize(store, path))) throw createQuotaError(field)
}

/** The error of a file that the quota of a storage location does not allow. */
export const createQuotaError = (field = 'file') =>
  ApiError.ofFields(
    [fieldError(field, 'storage_full', 'does not fit: the quota of the storage location is reached.')],
    'storage-full'
  )

/**
 * Until the transaction ends, no other one locks these files of a media storage. Whoever is about to store, move or
 * remove a file locks it to check that nobody else is.
 */
export async function lockFilePaths(
  tx: Tx,
  { storageId }: Pick<MediaStore, 'storageId'>,
  paths: readonly string[]
) {
  // Files of one name in two forms have one lock, since a storage may have either.
  for (const key of [...new Set(paths.map(unicodeNameKey))].toSorted())
    await tx`select pg_advisory_xact_lock(hashtextextended(${`file ${storageId} ${key}`}, 0))`
}

/** Whether a file is being moved away or to this path. The path must be locked. */
export async function isFileMoving(
  tx: Tx,
  { storageId }: Pick<MediaStore, 'storageId'>,
  path: string
): Promise<boolean> {
  const found = await tx`
    select from file_moves where storage_id = ${storageId}
      and name_key(${path}) in (name_key(from_path), name_key(to_path))`
  return found.length > 0
}
