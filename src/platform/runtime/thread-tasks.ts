import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads'

import { builtFile } from '../process/program-files.ts'
import { withDeadline } from './deadline.ts'

/** The tasks of a thread and their answers, which are cloned. */
export interface ThreadProtocol {
  readonly task: unknown
  readonly answer: unknown
}

/** A thread ended before it answered. */
export class ThreadLostError extends Error {}

interface ThreadOptions {
  /** After this time without a task the thread ends, because its libraries take memory. */
  readonly idleMs: number
  readonly resourceLimits?: ResourceLimits
}

interface Pending<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

interface Thread<Answer> {
  readonly worker: Worker
  readonly pending: Map<number, Pending<Answer>>
}

/**
 * Returns a function that runs tasks in a thread of their own, so that they do not block the event loop. The thread
 * is started with the first task. `file` is built from the module that calls `answerTasks`.
 *
 * The function throws a `DeadlineExceeded`, and a `ThreadLostError` if the thread ends.
 */
export function openThreadTasks<Protocol extends ThreadProtocol>(
  file: string,
  { idleMs, resourceLimits = {} }: ThreadOptions
): (task: Protocol['task'], timeoutMs: number) => Promise<Protocol['answer']> {
  type Answer = Protocol['answer']
  let thread: Thread<Answer> | null = null
  let lastId = 0
  let idleTimer: NodeJS.Timeout | undefined

  function start(): Thread<Answer> {
    const pending = new Map<number, Pending<Answer>>()
    const worker = new Worker(builtFile(file), { resourceLimits })
    const started = { worker, pending }
    worker.unref()
    worker.on('message', ({ id, answer }: { id: number; answer: Answer }) => pending.get(id)?.resolve(answer))
    const onEnd = (cause: unknown) => {
      if (thread === started) thread = null
      for (const { reject } of pending.values()) reject(new ThreadLostError('the thread ended', { cause }))
    }
    worker.on('error', onEnd).on('exit', onEnd)
    return started
  }

  function end(idle: Thread<Answer>): void {
    if (thread === idle) thread = null
    void idle.worker.terminate()
  }

  return async (task, timeoutMs) => {
    const used = (thread ??= start())
    const { worker, pending } = used
    clearTimeout(idleTimer)
    const id = ++lastId
    worker.ref()
    try {
      return await withDeadline(
        timeoutMs,
        'a task of a thread',
        () =>
          new Promise<Answer>((resolve, reject) => {
            pending.set(id, { resolve, reject })
            worker.postMessage({ id, task }, [])
          })
      )
    } finally {
      pending.delete(id)
      if (pending.size === 0) {
        worker.unref()
        idleTimer = setTimeout(() => end(used), idleMs)
        idleTimer.unref()
      }
    }
  }
}

/** Answers the tasks of this thread, `concurrency` at a time. `answer` must not throw. */
export function answerTasks<Protocol extends ThreadProtocol>(
  concurrency: number,
  answer: (task: Protocol['task']) => Promise<Protocol['answer']>
): void {
  const waiting: { id: number; task: Protocol['task'] }[] = []
  let running = 0

  async function startWaiting(): Promise<void> {
    if (running >= concurrency) return
    const next = waiting.shift()
    if (!next) return
    running += 1
    parentPort?.postMessage({ id: next.id, answer: await answer(next.task) }, [])
    running -= 1
    void startWaiting()
  }

  parentPort?.on('message', (message: { id: number; task: Protocol['task'] }) => {
    waiting.push(message)
    void startWaiting()
  })
}
