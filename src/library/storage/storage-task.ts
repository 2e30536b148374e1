import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import { runInOwnThread } from '../../platform/runtime/thread-tasks.ts'
import { assertLocalFolder, measureLocalFolder } from './local.ts'
import type { StorageLocation } from './location.ts'
import { storageAbortReason, StorageFault, type StorageFaultReason } from './storage-fault.ts'
import type { StorageUsage } from './walk.ts'

/** `check` only verifies that a location can be used. Of a Dropbox only the settings are checked. */
export interface StorageTask {
  readonly work: 'check' | 'measure'
  readonly location: StorageLocation
  readonly timeoutMs: number
}

/** What the thread in `remote-thread.ts` does. */
export interface StorageThread {
  readonly task: StorageTask
  readonly result:
    | { readonly usage: StorageUsage | null }
    | { readonly fault: { readonly reason: StorageFaultReason; readonly code: string } }
}

/** Time for the start and the end of a thread. */
const threadOverheadMs = 5_000

/**
 * Runs a task. S3 and SFTP run in a thread: decrypting a key can take seconds, and their clients block the
 * event loop. Returns null for a check and for a Dropbox. Throws a `StorageFault`, or the reason of `signal`.
 */
export async function runStorageTask(task: StorageTask, signal: AbortSignal): Promise<StorageUsage | null> {
  const { location, timeoutMs } = task
  const isIncomplete = location.adapter === 'sftp' && location.password === '' && location.privateKey === ''
  if (isIncomplete) throw new StorageFault('incomplete')
  const isThreaded = location.adapter === 's3' || location.adapter === 'sftp'
  const limitMs = isThreaded ? timeoutMs + threadOverheadMs : timeoutMs
  const run = isThreaded ? runInThread : runStorageTaskHere
  return withAbortTimeout(signal, limitMs, limit => run(task, limit))
}

async function runInThread(task: StorageTask, signal: AbortSignal): Promise<StorageUsage | null> {
  const file = 'src/library/storage/remote-thread.js'
  const result = await runInOwnThread<StorageThread>(file, task, signal).catch((error: unknown) => {
    throw signal.aborted ? storageAbortReason(signal) : error
  })
  if ('fault' in result) throw new StorageFault(result.fault.reason, result.fault.code)
  return result.usage
}

const toNothing = () => null

/** Runs a task on this thread; see `runStorageTask`. */
export async function runStorageTaskHere(
  { work, location }: Omit<StorageTask, 'timeoutMs'>,
  signal: AbortSignal
): Promise<StorageUsage | null> {
  const { path } = location
  const isCheck = work === 'check'
  switch (location.adapter) {
    case 'local':
      return isCheck ? assertLocalFolder(path, signal).then(toNothing) : measureLocalFolder(path, signal)
    case 's3': {
      const { assertS3Access: checkS3, measureS3 } = await loadS3()
      return isCheck ? checkS3(location, signal).then(toNothing) : measureS3(location, path, signal)
    }
    case 'sftp': {
      const { assertSftpFolder: checkSftp, measureSftp } = await import('./sftp.ts')
      return isCheck ? checkSftp(location, path, signal).then(toNothing) : measureSftp(location, path, signal)
    }
    case 'dropbox':
      if (isCheck && location.authToken === '') throw new StorageFault('incomplete')
      return null
    default:
      return location satisfies never
  }
}

/** Loaded on demand: the client is large, and most installations do not need it. */
async function loadS3() {
  // The version is pinned, so its warning about later versions does not help an operator.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
  return import('./s3.ts')
}
