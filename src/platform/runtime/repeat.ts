import { setTimeout as sleep } from 'node:timers/promises'

import type { Logger } from 'pino'

interface RepeatOptions {
  /** Milliseconds between two runs, plus jitter. */
  readonly pauseMs: number
  readonly log: Logger
  /** The log message of the first failure in a row, which ends with `; retrying`. */
  readonly failure: string
  /** Runs once, after the last run. */
  readonly onStopped?: () => Promise<void>
}

/**
 * Runs `work` repeatedly until `stop`, which waits for the run in flight. Runs never overlap. A failure is
 * logged once until a run succeeds. `work` may return the milliseconds until the next run.
 */
export function repeat(
  work: (signal: AbortSignal) => Promise<number | void>,
  { pauseMs, log, failure, onStopped = async () => {} }: RepeatOptions
) {
  const stopping = new AbortController()
  const { signal } = stopping
  let isFailing = false

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let nextMs = pauseMs
      try {
        nextMs = (await work(signal)) ?? pauseMs
        isFailing = false
      } catch (error) {
        if (!isFailing && !signal.aborted) log.warn({ err: error }, `${failure}; retrying`)
        isFailing = true
      }
      await sleep(withJitter(nextMs), undefined, { signal }).catch(() => {})
    }
    await onStopped()
  }

  const running = run()
  return {
    stop: async (): Promise<void> => {
      stopping.abort()
      await running
    }
  }
}

/** Adds 20 % jitter, so that several processes do not act at the same moment. */
export function withJitter(ms: number): number {
  return Math.round(ms * (0.8 + Math.random() * 0.4))
}

/** A program that ran for longer is restarted without the delay of earlier failures. */
const steadyMs = 30_000

export interface BackoffOptions {
  readonly firstMs: number
  readonly minMs: number
  readonly maxMs: number
}

/** Returns the delay before each restart, with jitter. It doubles until a run has lasted 30 seconds. */
export function openBackoff({ firstMs, minMs, maxMs }: BackoffOptions): (ranMs: number) => number {
  let delayMs = firstMs
  return ranMs => {
    const currentMs = ranMs > steadyMs ? firstMs : delayMs
    delayMs = Math.min(Math.max(currentMs * 2, minMs), maxMs)
    return withJitter(currentMs)
  }
}
