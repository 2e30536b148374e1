import { setTimeout as sleep } from 'node:timers/promises'

import { openDueAdvances } from '../src/engine/due-advances.ts'
import type { PlayoutServices } from '../src/engine/services.ts'
import { isolate } from '../src/platform/isolation/for-each-station.ts'
import { stepLateness } from '../src/platform/metrics/engine.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import { repeat } from '../src/platform/runtime/repeat.ts'
import type { SlowLog } from '../src/platform/runtime/slow-log.ts'
import type { ScheduledPlay } from '../src/stores/jobs/scheduled-plays.ts'

/**
 * An advance that is earlier is scheduled again, or the time of this process is wrong: the sweep repairs it.
 */
const maxEarlyMs = 2_000

/** Plays are taken this long before they are due, and wait in this process until the exact millisecond. */
const leadMs = 250
/** Interval of polls: a play that is scheduled shortly before its end may be this late. */
const pauseMs = 100
/** Maximum number of plays that were taken and have not ended; the others are left to other processes. */
const runningAtMost = 500

/** Ends plays on time. */
export function startAdvanceWorker(services: PlayoutServices, slowLog: SlowLog) {
  const { log, scheduledPlays } = services
  const due = openDueAdvances(services)
  const running = new Set<Promise<void>>()

  async function end(play: ScheduledPlay): Promise<void> {
    const { outcome, earlyByMs } = await due.advance(play)
    if (outcome === 'advanced') measureStep(play)
    if (outcome !== 'not-due' || earlyByMs > maxEarlyMs) return
    // The time of this process is ahead of that of Postgres.
    await sleep(earlyByMs)
    const again = await due.advance(play)
    if (again.outcome === 'advanced') measureStep(play)
  }

  /** The next song is published. */
  function measureStep({ stationId, shId, dueAtMs }: ScheduledPlay): void {
    const lateMs = Math.max(0, engineTimeMs() - dueAtMs)
    stepLateness.observe(lateMs / 1_000)
    slowLog.note('step', lateMs, () => ({ station: stationId, play: shId }))
  }

  function start(play: ScheduledPlay): void {
    const run = isolate(services, 'songs', play.stationId, () => end(play))
      .then(() => {})
      .catch((error: unknown) => log.warn({ err: error, play }, 'advance failed; retrying'))
      .finally(() => running.delete(run))
    running.add(run)
  }

  const taking = repeat(
    async () => {
      const room = runningAtMost - running.size
      if (room > 0) for (const play of await scheduledPlays.take(engineTimeMs() + leadMs, room)) start(play)
    },
    { pauseMs, log, failure: 'taking due plays failed' }
  )
  return {
    close: async () => {
      await taking.stop()
      await Promise.all(running)
    }
  }
}
