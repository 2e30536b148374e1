import { parentPort, workerData } from 'node:worker_threads'

import { StorageFault } from './fault.ts'
import { runHere, type StorageTask, type StorageTaskResult } from './tasks.ts'

/** Runs one task in a thread that `tasks.ts` starts. */
async function run(task: StorageTask): Promise<StorageTaskResult> {
  try {
    return { usage: await runHere(task, AbortSignal.timeout(task.timeoutMs)) }
  } catch (error) {
    const { reason, code } = error instanceof StorageFault ? error : new StorageFault('unusable')
    return { fault: { reason, code } }
  }
}

parentPort?.postMessage(await run(workerData), [])
