import { ApiError } from '../../runtime/errors.ts'
import type { StationState } from '../../station/state.ts'
import type { ApiRequest } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { maySeeStation } from './access.ts'

/** Who asks a public route about which station. */
export interface PublicRequest {
  readonly name: string
  readonly apiKey: string
  readonly address: string
}

/** The visit that a request to a station's public route is. */
export const publicRequestOf = ({ params, apiKey, address }: ApiRequest): PublicRequest => ({
  name: params['station_id'] ?? '',
  apiKey,
  address
})

/**
 * The station of a visit. Throws 404 where there is none; a private one is there only for a key that may see
 * it.
 */
export async function findVisibleStation(
  { name, apiKey, address }: PublicRequest,
  { live, keys }: Pick<ApiServices, 'live' | 'keys'>
): Promise<StationState> {
  const shown = live.get(name)
  if (shown?.profile.isPublic) return shown
  // A key is looked at for an unknown station as well, or the time it takes would tell it from a private one.
  const key = await keys.listener(apiKey, address)
  // It may have been deleted meanwhile.
  const found = live.get(name)
  if (!found) throw new ApiError('not-found')
  const { stationId: id, profile } = found
  if (!maySeeStation(key, { id, isPublic: profile.isPublic })) throw new ApiError('not-found')
  return found
}
