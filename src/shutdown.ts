import { type Config, parseConfig } from './config.ts'
import { withDeadline } from './runtime/deadline.ts'
import { OperatorError, ReportedError } from './runtime/errors.ts'
import { type Logger, openLog } from './runtime/log.ts'
import { isStoreAway, reasonOf } from './runtime/store-errors.ts'

export interface Releasers {
  /**
   * Remembers how to close something that was just opened, and how long that may take: 2 seconds unless told.
   */
  defer(name: string, release: () => unknown, deadlineMs?: number): void
  /** Closes everything, last opened first; faults are logged. */
  release(): Promise<void>
}

export function openReleasers(log: Logger): Releasers {
  const releases: { name: string; release: () => unknown; deadlineMs: number }[] = []
  return {
    defer: (name, release, deadlineMs = 2_000) => void releases.push({ name, release, deadlineMs }),
    async release() {
      for (let next = releases.pop(); next; next = releases.pop()) {
        const { name, release, deadlineMs } = next
        try {
          await withDeadline(deadlineMs, name, async () => release())
        } catch (error) {
          log.warn({ err: error }, `closing ${name}`)
        }
      }
    }
  }
}

/** What a long-running process is given to start with. */
export interface ServiceContext {
  readonly config: Config
  readonly log: Logger
  /** Closed in reverse when the process is told to stop, or when its start fails. */
  readonly opened: Releasers
  /** Aborted when the process is told to stop; a start that is under way gives up then. */
  readonly signal: AbortSignal
}

/**
 * Ctrl-C reaches a whole group of processes, and some of them pass it on: signals this close together are
 * one.
 */
const sameSignalMs = 500
/** How long a start that was told to stop is waited for. */
const giveUpMs = 1_500
const stopMs = 4_500
/** After a fault whoever keeps us running starts us again: the sooner the better. */
const faultMs = 1_000

/**
 * Runs a process that lives until it is told to stop: by SIGTERM, SIGINT, SIGHUP, by the end of the process
 * that started it (exit 0), or by a fault nobody caught (logged, exit 1). What was opened is closed then; a
 * second signal, or 4.5 seconds after `DRAIN_SECONDS` (1 after a fault), end the process at once.
 */
export async function runService(
  name: string,
  start: (life: ServiceContext) => Promise<void>
): Promise<void> {
  await runEntry(async () => {
    const config = parseConfig(process.env)
    const log = await openLog(name, config.LOG_LEVEL)
    const opened = openReleasers(log)
    const stopping = new AbortController()
    let starting = Promise.resolve()
    let stoppingSinceMs = 0
    let exitCode = 0

    const stop = (code: number, deadlineMs = stopMs + config.DRAIN_SECONDS * 1_000) => {
      exitCode = Math.max(exitCode, code)
      if (stopping.signal.aborted) return
      stoppingSinceMs = Date.now()
      stopping.abort()
      setTimeout(() => process.exit(1), deadlineMs).unref()
      void withDeadline(giveUpMs, 'the start', () => starting)
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
      stop(1, faultMs)
    })
    process.on('disconnect', () => stop(0))
    // Whoever started this process may have ended while it was loading.
    if ('connected' in process && !process.connected) return stop(0)

    starting = start({ config, log, opened, signal: stopping.signal })
    try {
      await starting
    } catch (error) {
      // What fails in a start that was told to stop fails because of that.
      if (stopping.signal.aborted) return
      await opened.release()
      throw error
    }
  })
}

/** Runs an entry file: an operator's fault becomes one clear line, anything else a stack; both exit 1. */
async function runEntry(main: () => Promise<void>): Promise<void> {
  // Whoever reads our output may leave (`npm start | head`): that is no reason to stop.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    await main()
  } catch (error) {
    if (!(error instanceof ReportedError)) process.stderr.write(`cuewire: ${explain(error)}\n`)
    process.exit(1)
  }
}

function explain(error: unknown): string {
  if (error instanceof OperatorError) return error.message
  if (isStoreAway(error))
    return `Postgres or Redis went away during the start (${reasonOf(error)}): try again`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
