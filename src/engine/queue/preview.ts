import { simulatePlays, type SimulatedPlay } from '../../model/autodj/simulate.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { runInTimeSlices } from '../../platform/runtime/time-slices.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { readQueueContextUnlocked } from '../queue-context.ts'
import { nextPlayAtMs } from '../station-facts.ts'

export interface QueuePreviewLimits {
  readonly untilMs: number
  readonly playsAtMost: number
  /** Returns false after the client disconnected. */
  readonly isWanted: () => boolean
}

/** Length of a time slice. */
const sliceMs = 4
/** Time limit of the whole preview. */
const timeoutMs = 10_000

/** Returns what a station will play if nothing changes, in time slices; null for an unknown station. */
export async function previewQueue(
  sql: Sql,
  stationId: number,
  { untilMs, playsAtMost, isWanted }: QueuePreviewLimits
) {
  const nowMs = engineTimeMs()
  const context = await sql.begin('isolation level repeatable read read only', tx =>
    readQueueContextUnlocked(tx, stationId, nowMs)
  )
  if (!context) return null
  if (!context.autodj.hasAutodj) return []
  const { autodj, play, queue, library } = context
  const endsAtMs =
    play === null ? nowMs : Math.max(nowMs, play.dueAtMs ?? nextPlayAtMs(play, autodj.overlapMs))
  const plays: SimulatedPlay[] = []
  const deadline = performance.now() + timeoutMs
  const simulated = simulatePlays({
    library,
    queue,
    startedAtMs: play?.startedAtMs ?? nowMs,
    fromMs: endsAtMs,
    queueLength: autodj.queueLength,
    nextSeq: autodj.nextSeq
  })
  await runInTimeSlices(sliceMs, () => {
    const { done, value: next } = simulated.next()
    if (done === true || next.startsAtMs >= untilMs || plays.length >= playsAtMost) return false
    plays.push(next)
    return performance.now() < deadline && isWanted()
  })
  return plays
}
