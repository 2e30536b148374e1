import { constants, getPriority, setPriority } from 'node:os'

import { openCache } from '../../platform/runtime/cache.ts'
import { runThreadTasks } from '../../platform/runtime/thread-tasks.ts'
import { FileExistsError, type FileStore } from './file-store.ts'
import type { RemoteFileThread, RemoteFileValue, RemoteFileWork, RemoteLocation } from './remote-files.ts'
import { StorageFault } from './storage-fault.ts'

/*
 * The thread that `remote-files.ts` starts. A file store of a location is kept while it is used, so that requests share
 * a connection.
 */

const concurrency = 4
const stores = openCache<string, FileStore>({ maxEntries: 20 })

const storeOf = (location: RemoteLocation): Promise<FileStore> =>
  stores.load(JSON.stringify(location), () => openStore(location))

/** Loads only the client that is needed: that of SFTP takes 6 MB, that of S3 20 MB. */
async function openStore(location: RemoteLocation): Promise<FileStore> {
  if (location.adapter === 's3') return (await import('./s3-files.ts')).openS3Files(location)
  return (await import('./sftp-files.ts')).openSftpFiles(location)
}

async function perform(store: FileStore, work: RemoteFileWork): Promise<RemoteFileValue> {
  switch (work.do) {
    case 'put':
      return store.put(work.source, work.path, work.token)
    case 'stat':
      return store.stat(work.path)
    case 'read':
      return store.read(work.path, work.offset, work.length)
    case 'move':
      await store.move(work.from, work.to)
      return null
    case 'remove':
    case 'makeFolder':
    case 'removeFolder':
      await store[work.do](work.path)
      return null
    default:
      return work satisfies never
  }
}

// The event loop goes first if there are too few cores. On Linux, 0 is this thread; elsewhere it is the whole process.
const priority = constants.priority.PRIORITY_BELOW_NORMAL
if (process.platform === 'linux' && getPriority(0) < priority) setPriority(0, priority)

runThreadTasks<RemoteFileThread>(concurrency, async ({ location, work }) => {
  try {
    return { value: await perform(await storeOf(location), work) }
  } catch (error) {
    if (error instanceof FileExistsError) return { exists: error.message }
    const { reason, code } = error instanceof StorageFault ? error : new StorageFault('unusable')
    return { fault: { reason, code } }
  }
})
