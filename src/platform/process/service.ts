import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

import { DeadlineExceeded, withDeadline } from '../runtime/deadline.ts'
import { type Logger, redirectConsoleToLog, openLog } from '../runtime/log.ts'
import { ReportedError } from '../runtime/operator-error.ts'
import type { Outages } from '../runtime/outages.ts'
import { isStoreUnavailable, describeError, toOperatorError } from '../runtime/store-errors.ts'
import { openSystemdNotifier } from './systemd.ts'

/** Closes what was opened, last opened first. */
export function openReleasers(log: Logger) {
  const releases: { name: string; release: () => unknown; timeoutMs: number }[] = []
  return {
    /** Registers how to close something, and how long that may take. */
    defer(name: string, release: () => unknown, timeoutMs = 2_000): void {
      releases.push({ name, release, timeoutMs })
    },
    /** Closes everything. Errors are logged. */
    async release(): Promise<void> {
      for (let next = releases.pop(); next; next = releases.pop()) {
        const { name, release, timeoutMs } = next
        try {
          await withDeadline(timeoutMs, name, async () => release())
        } catch (error) {
          // The stack of a timer says nothing.
          const details = error instanceof DeadlineExceeded ? { reason: error.message } : { err: error }
          log.warn(details, `closing ${name}`)
        }
      }
    }
  }
}

interface ServiceContext<Config> {
  readonly config: Config
  readonly log: Logger
  /** Registers how to probe a store that was opened. */
  readonly outages: Outages
  /** Closed when the process stops, or when its start fails. */
  readonly opened: ReturnType<typeof openReleasers>
  /** Aborted when the process stops, also during the start. */
  readonly signal: AbortSignal
}

/** Ctrl-C and parents may signal a process twice: signals this close together count once. */
const sameSignalMs = 500
/** How long a start that was interrupted may take to end. */
const startEndsMs = 1_500
const stopMs = 4_500
/** Short, so that a supervisor restarts the process soon. */
const stopAfterFaultMs = 1_000
/** On few cores the garbage collector's threads compete with Postgres, and the process waits for them. */
const fewCores = 4

/**
 * Runs a process until SIGTERM, SIGINT, SIGHUP or the exit of its parent (exit 0), or until an uncaught
 * exception (logged, exit 1). Then closes what was opened. A second signal, or the timeout (4.5 seconds plus
 * `DRAIN_SECONDS`; 1 second after an exception), ends the process at once.
 */
export async function runService<
  Config extends { readonly LOG_LEVEL: string; readonly DRAIN_SECONDS: number }
>(
  name: string,
  parseConfig: (env: NodeJS.ProcessEnv) => Config,
  start: (context: ServiceContext<Config>) => Promise<void>
): Promise<void> {
  if (availableParallelism() <= fewCores) setFlagsFromString('--no-parallel-scavenge')
  await runEntry(async () => {
    const config = parseConfig(process.env)
    const { log, outages } = await openLog(name, config.LOG_LEVEL)
    redirectConsoleToLog(log)
    const opened = openReleasers(log)
    const systemd = openSystemdNotifier(process.env, log)
    const stopping = new AbortController()
    let starting = Promise.resolve()
    let stoppingSinceMs = 0
    let exitCode = 0

    const stop = (code: number, timeoutMs = stopMs + config.DRAIN_SECONDS * 1_000) => {
      exitCode = Math.max(exitCode, code)
      if (stopping.signal.aborted) return
      stoppingSinceMs = Date.now()
      stopping.abort()
      systemd.stopping()
      setTimeout(() => process.exit(1), timeoutMs).unref()
      void withDeadline(startEndsMs, 'the start', () => starting)
        .catch(() => {})
        .then(() => opened.release())
        .then(() => process.exit(exitCode))
    }
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (stopping.signal.aborted && Date.now() - stoppingSinceMs > sameSignalMs) process.exit(1)
        stop(0)
      })
    }
    process.on('uncaughtException', error => {
      if (!stopping.signal.aborted) log.fatal({ err: error }, 'stopping after an unexpected fault')
      stop(1, stopAfterFaultMs)
    })
    process.on('disconnect', () => stop(0))
    // The parent may have exited while this process was loading.
    if ('connected' in process && !process.connected) return stop(0)

    starting = start({ config, log, outages, opened, signal: stopping.signal })
    try {
      await starting
      if (!stopping.signal.aborted) systemd.ready()
    } catch (error) {
      // An interrupted start fails because of the interruption.
      if (stopping.signal.aborted) return
      await opened.release()
      throw error
    }
  })
}

/** Runs an entry file. Prints errors, those that the operator can solve on one line, and exits with 1. */
async function runEntry(main: () => Promise<void>): Promise<void> {
  // Keeps running when the reader of the output exits (`npm start | head`).
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    await main()
  } catch (error) {
    if (!(error instanceof ReportedError)) process.stderr.write(`cuewire: ${explain(error)}\n`)
    process.exit(1)
  }
}

function explain(error: unknown): string {
  const known = toOperatorError(error)
  if (known !== null) return known.message
  if (isStoreUnavailable(error))
    return `Postgres or Redis became unreachable during the start (${describeError(error)}): try again`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
