import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import type { Logger } from './log.ts'

const restartAtLeastMs = 500
const restartAtMostMs = 10_000
const steadyMs = 30_000

/** A child that was told to stop gets this long before it is killed. */
const stopMs = 3_500

export interface Child {
  /** Settles when the process says it is ready; rejects if its first start fails. */
  readonly ready: Promise<void>
  stop(): Promise<void>
}

/**
 * Keeps a process of this program running: one that ends unasked is started again, soon at first and later if it
 * keeps ending. It is told to stop by closing its channel, which also happens when this process is killed.
 */
export function keepRunning(file: string, env: NodeJS.ProcessEnv, log: Logger): Child {
  const path = fileURLToPath(new URL(file, import.meta.url))
  let child: ChildProcess
  let isStopping = false
  let delayMs = restartAtLeastMs
  let timer: NodeJS.Timeout | undefined
  let isReady = false

  const ready = new Promise<void>((resolve, reject) => {
    const start = () => {
      const startedAtMs = Date.now()
      child = fork(path, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      child.on('message', () => {
        isReady = true
        resolve()
      })
      child.on('exit', (code, signal) => {
        if (isStopping) return
        if (!isReady) {
          reject(new ChildFailed(file))
          return
        }
        if (Date.now() - startedAtMs > steadyMs) delayMs = restartAtLeastMs
        log.error({ process: file, code, signal, restartInMs: delayMs }, 'process ended unexpectedly')
        timer = setTimeout(start, delayMs)
        delayMs = Math.min(delayMs * 2, restartAtMostMs)
      })
    }
    start()
  })

  return {
    ready,
    stop: async () => {
      isStopping = true
      clearTimeout(timer)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise(done => child.once('exit', done))
      if (child.connected) child.disconnect()
      const killer = setTimeout(() => child.kill('SIGKILL'), stopMs)
      await ended
      clearTimeout(killer)
    }
  }
}

/** A process ended before it was ready; it has said why on its own. */
export class ChildFailed extends Error {
  constructor(file: string) {
    super(`${file} did not start`)
  }
}

/** Tells the process that keeps this one running that it is ready. */
export function tellReady(): void {
  process.send?.('ready')
}
