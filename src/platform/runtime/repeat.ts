import { setTimeout as sleep } from 'node:timers/promises'

import { createTask, validate } from 'node-cron'
import type { Logger } from 'pino'

/** Runs as soon as it is opened, and again after each pause. A run may return the milliseconds until the next one. */
interface Pauses {
  /** Milliseconds between two runs, plus jitter. */
  readonly pauseMs: number
}

/** Runs at times. One that comes while a run is in flight is left out. */
interface Times {
  /** A cron expression, in UTC. */
  readonly at: string
  /** Maximum random delay, so that several processes do not act at the same moment. */
  readonly jitterMs: number
}

export type RepeatTiming = Pauses | Times

type RepeatOptions = RepeatTiming & {
  readonly log: Logger
  /** The log message of the first failure in a row, which ends with `; retrying`. */
  readonly failure: string
  /** Runs once, after the last run. */
  readonly onStopped?: (() => Promise<void>) | undefined
}

/** `dueAt` is the time of the cron expression, without the delay. */
type Work = (signal: AbortSignal, dueAt: Date) => Promise<number | void>

/**
 * Runs `work` repeatedly until `stop`, which waits for the run in flight. Runs never overlap. A failure is
 * logged once until a run succeeds.
 */
export function repeatWork(
  work: Work,
  { log, failure, onStopped = async () => {}, ...timing }: RepeatOptions
) {
  const stopping = new AbortController()
  const { signal } = stopping
  const isTimed = 'at' in timing
  let isFailing = false

  async function runOnce(dueAt: Date): Promise<number | void> {
    try {
      const nextMs = await work(signal, dueAt)
      isFailing = false
      return nextMs
    } catch (error) {
      if (!isFailing && !signal.aborted)
        log.warn({ err: error }, `${failure}; retrying${isTimed ? ' at the next run' : ''}`)
      isFailing = true
    }
  }

  async function runAfterPauses({ pauseMs }: Pauses): Promise<void> {
    while (!signal.aborted) {
      const nextMs = (await runOnce(new Date())) ?? pauseMs
      await pause(withJitter(nextMs), signal)
    }
  }

  async function runAtTimes({ at, jitterMs }: Times): Promise<void> {
    const nextTimes = openCronTimes(at)
    while (!signal.aborted) {
      const [dueAt] = nextTimes(1)
      if (!dueAt) return
      await pauseUntil(dueAt.getTime(), signal)
      await pause(Math.random() * jitterMs, signal)
      if (!signal.aborted) await runOnce(dueAt)
    }
  }

  const running = (isTimed ? runAtTimes(timing) : runAfterPauses(timing)).then(onStopped)
  return {
    stop: async (): Promise<void> => {
      stopping.abort()
      await running
    }
  }
}

/** Resolves earlier once the signal is aborted. */
const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {})

/** The clock may be set meanwhile, and timers are limited to 24 days. */
const maxSleepMs = 60_000

async function pauseUntil(timeMs: number, signal: AbortSignal): Promise<void> {
  for (let leftMs = timeMs - Date.now(); leftMs > 0 && !signal.aborted; leftMs = timeMs - Date.now())
    await pause(Math.min(leftMs, maxSleepMs), signal)
}

/** Whether `openCronTimes` takes a text. */
export const isCronExpression = (text: string): boolean => validate(text)

/**
 * Returns a function that returns the next times of a cron expression in UTC: seconds (optional), minutes,
 * hours, ...
 */
export function openCronTimes(expression: string): (count: number) => Date[] {
  // The package only computes the times: the task is never started.
  const task = createTask(expression, () => {}, { timezone: 'UTC' })
  return count => task.getNextRuns(count)
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
