import { type AdvanceResult, decideStart } from './advance.ts'
import { type BatchResult, changeStations, type StationChange } from './change-station.ts'
import { type QueueReads, readForQueues, readQueueContext } from './queue-context.ts'
import { isLibraryCurrent } from './queue/libraries.ts'
import type { PlayoutServices } from './services.ts'
import { planStep, statementsOfSteps, stepWithoutPlanning, type Step } from './step.ts'

/** A play that is due. */
export interface DuePlay {
  readonly stationId: number
  readonly shId: number
}

/**
 * Ends due plays of different stations, like `advance`, in one transaction. Stations that would delay or fail
 * the others are unchanged and have no result: those that are locked, wait for the report of a playout, need
 * a library that has to be read, or cannot be planned.
 */
export async function advanceBatch(
  services: PlayoutServices,
  plays: readonly DuePlay[]
): Promise<BatchResult<AdvanceResult>> {
  const shIdOf = new Map(plays.map(({ stationId, shId }) => [stationId, shId]))
  return changeStations(services, [...shIdOf.keys()], {
    reads: (tx, stationIds) => readForQueues(tx, stationIds, services.libraries),
    change: async (changes, reads) => {
      const planned = await Promise.all(
        changes.map(change => {
          const { id } = change.station
          return planAdvance(change, shIdOf.get(id) ?? 0, reads.get(id))
        })
      )
      const steps = planned.flatMap(each => each?.step ?? [])
      changes[0]?.send(statementsOfSteps(changes[0].tx, steps))
      return new Map(planned.flatMap(each => (each ? [[each.stationId, each.result]] : [])))
    }
  })
}

interface PlannedAdvance {
  readonly stationId: number
  readonly result: AdvanceResult
  readonly step: Step | null
}

/** Plans the end of a due play. Null: the station has to advance alone. */
async function planAdvance(
  change: StationChange,
  endedShId: number,
  reads: QueueReads | undefined
): Promise<PlannedAdvance | null> {
  const { station, services } = change
  const stationId = station.id
  const startMs = decideStart(change, { endedShId, cause: 'due' })
  if (typeof startMs !== 'number') return { stationId, result: startMs, step: null }
  if (!station.isClocked || !reads) return null
  try {
    const asPlanned = stepWithoutPlanning(change, reads, startMs)
    if (!asPlanned && !isLibraryCurrent(services.libraries, reads.autodj)) return null
    const step = asPlanned ?? planStep(change, await readQueueContext(change, reads), startMs)
    return { stationId, result: { outcome: step ? 'advanced' : 'silent', earlyByMs: 0 }, step }
  } catch {
    // It advances alone, and fails there without affecting the others.
    return null
  }
}
