import { spawn } from 'node:child_process'

import type { Logger } from '../runtime/log.ts'

/**
 * Sends systemd the state of this process if a unit with `Type=notify` runs it. Node.js has no datagram sockets of
 * Unix, so each message is a run of systemd-notify, which takes some milliseconds outside of this process.
 */
export interface SystemdNotifier {
  /** The start is complete. From now on, the unit's `WatchdogSec` applies. */
  readonly ready: () => void
  readonly stopping: () => void
}

const withoutSystemd: SystemdNotifier = { ready: () => {}, stopping: () => {} }

/** A message may be late, and the program may be missing for a moment during its upgrade. */
const messagesPerWatchdog = 3
/** While the process starts, which may include a migration. A fraction of systemd's default TimeoutStartSec. */
const startMessageMs = 10_000

/**
 * Sends a sign of life from the event loop at a third of the interval of the watchdog: a process whose event loop
 * stands still is restarted by systemd, one that waits for Postgres or Redis is not. During the start, the signs extend
 * the time for it. Removes the variables of systemd from the environment, so that child processes do not send for this
 * one.
 */
export function openSystemdNotifier(env: NodeJS.ProcessEnv, log: Logger): SystemdNotifier {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs, WATCHDOG_PID: watchdogPid } = env
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name]
  if (!socket) return withoutSystemd
  const isWatched = watchdogUs !== undefined && Number(watchdogPid ?? process.pid) === process.pid
  const watchdogMs = isWatched ? Number(watchdogUs) / 1_000 : Infinity

  let hasFailed = false
  const report = (reason: string | null) => {
    if (reason !== null && !hasFailed) log.warn({ reason }, 'systemd-notify failed')
    hasFailed = reason !== null
  }
  const send = (state: string) => {
    spawn('systemd-notify', [state], { env: { ...env, NOTIFY_SOCKET: socket }, stdio: 'ignore' })
      .once('error', error => report(error.message))
      .once('exit', (code, signal) => report(code === 0 ? null : `it ended with ${signal ?? code}`))
      .unref()
  }
  const repeat = (ms: number, state: string) => setInterval(send, ms, state).unref()

  let timer = repeat(startMessageMs, `EXTEND_TIMEOUT_USEC=${6 * startMessageMs * 1_000}`)
  return {
    ready: () => {
      clearInterval(timer)
      send('READY=1')
      if (watchdogMs < Infinity) timer = repeat(watchdogMs / messagesPerWatchdog, 'WATCHDOG=1')
    },
    stopping: () => {
      clearInterval(timer)
      send('STOPPING=1')
    }
  }
}
