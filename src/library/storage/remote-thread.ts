import { runThreadTasks } from '../../platform/runtime/thread-tasks.ts'
import { StorageFault } from './storage-fault.ts'
import { runStorageTaskHere, type StorageThread } from './storage-task.ts'

/* The thread that `storage-task.ts` starts for each task. */

runThreadTasks<StorageThread>(1, async task => {
  try {
    return { usage: await runStorageTaskHere(task, AbortSignal.timeout(task.timeoutMs)) }
  } catch (error) {
    const { reason, code } = error instanceof StorageFault ? error : new StorageFault('unusable')
    return { fault: { reason, code } }
  }
})
