import { grantsListening, type StationVisibility } from '../../model/station/listen-grant.ts'
import type { StationState } from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { ApiRequest } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { maySeeStation } from './access.ts'
import type { KeyChecker } from './key-checker.ts'
import { isListenToken, type ListenTokens } from './listen-tokens.ts'

/** The credential of a public request; nothing is checked yet. */
export interface RequestCredential {
  /** An API key, a session or a listen token; empty without one. */
  readonly apiKey: string
  readonly address: string
  /** Whether the request only reads: listen tokens are valid for nothing else. */
  readonly isRead: boolean
}

/** The station that a public request names, with the credential of the request. */
export interface StationLookup extends RequestCredential {
  readonly name: string
}

export const toRequestCredential = ({ apiKey, address, method }: ApiRequest): RequestCredential => ({
  apiKey,
  address,
  isRead: method === 'GET' || method === 'HEAD'
})

export const toStationLookup = (request: ApiRequest): StationLookup => ({
  name: request.params['station_id'] ?? '',
  ...toRequestCredential(request)
})

export interface VisibilityDeps {
  readonly keys: Pick<KeyChecker, 'findOptional'>
  readonly listenTokens: Pick<ListenTokens, 'read'>
}

/** Checks a credential. Returns the function that decides which stations it makes visible at that time. */
export async function openVisibilityFilter(
  { apiKey, address, isRead }: RequestCredential,
  { keys, listenTokens }: VisibilityDeps
): Promise<(station: StationVisibility) => boolean> {
  if (isListenToken(apiKey)) {
    const token = isRead ? listenTokens.read(apiKey) : null
    return station => station.isPublic || (token !== null && grantsListening(token, station, engineTimeMs()))
  }
  const key = await keys.findOptional(apiKey, address)
  return ({ stationId: id, isPublic }) => maySeeStation(key, { id, isPublic })
}

/** Finds the station of a public request. Throws 404 if it does not exist or the credential does not show it. */
export async function getVisibleStation(
  { name, ...credential }: StationLookup,
  { live, ...deps }: Pick<ApiServices, 'live'> & VisibilityDeps
): Promise<StationState> {
  if (live.find(name)?.isPublic !== true) {
    // Also for an unknown station: otherwise the time of the response would reveal private ones.
    const isVisible = await openVisibilityFilter(credential, deps)
    // Read now: it may have changed while the key was checked.
    const current = live.find(name)
    if (current === undefined || !isVisible(current)) throw new ApiError('not-found')
  }
  const state = live.findState(name)
  if (state === undefined) throw new ApiError('not-found')
  return state
}
