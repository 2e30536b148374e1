import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { setTimeout as sleep, setTimeout as wait } from 'node:timers/promises'

import { OperatorError } from '../runtime/errors.ts'
import { hasExited, sendSignal, startOf } from './process-identity.ts'

const retryAtLeastMs = 1_000
const retryAtMostMs = 30_000
/** A service that ran for longer is started again at once. */
const steadyMs = 30_000

/** Why a service is away, and when it is started again: 0 for now. */
export interface ServiceOutage {
  readonly cause: 'ended' | 'not-started'
  /** What it wrote last, or why it could not be started. */
  readonly output: string
  readonly retryMs: number
}

/**
 * Starts a service and starts it again, at the same address, whenever it ends unasked: at once, and then
 * after growing pauses for as long as it ends soon or cannot be started. `onOutage` is called before each
 * attempt. Once `life` is aborted nothing is started any more: a first start in flight is aborted, and a
 * running service goes on until `stop`. Rejects if the first start fails.
 */
export async function supervise(
  start: (options: ServiceOptions) => Promise<EmbeddedService>,
  onOutage: (outage: ServiceOutage) => void,
  life: AbortSignal
): Promise<{ url: string; stop: () => Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  const abortStart = () => stopping.abort()
  life.addEventListener('abort', abortStart)
  let service = await start({ signal }).finally(() => life.removeEventListener('abort', abortStart))
  const { url, port } = service
  const over = AbortSignal.any([signal, life])

  let pauseMs = 0
  const restart = async () => {
    let outage: Omit<ServiceOutage, 'retryMs'> = { cause: 'ended', output: service.lastOutput() }
    while (!over.aborted) {
      const retryMs = Math.round(pauseMs * (0.75 + Math.random() / 2))
      pauseMs = Math.min(Math.max(pauseMs * 2, retryAtLeastMs), retryAtMostMs)
      onOutage({ ...outage, retryMs })
      try {
        await wait(retryMs, undefined, { signal: over })
        service = await start({ port, signal })
        return
      } catch (error) {
        outage = { cause: 'not-started', output: error instanceof Error ? error.message : String(error) }
      }
    }
  }
  const watch = async () => {
    while (!over.aborted) {
      const startedAtMs = performance.now()
      await service.exited
      if (performance.now() - startedAtMs > steadyMs) pauseMs = 0
      await restart()
    }
  }
  const watching = watch()
  return {
    url,
    stop: async () => {
      stopping.abort()
      await service.stop()
      await watching
    }
  }
}

/** How a service is started. */
export interface ServiceOptions {
  /** A free one unless given. */
  readonly port?: number | undefined
  /** Ends it when aborted, also in the middle of its start, which then rejects. */
  readonly signal?: AbortSignal | undefined
}

/** A Postgres or Redis that this process started and that ends with it, however this process ends. */
export interface EmbeddedService extends AsyncDisposable {
  /** Everything a client needs, password included: never log it. */
  readonly url: string
  /** On 127.0.0.1. */
  readonly port: number
  /** Of the service itself, not of the guard around it. */
  readonly pid: number
  /** Resolves when the service ended, asked or unasked. Never rejects. */
  readonly exited: Promise<void>
  /** The last lines the service wrote, for the log after an unasked end. */
  readonly lastOutput: () => string
  /** Ends the service in good order; after 5 seconds by force. Safe to call twice and after it ended. */
  readonly stop: () => Promise<void>
}

// The shell starts the service and a watcher, which reads a pipe that only we hold open. However we end, the
// pipe closes, the watcher signals the service until it is gone (one that has just begun does not listen
// yet), after 5 seconds by force, and the shell passes the service's exit code on. Signals meant for
// everybody at once (a service manager stopping us) must not end the guard before the service, nor must our
// end while it writes to us; they are ignored only once the service runs, since it would inherit that, but
// not what is trapped.
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

interface GuardOptions {
  /** The signal that asks the program to end in good order. */
  stopSignal: 'INT' | 'TERM'
  cwd: string
  uid?: number
  gid?: number
  /** Stops the program when it is aborted, also while it still starts. */
  signal?: AbortSignal | undefined
}

/**
 * Starts a program in a session of its own, so that Ctrl-C on our terminal does not reach it. It sees little
 * of our environment, which may hold secrets. Throws an `OperatorError` if not even the guard can be started.
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
    if (await hasExited(pid, start, stopMs)) return void (await exited)
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
