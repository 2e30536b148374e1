import { type ChildProcess, fork } from 'node:child_process'

import { OperatorError, ReportedError } from './errors.ts'
import type { Logger } from './log.ts'
import { builtFile } from './program-files.ts'

const restartAtLeastMs = 500
const restartAtMostMs = 10_000
const steadyMs = 30_000

export interface Child {
  /** Settles when the process says it is ready; rejects if its first start fails. */
  readonly ready: Promise<void>
  stop(): Promise<void>
}

export interface ChildOptions {
  readonly env: NodeJS.ProcessEnv
  readonly log: Logger
  /** One that was told to stop gets this long before it is killed. */
  readonly stopMs: number
}

/**
 * Keeps a process of this program running: one that ends unasked is started again, soon at first and later if
 * it keeps ending. `file` is its path in the build, like `src/server.js`. It is told to stop by closing its
 * channel, which also happens when this process is killed.
 */
export function superviseChild(name: string, file: string, { env, log, stopMs }: ChildOptions): Child {
  const program = builtFile(file)
  let child: ChildProcess
  let isReady = false
  let isStopping = false
  let delayMs = restartAtLeastMs
  let timer: NodeJS.Timeout | undefined

  const ready = new Promise<void>((resolve, reject) => {
    let wasReady = false
    const start = () => {
      const startedAtMs = Date.now()
      isReady = false
      child = fork(program, {
        env: { ...env, [keptMark]: '1' },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc']
      })
      child.on('message', () => {
        isReady = true
        wasReady = true
        resolve()
      })
      // One that cannot be killed or written to any more is about to exit.
      child.on('error', () => {})
      child.on('exit', (code, signal) => {
        if (isStopping) return
        // A process that fails on its own says why.
        if (!wasReady && code === 1) return reject(new ReportedError(`${name} did not start`))
        if (!wasReady)
          return reject(new OperatorError(`the ${name} process ended (${signal ?? code}) during its start`))
        if (Date.now() - startedAtMs > steadyMs) delayMs = restartAtLeastMs
        log.error({ code, signal }, `${name} process has ended; starting it again in ${delayMs / 1_000} s`)
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
      // One that is still loading does not look at its channel yet.
      if (!isReady) child.kill()
      else if (child.connected) child.disconnect()
      const killer = setTimeout(() => child.kill('SIGKILL'), stopMs)
      await ended
      clearTimeout(killer)
    }
  }
}

/** Set in the environment of processes that `keepRunning` starts. */
const keptMark = 'CUEWIRE_KEPT'

/**
 * Reports to the process that keeps this one running that it is ready. A process that runs by itself logs it.
 */
export function reportReady(log: Logger, about: Readonly<Record<string, unknown>> = {}): void {
  process.send?.('ready')
  log[process.env[keptMark] === undefined ? 'info' : 'debug'](about, 'ready')
}
