import { StorageFault } from './fault.ts'
import { checkLocal, measureLocal } from './local.ts'
import type { StorageLocation } from './location.ts'
import type { Usage } from './usage.ts'

// Their libraries are large, and most installations need neither.
async function loadS3() {
  // The version is pinned, so what it says of its later versions is no news to an operator.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  return import('./s3.ts')
}

const loadSftp = async () => import('./sftp.ts')

/**
 * What a location holds right now; `null` for a Dropbox, which is not measured. Reads a whole tree or listing: give
 * the signal a time-out that suits. Throws a `StorageFault`.
 */
export async function measureLocation(location: StorageLocation, signal: AbortSignal): Promise<Usage | null> {
  switch (location.adapter) {
    case 'local':
      return measureLocal(location.path, signal)
    case 's3':
      return (await loadS3()).measureS3(location, location.path, signal)
    case 'sftp':
      return (await loadSftp()).measureSftp(location, location.path, signal)
    case 'dropbox':
      return null
    default:
      return location satisfies never
  }
}

/**
 * Makes sure that a location can be used, without reading all of it; of a Dropbox only that its settings are
 * complete. Throws a `StorageFault` whose message is fit for the operator.
 */
export async function checkLocation(location: StorageLocation, signal: AbortSignal): Promise<void> {
  switch (location.adapter) {
    case 'local':
      return checkLocal(location.path, signal)
    case 's3':
      return (await loadS3()).checkS3(location, signal)
    case 'sftp':
      return (await loadSftp()).checkSftp(location, location.path, signal)
    case 'dropbox':
      if (location.authToken === '') throw new StorageFault('incomplete')
      return
    default:
      return location satisfies never
  }
}
