import { ApiError } from '../errors.ts'
import type { JsonSchema } from '../fields/field.ts'
import { renderStation } from '../station/now-playing.ts'
import type { StationState } from '../station/state.ts'
import { mayListenTo } from './access.ts'
import { type ApiRequest, type ApiRoute, json, type Reply } from './route.ts'
import type { ApiServices } from './services.ts'

/*
 * The public reads, answered from memory. A private station exists only for a caller with a key that may see it; a
 * wrong key on a public station is ignored.
 */

type Respond = (state: StationState, services: ApiServices) => Reply

const reading = (
  path: string,
  operation: { id: string; summary: string; answer: JsonSchema },
  respond: Respond
): ApiRoute => ({
  method: 'GET',
  path,
  access: 'public',
  operation: { tag: 'Now playing', ...operation },
  handle(request, services) {
    const state = services.live.get(request.params['station_id'] ?? '')
    if (!state) throw new ApiError('not-found')
    if (state.profile.isPublic) return respond(state, services)
    return respondPrivately(respond, state, request, services)
  }
})

async function respondPrivately(
  respond: Respond,
  state: StationState,
  { apiKey, address }: ApiRequest,
  services: ApiServices
) {
  const key = await services.keys.listener(apiKey, address)
  // It may have been deleted meanwhile.
  if (!key || !mayListenTo(key, state.stationId) || !services.live.get(String(state.stationId)))
    throw new ApiError('not-found')
  return { ...respond(state, services), headers: { 'Cache-Control': 'private, no-store' } }
}

const nowPlaying = { $ref: '#/components/schemas/NowPlaying' }
const summary = { $ref: '#/components/schemas/StationSummary' }

const document: Respond = (state, { live }) => ({ body: live.document(state) })

const list: ApiRoute = {
  method: 'GET',
  path: '/api/nowplaying',
  access: 'public',
  operation: {
    id: 'listNowPlaying',
    tag: 'Now playing',
    summary: 'What all stations play',
    answer: { type: 'array', items: nowPlaying }
  },
  handle(request, services) {
    if (request.apiKey === '') return { body: services.live.publicDocuments() }
    return listVisible(request, services)
  }
}

const stations: ApiRoute = {
  method: 'GET',
  path: '/api/stations',
  access: 'public',
  operation: {
    id: 'listStationSummaries',
    tag: 'Now playing',
    summary: 'All stations',
    answer: { type: 'array', items: summary }
  },
  async handle(request, services) {
    const states = await visible(request, services)
    return json(states.map(state => renderStation(state, services.config.BASE_URL)))
  }
}

async function listVisible(request: ApiRequest, services: ApiServices): Promise<Reply> {
  const states = await visible(request, services)
  if (states.every(state => state.profile.isPublic)) return { body: services.live.publicDocuments() }
  const documents = states.map(state => Buffer.from(services.live.document(state)).toString())
  return { body: `[${documents.join(',')}]`, headers: { 'Cache-Control': 'private, no-store' } }
}

/** The public stations, and the private ones that the key may see. */
async function visible(
  { apiKey, address }: ApiRequest,
  { live, keys }: ApiServices
): Promise<StationState[]> {
  const key = await keys.listener(apiKey, address)
  const isVisible = ({ profile, stationId }: StationState) =>
    profile.isPublic || (key !== null && mayListenTo(key, stationId))
  return live.all().filter(isVisible)
}

export const nowPlayingRoutes = [
  list,
  reading(
    '/api/nowplaying/:station_id',
    { id: 'getNowPlaying', summary: 'What a station plays', answer: nowPlaying },
    document
  ),
  stations,
  reading(
    '/api/station/:station_id/nowplaying',
    { id: 'getStationNowPlaying', summary: 'The same, below the path of the station', answer: nowPlaying },
    document
  ),
  reading(
    '/api/station/:station_id',
    { id: 'getStationSummary', summary: 'A station', answer: summary },
    (state, { config }) => json(renderStation(state, config.BASE_URL))
  )
]
