import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads'

import { builtFileUrl } from '../process/program-files.ts'
import { DeadlineExceeded, withAbortTimeout } from './deadline.ts'

/** The tasks of a thread and their results, which are cloned. */
export interface ThreadProtocol {
  readonly task: unknown
  readonly result: unknown
}

/** A thread ended before its task was done. */
export class ThreadLostError extends Error {}

interface ThreadOptions {
  readonly resourceLimits?: ResourceLimits
  /** Drops what the thread prints. */
  readonly isQuiet?: boolean
}

interface SharedThreadOptions extends ThreadOptions {
  /** After this time without a task the thread ends, because its libraries take memory. */
  readonly idleMs: number
}

interface Pending<Result> {
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
}

/** Starts a thread of a file that is built from a module that calls `runThreadTasks`. */
function startThread<Protocol extends ThreadProtocol>(
  file: string,
  { resourceLimits = {}, isQuiet = false }: ThreadOptions
) {
  type Result = Protocol['result']
  const pending = new Map<number, Pending<Result>>()
  const worker = new Worker(builtFileUrl(file), { resourceLimits, stdout: isQuiet, stderr: isQuiet })
  let lastId = 0
  let isLost = false
  // It keeps the process alive only while it has a task.
  worker.unref()
  worker.on('message', ({ id, result }: { id: number; result: Result }) => pending.get(id)?.resolve(result))
  const onEnd = (cause: unknown) => {
    isLost = true
    for (const { reject } of pending.values()) reject(new ThreadLostError('the thread ended', { cause }))
  }
  worker.on('error', onEnd).on('exit', onEnd)

  return {
    isLost: () => isLost,
    isIdle: () => pending.size === 0,
    /** Throws a `ThreadLostError` if the thread ends, and the reason of the signal once it is aborted. */
    run: async (task: Protocol['task'], signal: AbortSignal): Promise<Result> => {
      const id = ++lastId
      const stop = () => pending.get(id)?.reject(signal.reason)
      worker.ref()
      try {
        return await new Promise<Result>((resolve, reject) => {
          pending.set(id, { resolve, reject })
          if (signal.aborted) return stop()
          signal.addEventListener('abort', stop, { once: true })
          worker.postMessage({ id, task }, [])
        })
      } finally {
        signal.removeEventListener('abort', stop)
        pending.delete(id)
        if (pending.size === 0) worker.unref()
      }
    },
    end: async () => void (await worker.terminate())
  }
}

/**
 * Returns a function that runs tasks in a thread that they share, so that they do not block the event loop. The thread
 * is started with the first task. The function throws a `DeadlineExceeded`, and a `ThreadLostError` if the thread ends.
 */
export function openSharedThread<Protocol extends ThreadProtocol>(
  file: string,
  { idleMs, ...options }: SharedThreadOptions
): (task: Protocol['task'], timeoutMs: number) => Promise<Protocol['result']> {
  let thread: ReturnType<typeof startThread<Protocol>> | null = null
  let idleTimer: NodeJS.Timeout | undefined

  return async (task, timeoutMs) => {
    if (thread === null || thread.isLost()) thread = startThread<Protocol>(file, options)
    const used = thread
    clearTimeout(idleTimer)
    try {
      const exceeded = () => new DeadlineExceeded(`a task of a thread took longer than ${timeoutMs} ms`)
      return await withAbortTimeout(undefined, timeoutMs, limit => used.run(task, limit), exceeded)
    } finally {
      if (used.isIdle()) {
        const end = () => {
          if (thread === used) thread = null
          void used.end()
        }
        idleTimer = setTimeout(end, idleMs).unref()
      }
    }
  }
}

/**
 * Runs a task in a thread of its own, which ends with it, also in the middle of a computation once the signal is
 * aborted. Throws the reason of the signal, and a `ThreadLostError` if the thread ends before.
 */
export async function runInOwnThread<Protocol extends ThreadProtocol>(
  file: string,
  task: Protocol['task'],
  signal: AbortSignal,
  options: ThreadOptions = {}
): Promise<Protocol['result']> {
  signal.throwIfAborted()
  const thread = startThread<Protocol>(file, options)
  try {
    return await thread.run(task, signal)
  } finally {
    await thread.end()
  }
}

/** Runs the tasks of this thread, `concurrency` at a time. `run` must not throw. */
export function runThreadTasks<Protocol extends ThreadProtocol>(
  concurrency: number,
  run: (task: Protocol['task']) => Promise<Protocol['result']>
): void {
  const waiting: { id: number; task: Protocol['task'] }[] = []
  let running = 0

  async function startWaiting(): Promise<void> {
    if (running >= concurrency) return
    const next = waiting.shift()
    if (!next) return
    running += 1
    parentPort?.postMessage({ id: next.id, result: await run(next.task) }, [])
    running -= 1
    void startWaiting()
  }

  parentPort?.on('message', (message: { id: number; task: Protocol['task'] }) => {
    waiting.push(message)
    void startWaiting()
  })
}
