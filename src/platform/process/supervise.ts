import { setTimeout as sleep } from 'node:timers/promises'

import { type BackoffOptions, openBackoff } from '../runtime/repeat.ts'
import { describeError } from '../runtime/store-errors.ts'

/** A running program. */
export interface SupervisedProgram {
  /** Resolves when it has ended, for any reason. */
  readonly exited: Promise<unknown>
  /** Explains why it ended. */
  readonly lastOutput: () => string
  readonly stop: () => Promise<void>
}

/** Why a program is down, and when it is restarted: 0 for immediately. */
export interface ProgramOutage {
  readonly cause: 'ended' | 'not-started'
  /** Its last output, or why it could not be started. */
  readonly output: string
  readonly retryMs: number
}

interface SuperviseOptions extends BackoffOptions {
  /** Called before each restart. */
  readonly onOutage: (outage: ProgramOutage) => void
  /** Once aborted, a first start is aborted and nothing is restarted. A running program continues. */
  readonly life: AbortSignal
}

/**
 * Starts a program and restarts it with a growing delay whenever it ends, until `stop`. `start` gets the
 * first program on restarts, and must reject soon after its signal is aborted. Rejects if the first start
 * fails.
 */
export async function superviseProgram<Program extends SupervisedProgram>(
  start: (signal: AbortSignal, first: Program | null) => Promise<Program>,
  { onOutage, life, ...backoffOptions }: SuperviseOptions
): Promise<{ readonly first: Program; readonly stop: () => Promise<void> }> {
  const stopping = new AbortController()
  const { signal } = stopping
  const abortStart = () => stopping.abort()
  if (life.aborted) abortStart()
  life.addEventListener('abort', abortStart)
  const first = await start(signal, null).finally(() => life.removeEventListener('abort', abortStart))
  const over = AbortSignal.any([signal, life])
  const nextDelayMs = openBackoff(backoffOptions)
  let program = first

  const watch = async () => {
    let startedAtMs = performance.now()
    let failure: unknown = null
    while (!over.aborted) {
      if (failure === null) await program.exited
      if (over.aborted) return
      const retryMs = nextDelayMs(failure === null ? performance.now() - startedAtMs : 0)
      onOutage(
        failure === null
          ? { cause: 'ended', output: program.lastOutput(), retryMs }
          : { cause: 'not-started', output: describeError(failure), retryMs }
      )
      try {
        await sleep(retryMs, undefined, { signal: over })
        program = await start(signal, first)
        startedAtMs = performance.now()
        failure = null
      } catch (error) {
        failure = error
      }
    }
  }
  const watching = watch()
  return {
    first,
    stop: async () => {
      stopping.abort()
      await program.stop()
      await watching
    }
  }
}
