import type { ListenGrant } from '../model/station/listen-grant.ts'
import { openSingleFlight } from '../platform/runtime/coalesce.ts'
import { withDeadline } from '../platform/runtime/deadline.ts'
import type { Logger } from '../platform/runtime/log.ts'

/** `address`: the address of a client that has just sent the key, so that guesses can be limited. */
export type MayListen = (key: string, stationId: number, address?: string) => Promise<boolean>

/** What a listen token grants; null for other keys and invalid tokens. Does not check the expiry. */
export type ReadListenGrant = (key: string) => ListenGrant | null

export type ListenPermissions = ReturnType<typeof openListenPermissions>

/** A check that takes longer is a refusal. */
const timeoutMs = 5_000

/**
 * Checks whether keys may listen to private stations. Concurrent checks of the same key and station are
 * coalesced; nothing is cached, so a revocation takes effect at once.
 */
export function openListenPermissions(mayListen: MayListen, log: Logger) {
  const checkOnce = openSingleFlight<boolean>()

  async function isAllowed(key: string, stationId: number, address?: string): Promise<boolean> {
    const check = () => mayListen(key, stationId, address)
    try {
      return await withDeadline(timeoutMs, 'checking a permission to listen', check)
    } catch (error) {
      log.warn({ err: error, station: stationId }, 'permission to listen could not be checked')
      return false
    }
  }

  const checkCoalesced = (key: string, stationId: number, address?: string) =>
    checkOnce(() => isAllowed(key, stationId, address), `${stationId} ${key}`)

  return {
    /** Returns the stations that the key may listen to. Never rejects: a check that fails is a refusal. */
    among: async (key: string, stationIds: readonly number[], address?: string) => {
      const allowed = await Promise.all(stationIds.map(stationId => checkCoalesced(key, stationId, address)))
      return new Set<number>(stationIds.filter((_, index) => allowed[index]))
    }
  }
}
