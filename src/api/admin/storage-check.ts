import {
  allowedStorageRoots,
  blankLocation,
  type StoredLocation,
  type LocationFields,
  unsealStoredSecret,
  toStorageLocation,
  locationColumnsFragment
} from '../../library/storage/location-record.ts'
import { normalizeStoragePath, type StorageLocation } from '../../library/storage/location.ts'
import { StorageFault, type StorageFaultReason } from '../../library/storage/storage-fault.ts'
import { runStorageTask } from '../../library/storage/storage-task.ts'
import { resolveInsideRoots } from '../../platform/runtime/contained-files.ts'
import { ApiError, fieldError, type FieldError, TooManyRequests } from '../../platform/runtime/errors.ts'
import { openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import type { ApiServices } from '../core/services.ts'

interface CheckRequest {
  readonly services: ApiServices
  readonly id: number | null
  readonly values: Partial<LocationFields>
}

/** Returns a problem for every setting that the adapter requires and that is empty. */
export function findMissingLocationFields(values: LocationFields): FieldError[] {
  const required = (...names: readonly (keyof LocationFields)[]) =>
    names.filter(name => values[name] === '').map(name => fieldError(name, 'required', 'is required.'))
  switch (values.adapter) {
    case 's3':
      return required('s3Bucket', 's3CredentialKey', 's3CredentialSecret')
    case 'dropbox':
      return required('dropboxAuthToken')
    case 'sftp':
      return [
        ...required('sftpHost', 'sftpUsername'),
        ...(values.sftpPrivateKey === '' ? required('sftpPassword') : [])
      ]
    case 'local':
      return []
    default:
      return values.adapter satisfies never
  }
}

const timeoutMs = 5_000
/** A check may occupy a thread for seconds. */
const checks = openFairSemaphore({ total: 2 })
const maxWaiting = 8

/**
 * Tests the connection to a location. Returns no problems if the record itself is invalid, since `beforeWrite`
 * reports that. Throws 429 if too many checks wait.
 */
export async function findConnectionProblems({ services, id, values }: CheckRequest): Promise<FieldError[]> {
  const { reads: sql, secrets, config } = services
  const [stored] = await sql<StoredLocation[]>`
    select ${locationColumnsFragment(sql)} from storage_locations where id = ${id}`
  if (id !== null && !stored) throw new ApiError('not-found')
  const sent = Object.entries(values).filter(([, value]) => value !== '' || !stored)
  const record: LocationFields = { ...blankLocation, ...stored, ...Object.fromEntries(sent) }
  const path = normalizeStoragePath(record.adapter, record.path)
  if (path === null || findMissingLocationFields(record).length > 0) return []
  const location = toStorageLocation({ ...record, path }, field => {
    const isStored = stored !== undefined && record[field] === stored[field]
    return isStored
      ? unsealStoredSecret({ ...record, sftpPasswordFor: stored.sftpPasswordFor }, field, secrets)
      : record[field]
  })
  if (checks.waitingOf() >= maxWaiting) throw new TooManyRequests(timeoutMs / 1_000)
  try {
    if (
      location.adapter === 'local' &&
      (await resolveInsideRoots(path, allowedStorageRoots(config))) === null
    )
      throw new StorageFault('denied')
    const task = { work: 'check', location, timeoutMs } as const
    await checks.run(() => runStorageTask(task, AbortSignal.timeout(2 * timeoutMs)))
    return []
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error
    if (error.reason === 'incomplete')
      return [
        fieldError('sftpPassword', 'required', 'is required again, because the server or the user changed.')
      ]
    const isDenied = error.reason === 'denied' || error.reason === 'bad_key'
    const field = fieldOfFault(location.adapter, error.reason)
    return [{ field, code: isDenied ? 'invalid_format' : 'not_found', message: error.message }]
  }
}

/** The field that an operator has to correct. */
function fieldOfFault(adapter: StorageLocation['adapter'], reason: StorageFaultReason): string {
  if (reason === 'no_folder' || reason === 'not_a_folder' || adapter === 'local') return 'path'
  if (adapter === 'dropbox') return 'dropboxAuthToken'
  if (adapter === 's3')
    return reason === 'denied' ? 's3CredentialKey' : reason === 'no_bucket' ? 's3Bucket' : 's3Endpoint'
  return reason === 'denied' ? 'sftpUsername' : reason === 'bad_key' ? 'sftpPrivateKey' : 'sftpHost'
}
