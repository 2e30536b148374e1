import { DeadlineExceeded } from '../../platform/runtime/deadline.ts'
import { openSharedThread, ThreadLostError } from '../../platform/runtime/thread-tasks.ts'
import { FileExistsError, type FileStore, type StoredFile } from './file-store.ts'
import type { StorageLocation } from './location.ts'
import { StorageFault, type StorageFaultReason } from './storage-fault.ts'

export type RemoteLocation = Extract<StorageLocation, { adapter: 's3' | 'sftp' }>

/** What the thread is asked to do. */
export type RemoteFileWork =
  | { readonly do: 'put'; readonly source: string; readonly path: string; readonly token: string }
  | { readonly do: 'stat' | 'remove' | 'makeFolder' | 'removeFolder'; readonly path: string }
  | { readonly do: 'read'; readonly path: string; readonly offset: number; readonly length: number }
  | { readonly do: 'move'; readonly from: string; readonly to: string }

export type RemoteFileValue = StoredFile | Uint8Array | null

/** What the thread does. */
export interface RemoteFileThread {
  readonly task: { readonly location: RemoteLocation; readonly work: RemoteFileWork }
  readonly result:
    | { readonly value: RemoteFileValue }
    | { readonly fault: { readonly reason: StorageFaultReason; readonly code: string } }
    | { readonly exists: string }
}

/** A file of 5 GiB at about 1.5 MB/s. */
const putTimeoutMs = 3_600_000
const timeoutMs = 60_000

/** One thread for the process, because decrypting keys and signing requests would block the event loop. */
const runInThread = openSharedThread<RemoteFileThread>('src/library/storage/remote-files-thread.js', {
  idleMs: 30_000,
  // What the client of S3 leaves behind per piece of a file is then collected soon; it is no slower.
  resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 128 }
})

async function run(location: RemoteLocation, work: RemoteFileWork): Promise<RemoteFileValue> {
  const result = await runInThread({ location, work }, work.do === 'put' ? putTimeoutMs : timeoutMs).catch(
    (error: unknown) => {
      if (error instanceof DeadlineExceeded) throw new StorageFault('timed_out')
      throw error instanceof ThreadLostError ? new StorageFault('unusable', 'thread') : error
    }
  )
  if ('value' in result) return result.value
  throw 'exists' in result
    ? new FileExistsError(result.exists)
    : new StorageFault(result.fault.reason, result.fault.code)
}

const stored = (value: RemoteFileValue): StoredFile | null =>
  value === null || value instanceof Uint8Array ? null : value

/** The files of a bucket or an SFTP server. Its methods throw a `StorageFault`. */
export function openRemoteFiles(location: RemoteLocation): FileStore {
  return {
    put: async (source, path, token) => {
      const file = stored(await run(location, { do: 'put', source, path, token }))
      if (file === null) throw new StorageFault('unusable')
      return file
    },
    stat: async path => stored(await run(location, { do: 'stat', path })),
    read: async (path, offset, length) => {
      const bytes = await run(location, { do: 'read', path, offset, length })
      return bytes instanceof Uint8Array ? bytes : new Uint8Array()
    },
    remove: async path => void (await run(location, { do: 'remove', path })),
    move: async (from, to) => void (await run(location, { do: 'move', from, to })),
    makeFolder: async path => void (await run(location, { do: 'makeFolder', path })),
    removeFolder: async path => void (await run(location, { do: 'removeFolder', path }))
  }
}
