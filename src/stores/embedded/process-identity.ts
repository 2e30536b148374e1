import { readFile, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { runCommand } from './run-command.ts'

/**
 * Returns the start time of a process as a string (clock ticks since boot on Linux, Unix seconds elsewhere);
 * undefined for a zombie or if it does not exist. Pid and start time identify a process, since pids are
 * reused.
 */
export async function readProcessStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    return parseProcessStart(stat)
  }
  const line = await readPs(pid, 'stat=,lstart=')
  const [, state = 'Z', started = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
  return state.startsWith('Z') ? undefined : String(Date.parse(started) / 1000)
}

/** Field 22 of `/proc/PID/stat`; undefined for a zombie. The name may contain spaces and parentheses. */
export function parseProcessStart(stat: string): string | undefined {
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? undefined : rest[18]
}

/** The arguments of a process joined by spaces; empty if it does not exist. */
async function readCommandLine(pid: number): Promise<string> {
  if (process.platform !== 'linux') return readPs(pid, 'command=')
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return line.replaceAll('\0', ' ').trim()
}

/** Waits until a process has exited. Returns false if it still runs after the timeout. */
export async function waitForExit(pid: number, start: string, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while ((await readProcessStart(pid)) === start) {
    if (Date.now() > deadline) return false
    await sleep(20)
  }
  return true
}

/** Sends a signal. Ignores errors of the system, such as a process that has exited. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCodeOf(error) === '') throw error
  }
}

async function readPs(pid: number, format: string): Promise<string> {
  const running = runCommand(['ps', '-ww', '-o', format, '-p', String(pid)], { timeoutMs: 5_000 })
  const { stdout } = await running.catch(() => ({ stdout: '' }))
  return stdout.trim()
}

/**
 * Stops a service that an earlier, killed Cuewire left running, and removes its pid file: with its graceful
 * signal, after 10 seconds with SIGKILL. `isOurs` checks the command line, because the pid may have been
 * reused. Throws an `OperatorError` if the process does not end.
 */
export async function stopLeftoverProcess(
  pidFile: string,
  signal: 'SIGINT' | 'SIGTERM',
  isOurs: (command: string) => boolean
): Promise<void> {
  const [line] = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
  const pid = Number(line)
  if (!Number.isInteger(pid) || pid <= 0) return
  await stopProcess(pid, signal, isOurs)
  // Postgres refuses to start if any process has that pid; in a restarted container it may be this one.
  await rm(pidFile, { force: true })
}

async function stopProcess(pid: number, signal: NodeJS.Signals, isOurs: (command: string) => boolean) {
  const start = await readProcessStart(pid)
  if (start === undefined || !isOurs(await readCommandLine(pid))) return
  sendSignal(pid, signal)
  if (await waitForExit(pid, start, 10_000)) return
  sendSignal(pid, 'SIGKILL')
  if (await waitForExit(pid, start, 3_000)) return
  throw new OperatorError(`process ${pid} of an earlier start does not end: stop it, then start again`)
}
