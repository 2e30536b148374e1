import { Worker } from 'node:worker_threads'

import { builtFile } from '../runtime/program-files.ts'
import { StorageFault, type StorageFaultWord } from './fault.ts'
import type { StorageLocation } from './location.ts'
import { checkLocation, measureLocation, type Usage } from './size.ts'

/** What a thread is to do. */
export interface RemoteTask {
  readonly work: 'check' | 'measure'
  readonly location: StorageLocation
  readonly timeoutMs: number
}

/** What became of it. */
export type RemoteAnswer =
  | { readonly usage: Usage | null }
  | { readonly fault: { readonly word: StorageFaultWord; readonly code: string } }

/** What a thread takes to start and to end, beside its task. */
const slackMs = 5_000

/**
 * Checks or measures a location and keeps this thread free meanwhile: a pass phrase can take seconds to open
 * a key, and the clients of remote places work in long steps. Folders of this machine need no thread. Throws
 * a `StorageFault`, and the reason of `signal` when that is aborted.
 */
export async function measureRemote(task: RemoteTask, signal: AbortSignal): Promise<Usage | null> {
  const { work, location, timeoutMs } = task
  if (location.adapter === 's3' || location.adapter === 'sftp') return reachInThread(task, signal)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  if (work === 'measure') return measureLocation(location, limit)
  await checkLocation(location, limit)
  return null
}

async function reachInThread(task: RemoteTask, signal: AbortSignal): Promise<Usage | null> {
  signal.throwIfAborted()
  const thread = new Worker(builtFile('src/storage/remote-thread.js'), { workerData: task })
  try {
    const answer = await new Promise<RemoteAnswer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new StorageFault('timed_out')), task.timeoutMs + slackMs)
      const settle = (action: () => void) => () => {
        clearTimeout(timer)
        action()
      }
      thread.once('message', (message: RemoteAnswer) => settle(() => resolve(message))())
      thread.once('error', error => settle(() => reject(error))())
      thread.once(
        'exit',
        settle(() => reject(new Error('the thread ended without an answer')))
      )
      signal.addEventListener(
        'abort',
        settle(() => reject(new Error('the look at a storage was given up'))),
        {
          once: true
        }
      )
    })
    if ('fault' in answer) throw new StorageFault(answer.fault.word, answer.fault.code)
    return answer.usage
  } finally {
    await thread.terminate()
  }
}
