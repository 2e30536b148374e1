import { runTasks } from '../../platform/runtime/thread-tasks.ts'
import { StorageFault } from './fault.ts'
import { runHere, type StorageThread } from './tasks.ts'

/* The thread that `tasks.ts` starts for each task. */

runTasks<StorageThread>(1, async task => {
  try {
    return { usage: await runHere(task, AbortSignal.timeout(task.timeoutMs)) }
  } catch (error) {
    const { reason, code } = error instanceof StorageFault ? error : new StorageFault('unusable')
    return { fault: { reason, code } }
  }
})
