import { parentPort, workerData } from 'node:worker_threads'

import { StorageFault } from './fault.ts'
import type { RemoteAnswer, RemoteTask } from './remote.ts'
import { checkLocation, measureLocation } from './size.ts'

/** Does one task in a thread of its own; see `remote.ts`, which starts it. */
async function answer({ work, location, timeoutMs }: RemoteTask): Promise<RemoteAnswer> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    if (work === 'measure') return { usage: await measureLocation(location, signal) }
    await checkLocation(location, signal)
    return { usage: null }
  } catch (error) {
    if (error instanceof StorageFault) return { fault: { word: error.word, code: error.code } }
    return { fault: { word: 'unusable', code: '' } }
  }
}

parentPort?.postMessage(await answer(workerData), [])
