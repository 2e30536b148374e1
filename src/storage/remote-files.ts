import { Worker } from 'node:worker_threads'

import { builtFile } from '../runtime/program-files.ts'
import { StorageFault, type StorageFaultReason } from './fault.ts'
import { FileExistsError, type FileStore, type StoredFile } from './file-store.ts'
import type { StorageLocation } from './location.ts'

export type RemoteLocation = Extract<StorageLocation, { adapter: 's3' | 'sftp' }>

/** What the thread is asked to do. */
export type RemoteFileWork =
  | { readonly do: 'put'; readonly source: string; readonly path: string; readonly token: string }
  | { readonly do: 'stat' | 'remove' | 'makeFolder' | 'removeFolder'; readonly path: string }
  | { readonly do: 'read'; readonly path: string; readonly offset: number; readonly length: number }
  | { readonly do: 'move'; readonly from: string; readonly to: string }

export interface RemoteFileTask {
  readonly id: number
  readonly location: RemoteLocation
  readonly work: RemoteFileWork
}

export type RemoteFileValue = StoredFile | Uint8Array | null

export type RemoteFileAnswer = { readonly id: number } & (
  | { readonly value: RemoteFileValue }
  | { readonly fault: { readonly reason: StorageFaultReason; readonly code: string } }
  | { readonly exists: string }
)

/** A file of 5 GiB at about 1.5 MB/s. */
const putTimeoutMs = 3_600_000
const timeoutMs = 60_000
/** The client libraries take tens of megabytes. */
const idleMs = 30_000

interface Pending {
  readonly resolve: (value: RemoteFileValue) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly pending: Map<number, Pending>
}

/** One for the process, because decrypting keys and signing requests would block the event loop. */
let thread: Thread | null = null
let lastId = 0
let idleTimer: NodeJS.Timeout | undefined

function openThread(): Thread {
  const pending = new Map<number, Pending>()
  const worker = new Worker(builtFile('src/storage/remote-files-thread.js'))
  const opened = { worker, pending }
  worker.unref()
  worker.on('message', (answer: RemoteFileAnswer) => {
    const asked = pending.get(answer.id)
    if ('value' in answer) asked?.resolve(answer.value)
    else if ('exists' in answer) asked?.reject(new FileExistsError(answer.exists))
    else asked?.reject(new StorageFault(answer.fault.reason, answer.fault.code))
  })
  const onEnd = () => {
    if (thread === opened) thread = null
    for (const { reject } of pending.values()) reject(new StorageFault('unusable', 'thread'))
  }
  worker.on('error', onEnd).on('exit', onEnd)
  return opened
}

async function run(location: RemoteLocation, work: RemoteFileWork): Promise<RemoteFileValue> {
  thread ??= openThread()
  const { worker, pending } = thread
  clearTimeout(idleTimer)
  const id = ++lastId
  let timer: NodeJS.Timeout | undefined
  worker.ref()
  try {
    return await new Promise<RemoteFileValue>((resolve, reject) => {
      const limitMs = work.do === 'put' ? putTimeoutMs : timeoutMs
      timer = setTimeout(() => reject(new StorageFault('timed_out')), limitMs)
      pending.set(id, { resolve, reject })
      worker.postMessage({ id, location, work } satisfies RemoteFileTask, [])
    })
  } finally {
    clearTimeout(timer)
    pending.delete(id)
    if (pending.size === 0) {
      worker.unref()
      idleTimer = setTimeout(() => void worker.terminate(), idleMs)
      idleTimer.unref()
    }
  }
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
