import { type ChildProcess, fork } from 'node:child_process'

import type { Logger } from '../runtime/log.ts'
import { OperatorError, ReportedError } from '../runtime/operator-error.ts'
import { builtFileUrl, fullVersion } from './program-files.ts'
import { superviseProgram, type SupervisedProgram } from './supervise.ts'

interface ChildOptions {
  readonly env: NodeJS.ProcessEnv
  readonly log: Logger
  /** Time that the process gets to end before it is killed. */
  readonly stopMs: number
  /** Once aborted, a first start is aborted and the process is not restarted. */
  readonly life: AbortSignal
  /** Called with each started process, also after a restart. */
  readonly onStart?: (child: ChildProcess) => void
}

/**
 * Runs a program of the build (`src/server.js`) as a child process and restarts it whenever it exits.
 * Resolves when it is ready; rejects if its first start fails.
 */
export async function superviseChild(name: string, file: string, { log, life, ...options }: ChildOptions) {
  return superviseProgram(signal => startChild(name, file, options, signal), {
    firstMs: 500,
    minMs: 500,
    maxMs: 10_000,
    life,
    onOutage: ({ output, retryMs }) =>
      log.error({ reason: output }, `${name} process exited; restarting it in ${retryMs / 1_000} s`)
  })
}

async function startChild(
  name: string,
  file: string,
  { env, stopMs, onStart }: Pick<ChildOptions, 'env' | 'stopMs' | 'onStart'>,
  signal: AbortSignal
): Promise<SupervisedProgram> {
  signal.throwIfAborted()
  const child = fork(builtFileUrl(file), {
    env: { ...env, [supervisedVariable]: '1' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  // Killing or writing to a process that is about to exit fails. Its exit is handled below.
  child.on('error', () => {})
  onStart?.(child)
  const exited = new Promise<number | string>(resolve =>
    child.once('exit', (code, signalName) => resolve(signalName ?? code ?? 0))
  )
  let isReady = false
  const ready = new Promise<void>(resolve => {
    child.on('message', message => {
      if (message !== readyMessage) return
      isReady = true
      resolve()
    })
  })
  // Closing the channel stops the process, which also happens when this process is killed.
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    // A process that is still loading has no `disconnect` listener yet.
    if (!isReady) child.kill()
    else if (child.connected) child.disconnect()
    const killer = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await exited
    clearTimeout(killer)
  }
  const abort = () => void stop()
  signal.addEventListener('abort', abort)
  void exited.then(() => signal.removeEventListener('abort', abort))
  const lastOutput = () => child.signalCode ?? `exit code ${child.exitCode}`
  const ending = await Promise.race([ready, exited])
  if (ending === undefined) return { exited, lastOutput, stop }
  // A process that exits with 1 has printed the reason.
  if (ending === 1) throw new ReportedError(`${name} did not start`)
  throw new OperatorError(`the ${name} process ended (${ending}) during its start`)
}

/** Set in the environment of processes that `superviseChild` starts. */
const supervisedVariable = 'CUEWIRE_KEPT'

const readyMessage = 'ready'

/** Whether `superviseChild` started this process. */
export const isSupervised = (): boolean => process.env[supervisedVariable] !== undefined

/** Reports to the supervising process that this one is ready. A process without a supervisor logs it. */
export function reportReady(log: Logger, details: Readonly<Record<string, unknown>> = {}): void {
  process.send?.(readyMessage)
  log[isSupervised() ? 'debug' : 'info']({ version: fullVersion, ...details }, 'ready')
}
