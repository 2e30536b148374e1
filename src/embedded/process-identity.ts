import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { OperatorError } from '../runtime/errors.ts'

/**
 * When a process started, as a word that is the same every time it is asked (clock ticks since boot on Linux,
 * Unix seconds elsewhere); `undefined` if there is no such process or only its unreaped remains. Together
 * with the pid it tells a process from a later one that was given the same pid.
 */
export async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    return startInStat(stat)
  }
  const line = await ps(pid, 'stat=,lstart=')
  const [, state = 'Z', started = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
  return state.startsWith('Z') ? undefined : String(Date.parse(started) / 1000)
}

/**
 * Field 22 of `/proc/PID/stat`; `undefined` for a zombie. The name, field 2, may hold spaces and parentheses.
 */
export function startInStat(stat: string): string | undefined {
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? undefined : rest[18]
}

/** The command line of a process, its arguments joined by spaces; empty if there is no such process. */
export async function commandOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') return ps(pid, 'command=')
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return line.replaceAll('\0', ' ').trim()
}

/** Waits until the process that started at `start` is gone. False when it is still there at the deadline. */
export async function hasExited(pid: number, start: string, deadlineMs: number): Promise<boolean> {
  const deadline = Date.now() + deadlineMs
  while ((await startOf(pid)) === start) {
    if (Date.now() > deadline) return false
    await sleep(20)
  }
  return true
}

/**
 * Sends a signal. That the process is gone, or is not ours to signal, is left to whoever waits for its end.
 */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

async function ps(pid: number, format: string): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C' }
  return promisify(execFile)('ps', ['-ww', '-o', format, '-p', String(pid)], { env, timeout: 5_000 }).then(
    result => result.stdout.trim(),
    () => ''
  )
}

/**
 * Ends a service that an earlier, killed Cuewire left running. `isOurs` looks at the command line, since the
 * pid of an old pid file may belong to anybody by now; a stranger is left alone. Resolves when the process is
 * gone: after its graceful signal, or after 10 seconds by SIGKILL.
 */
export async function stopLeftover(
  pid: number,
  signal: 'SIGINT' | 'SIGTERM',
  isOurs: (command: string) => boolean
): Promise<void> {
  const start = await startOf(pid)
  if (start === undefined || !isOurs(await commandOf(pid))) return
  for (const [name, deadlineMs] of [
    [signal, 10_000],
    ['SIGKILL', 3_000]
  ] as const) {
    sendSignal(pid, name)
    if (await hasExited(pid, start, deadlineMs)) return
  }
  throw new OperatorError(`process ${pid} of an earlier start does not end: stop it, then start again`)
}
