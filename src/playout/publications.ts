import type { StationState } from '../station/state.ts'
import { publish } from './publish.ts'
import type { PlayoutServices } from './services.ts'

interface Publishing {
  readonly running: Promise<StationState | null>
  /** The one that starts after it. */
  next: Promise<StationState | null> | null
}

/** The publications of a process that are in flight, by station. */
export type Publications = Map<number, Publishing>

export const openPublications = (): Publications => new Map()

/**
 * Publishes a station; concurrent calls are coalesced. A call that comes while a publication is in flight waits for the one after it, which
 * sees what every caller has committed.
 */
export function publishCoalesced(services: PlayoutServices, stationId: number): Promise<StationState | null> {
  const { publications } = services
  const current = publications.get(stationId)
  if (!current) return start()
  current.next ??= current.running.then(start, start)
  return current.next

  async function start(): Promise<StationState | null> {
    const entry: Publishing = { running: publish(services, stationId), next: null }
    publications.set(stationId, entry)
    try {
      return await entry.running
    } finally {
      if (publications.get(stationId) === entry && entry.next === null) publications.delete(stationId)
    }
  }
}
