import { answerTasks } from '../runtime/thread-tasks.ts'
import { StorageFault } from './fault.ts'
import { FileExistsError, type FileStore } from './file-store.ts'
import type { RemoteFileThread, RemoteFileValue, RemoteFileWork, RemoteLocation } from './remote-files.ts'
import { openS3Files } from './s3-files.ts'
import { openSftpFiles } from './sftp-files.ts'

/*
 * The thread that `remote-files.ts` starts. A file store of a location is kept while it is used, so that requests share a
 * connection.
 */

const maxStores = 20
const concurrency = 4
const stores = new Map<string, FileStore>()

function storeOf(location: RemoteLocation): FileStore {
  const key = JSON.stringify(location)
  const known = stores.get(key)
  if (known) return known
  if (stores.size >= maxStores) stores.clear()
  const opened = location.adapter === 's3' ? openS3Files(location) : openSftpFiles(location)
  stores.set(key, opened)
  return opened
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

answerTasks<RemoteFileThread>(concurrency, async ({ location, work }) => {
  try {
    return { value: await perform(storeOf(location), work) }
  } catch (error) {
    if (error instanceof FileExistsError) return { exists: error.message }
    const { reason, code } = error instanceof StorageFault ? error : new StorageFault('unusable')
    return { fault: { reason, code } }
  }
})
