import { ApiError } from '../../runtime/errors.ts'
import type { StationState } from '../../station/state.ts'
import type { ApiRequest } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { maySeeStation } from './access.ts'

/** The station that a public request names, with the request's key and address; nothing is checked yet. */
export type StationLookup = ReturnType<typeof stationLookupOf>

export const stationLookupOf = ({ params, apiKey, address }: ApiRequest) =>
  ({ name: params['station_id'] ?? '', apiKey, address }) as const

/** Finds the station of a public request. Throws 404 if it does not exist or the key may not see it. */
export async function getVisibleStation(
  { name, apiKey, address }: StationLookup,
  { live, keys }: Pick<ApiServices, 'live' | 'keys'>
): Promise<StationState> {
  const station = live.get(name)
  if (station?.profile.isPublic) return station
  // Also for an unknown station: otherwise the time of the response would reveal private ones.
  const key = await keys.findOptional(apiKey, address)
  // Read again: it may have changed while the key was checked.
  const current = live.get(name)
  const isVisible =
    current && maySeeStation(key, { id: current.stationId, isPublic: current.profile.isPublic })
  if (!isVisible) throw new ApiError('not-found')
  return current
}
