import { setTimeout as sleep } from 'node:timers/promises'

import type { Logger } from './log.ts'

export interface RepeatOptions {
  /**
   * Milliseconds between two runs; with 20 % jitter, so that several processes do not run at the same moment.
   */
  readonly pauseMs: number
  readonly log: Logger
  /** The log message of the first failure in a row, which ends with `; retrying`. */
  readonly failure: string
  /** Runs once at the end, after the last run. */
  readonly onStopped?: () => Promise<void>
}

/** A loop that can be stopped; `stop` waits for the run in flight. */
export interface Repetition {
  readonly stop: () => Promise<void>
}

/**
 * Runs `work` again and again until it is stopped. A run that takes longer delays the next one. A failure is
 * logged once until a run succeeds. `work` may return the milliseconds until the next run.
 */
export function repeat(
  work: (signal: AbortSignal) => Promise<number | void>,
  { pauseMs, log, failure, onStopped = async () => {} }: RepeatOptions
): Repetition {
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
      await sleep(nextMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => {})
    }
    await onStopped()
  }

  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}
