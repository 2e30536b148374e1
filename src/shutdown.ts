import { OperatorError } from './errors.ts'
import type { Logger } from './log.ts'

export interface Releasers {
  /** Remembers how to close something that was just opened. */
  defer(name: string, release: () => unknown): void
  /** Closes everything, last opened first, each with a deadline of 2 seconds; faults are logged. */
  release(): Promise<void>
}

export function openReleasers(log: Logger): Releasers {
  const releases: { name: string; release: () => unknown }[] = []
  return {
    defer: (name, release) => void releases.push({ name, release }),
    async release() {
      for (let next = releases.pop(); next; next = releases.pop()) {
        try {
          await withDeadline(2_000, next.name, async () => next?.release())
        } catch (error) {
          log.warn({ err: error }, `closing ${next.name}`)
        }
      }
    }
  }
}

/** Rejects when `run` has not settled after `ms`. */
export async function withDeadline<T>(ms: number, what: string, run: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([run(), deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** Ctrl-C reaches a whole group of processes, and some of them pass it on: signals this close together are one. */
const sameSignalMs = 500

/**
 * Stops the process on SIGTERM, SIGINT, SIGHUP, or when the process that started it is gone: `release` runs once, then exit
 * 0. A second signal, or 4.5 seconds, end it at once.
 */
export function stopOnSignals(log: Logger, release: () => Promise<void>): void {
  let stoppingSinceMs: number | null = null
  const stop = (reason: string) => {
    if (stoppingSinceMs !== null) {
      if (reason !== 'disconnect' && Date.now() - stoppingSinceMs > sameSignalMs) process.exit(1)
      return
    }
    stoppingSinceMs = Date.now()
    log.debug({ reason }, 'stopping')
    setTimeout(() => process.exit(1), 4_500).unref()
    void release().then(() => process.exit(0))
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  process.on('SIGHUP', () => stop('SIGHUP'))
  process.on('disconnect', () => stop('disconnect'))
}

/** Runs an entry file: an operator's fault becomes one clear line, anything else a stack; both exit 1. */
export async function runEntry(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    const text =
      error instanceof OperatorError ? error.message : error instanceof Error ? error.stack : String(error)
    process.stderr.write(`cuewire: ${text}\n`)
    process.exit(1)
  }
}
