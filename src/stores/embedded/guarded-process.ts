import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { readProcessStart, sendSignal, waitForExit } from './process-identity.ts'

// The shell (the guard) starts the program and a watcher, which reads a pipe that only this process holds
// open. When this process exits, the pipe closes and the watcher signals the program, repeatedly because a
// program that has just started has no signal handler yet, and kills it after 5 seconds. The shell returns
// the exit code of the program. The guard ignores signals to the whole group, so that it does not exit before
// the program. It ignores them only after starting the program, which would inherit ignored signals, but not
// trapped ones.
const script = `
graceful=$1; shift
trap : HUP INT TERM PIPE
exec 4<&0 </dev/null
"$@" 3>&- 4<&- &
service=$!
trap '' HUP INT TERM PIPE
echo "$service" >&3
exec 3>&-
(
  read -r _ <&4
  for _ in 1 2 3 4 5 6 7 8 9 10; do kill -s "$graceful" "$service" || exit; sleep 0.5; done
  kill -s KILL "$service"
) >/dev/null 2>&1 &
watcher=$!
exec 4<&-
wait "$service"
code=$?
kill -s KILL "$watcher" 2>/dev/null
exit "$code"
`

const stopMs = 5_000
const keptLines = 40
const keptBytes = 8_192

/** A running program that ends with this process. */
export interface GuardedProcess {
  /** Of the program, not of its guard. */
  readonly pid: number
  /** Resolves with the exit code (128 + n for a signal), or null if the guard was killed. */
  readonly exited: Promise<number | null>
  readonly hasExited: () => boolean
  /** The last lines that it wrote. */
  readonly lastOutput: () => string
  /** Stops the program, after 5 seconds with SIGKILL. Idempotent. */
  readonly stop: () => Promise<void>
}

interface GuardOptions {
  /** The signal for a graceful stop. */
  readonly stopSignal: 'INT' | 'TERM'
  readonly cwd: string
  readonly uid?: number
  readonly gid?: number
  /** Stops the program when aborted, also during its start. */
  readonly signal?: AbortSignal | undefined
}

/** Starts a program in its own session, out of reach of Ctrl-C, without our environment and its secrets. */
export async function startGuardedProcess(
  command: readonly string[],
  { stopSignal, signal, ...where }: GuardOptions
): Promise<GuardedProcess> {
  const child = spawn('/bin/sh', ['-c', script, 'cuewire-guard', stopSignal, ...command], {
    ...where,
    detached: true,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe']
  })
  let output = ''
  const append = (chunk: Buffer) => void (output = keepLastOutput(output + chunk.toString('utf8')))
  child.stdout.on('data', append)
  child.stderr.on('data', append)
  // Writing to a guard that has exited fails. Its exit is handled below.
  child.stdin.on('error', () => {})

  let isOver = false
  const exited = new Promise<number | null>(resolve => {
    child.once('error', () => resolve(null))
    // Output may still arrive after the exit. A program that outlives its guard keeps the pipe open.
    child.once('exit', code => setTimeout(() => resolve(code), 500))
    child.once('close', code => resolve(code))
  }).finally(() => (isOver = true))

  const pid = Number(await readAll(child.stdio[3]))
  if (!Number.isInteger(pid) || pid <= 0) throw new OperatorError(`cannot start ${command[0]}: ${output}`)
  const start = await readProcessStart(pid)

  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    child.stdin.end()
    if (start === undefined || (await waitForExit(pid, start, stopMs))) return void (await exited)
    sendSignal(pid, 'SIGKILL')
    await Promise.race([exited, sleep(stopMs, undefined, { ref: false })])
  }
  const stopOnce = () => (stopping ??= stop())
  const abort = () => void stopOnce()
  signal?.addEventListener('abort', abort)
  void exited.then(() => signal?.removeEventListener('abort', abort))
  if (signal?.aborted) abort()
  return { pid, exited, hasExited: () => isOver, lastOutput: () => output, stop: stopOnce }
}

/** Keeps the last 40 lines and 8 KB. */
export function keepLastOutput(text: string): string {
  return text.slice(-keptBytes).split('\n').slice(-keptLines).join('\n')
}

/** Joins the last five lines that are not blank, for an error message. */
export function summarizeOutput(output: string): string {
  const lines = output.split('\n').map(line => line.trim())
  return lines.filter(Boolean).slice(-5).join(' | ') || 'no output'
}

async function readAll(pipe: unknown): Promise<string> {
  if (!(pipe instanceof Readable)) return ''
  let text = ''
  try {
    for await (const chunk of pipe) text += String(chunk)
  } catch {
    return ''
  }
  return text
}
