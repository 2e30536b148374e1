import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

import { OperatorError } from '../errors.ts'
import { hasGone, sendSignal, startOf } from './process-identity.ts'

// The shell starts the service and a watcher, which reads a pipe that only we hold open. However we end, the pipe
// closes, the watcher signals the service until it is gone (one that has just begun does not listen yet), after 5
// seconds by force, and the shell passes the service's exit code on. Signals meant for everybody at once (a service
// manager stopping us) must not end the guard before the service, nor must our end while it writes to us; they are
// ignored only once the service runs, since it would inherit that, but not what is trapped.
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

/** A running program that cannot outlive this process. */
export interface Guarded {
  /** Of the program itself. */
  readonly pid: number
  /** Resolves with the exit code (128 + n for a signal), `null` if the guard itself was killed. */
  readonly exited: Promise<number | null>
  readonly hasExited: () => boolean
  readonly lastOutput: () => string
  /** The graceful signal, then SIGKILL after 5 seconds; resolves when the process is gone. */
  readonly stop: () => Promise<void>
}

export interface GuardOptions {
  /** The signal that asks the program to end in good order. */
  stopSignal: 'INT' | 'TERM'
  cwd: string
  uid?: number
  gid?: number
  /** Stops the program when it is aborted, also while it still starts. */
  signal?: AbortSignal | undefined
}

/**
 * Starts a program in a session of its own, so that Ctrl-C on our terminal does not reach it. It sees little of
 * our environment, which may hold secrets. Throws an `OperatorError` if not even the guard can be started.
 */
export async function startGuarded(command: readonly string[], options: GuardOptions): Promise<Guarded> {
  const { stopSignal, signal, ...where } = options
  const child = spawn('/bin/sh', ['-c', script, 'cuewire-guard', stopSignal, ...command], {
    ...where,
    detached: true,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe']
  })
  let output = ''
  const keep = (chunk: Buffer): void => {
    output = tailOf(output + chunk.toString('utf8'))
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  // Writing to a guard that just ended fails; its end is noticed by `exit`.
  child.stdin.on('error', () => {})

  let gone = false
  const exited = new Promise<number | null>(resolve => {
    child.once('error', () => resolve(null))
    // What the service wrote last may still be under way; what outlives a killed guard keeps the pipe open.
    child.once('exit', code => setTimeout(() => resolve(code), 500))
    child.once('close', code => resolve(code))
  }).finally(() => {
    gone = true
  })

  const pid = await firstLine(child.stdio[3]).then(Number)
  if (!Number.isInteger(pid) || pid <= 0) throw new OperatorError(`cannot start ${command[0]}: ${output}`)
  const start = await startOf(pid)

  const stop = async (): Promise<void> => {
    child.stdin.end()
    if (start === undefined) return void (await exited)
    if (await hasGone(pid, start, stopMs)) return void (await exited)
    sendSignal(pid, 'SIGKILL')
    await Promise.race([exited, sleep(stopMs, undefined, { ref: false })])
  }
  let stopping: Promise<void> | undefined
  const stopOnce = () => (stopping ??= stop())
  const abort = () => void stopOnce()
  signal?.addEventListener('abort', abort)
  void exited.then(() => signal?.removeEventListener('abort', abort))
  if (signal?.aborted) abort()
  return {
    pid,
    exited,
    hasExited: () => gone,
    lastOutput: () => output,
    stop: stopOnce
  }
}

/** The last lines of a text, at most 40 and 8 KB. */
export function tailOf(text: string): string {
  return text.slice(-keptBytes).split('\n').slice(-keptLines).join('\n')
}

/** The last few lines with something in them, as one line for an error message. */
export function inOneLine(output: string): string {
  const lines = output.split('\n').map(line => line.trim())
  return lines.filter(Boolean).slice(-5).join(' | ') || 'it wrote nothing'
}

async function firstLine(pipe: unknown): Promise<string> {
  if (!(pipe instanceof Readable)) return ''
  let line = ''
  try {
    for await (const chunk of pipe) line += String(chunk)
  } catch {
    return ''
  }
  return line.trim()
}
