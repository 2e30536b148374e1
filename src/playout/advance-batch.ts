import { type AdvanceResult, boundaryOf } from './advance.ts'
import { type BatchResult, changeStations, type StationChange } from './change-station.ts'
import { type QueueReads, queueOf, readQueueContext, sendQueueReads } from './queue-context.ts'
import { isCached } from './queue/libraries.ts'
import type { PlayoutServices } from './services.ts'
import { planStep, statementsOfSteps, stepAsPlanned, type Step } from './step.ts'

/** A play that is due. */
export interface DuePlay {
  readonly stationId: number
  readonly shId: number
}

/**
 * Ends due plays of different stations, like `advance`, in one transaction. Stations that would delay the
 * others have no result and are unchanged: they are locked, wait for the report of a playout, or need a library that
 * has to be read.
 */
export async function advanceBatch(
  services: PlayoutServices,
  plays: readonly DuePlay[]
): Promise<BatchResult<AdvanceResult>> {
  const shIdOf = new Map(plays.map(({ stationId, shId }) => [stationId, shId]))
  let reads: QueueReads | null = null
  return changeStations(
    services,
    [...shIdOf.keys()],
    async changes => {
      const planned = await Promise.all(
        changes.map(change => planDue(change, shIdOf.get(change.station.id) ?? 0, reads))
      )
      const steps = planned.flatMap(each => each?.step ?? [])
      changes[0]?.send(statementsOfSteps(changes[0].tx, steps))
      return new Map(planned.flatMap(each => (each ? [[each.stationId, each.result]] : [])))
    },
    (tx, stationIds) => void (reads = sendQueueReads(tx, stationIds, services.libraries))
  )
}

interface PlannedAdvance {
  readonly stationId: number
  readonly result: AdvanceResult
  readonly step: Step | null
}

/** Plans what happens to a due play; null: not in a batch. */
async function planDue(
  change: StationChange,
  endedShId: number,
  reads: QueueReads | null
): Promise<PlannedAdvance | null> {
  const { station, services } = change
  const stationId = station.id
  const startMs = boundaryOf(change, { endedShId, cause: 'due' })
  if (typeof startMs !== 'number') return { stationId, result: startMs, step: null }
  if (!station.isClocked || !reads) return null
  try {
    const asPlanned = stepAsPlanned(change, await queueOf(reads, stationId), startMs)
    if (!asPlanned && !isCached(services.libraries, station)) return null
    const step = asPlanned ?? planStep(change, await readQueueContext(change, reads), startMs)
    return { stationId, result: { outcome: step ? 'advanced' : 'silent', earlyByMs: 0 }, step }
  } catch (error) {
    // Alone, it fails without the others.
    services.log.warn({ err: error, station: stationId }, 'step not planned in a batch; advancing alone')
    return null
  }
}
