import { ApiError } from '../errors.ts'
import { renderStation } from '../station/now-playing.ts'
import type { StationState } from '../station/state.ts'
import type { Keys } from './keys.ts'
import { json, type ApiRequest, type Reply, type Route } from './route.ts'
import type { ApiServices } from './services.ts'

/**
 * The public reads, answered from memory. A private station exists only for a caller with a key; a wrong key on a
 * public station is ignored.
 */
export function nowPlayingRoutes(keys: Keys): Route<ApiServices>[] {
  type Respond = (state: StationState, services: ApiServices) => Reply

  const reading = (path: string, respond: Respond): Route<ApiServices> => ({
    method: 'GET',
    path,
    access: 'public',
    handle({ params, apiKey }, services) {
      const state = services.live.get(params['station_id'] ?? '')
      if (!state) throw new ApiError('not-found')
      if (state.profile.isPublic) return respond(state, services)
      return respondPrivately(respond, state, apiKey, services)
    }
  })

  async function respondPrivately(
    respond: Respond,
    state: StationState,
    apiKey: string,
    services: ApiServices
  ) {
    if (!(await keys.mayListen(apiKey))) throw new ApiError('not-found')
    return { ...respond(state, services), headers: { 'Cache-Control': 'private, no-store' } }
  }

  const visible = async (
    request: ApiRequest,
    services: ApiServices
  ): Promise<readonly StationState[] | null> =>
    (await keys.mayListen(request.apiKey)) ? services.live.all() : null

  return [
    reading('/api/nowplaying/:station_id', (state, { live }) => ({ body: live.document(state) })),
    reading('/api/station/:station_id/nowplaying', (state, { live }) => ({ body: live.document(state) })),
    reading('/api/station/:station_id', (state, { config }) => json(renderStation(state, config.BASE_URL))),
    {
      method: 'GET',
      path: '/api/nowplaying',
      access: 'public',
      handle(request, services) {
        if (request.apiKey === '') return { body: services.live.publicDocuments() }
        return listAll(request, services)
      }
    },
    {
      method: 'GET',
      path: '/api/stations',
      access: 'public',
      async handle(request, services) {
        const states = (await visible(request, services)) ?? publicOnes(services)
        return json(states.map(state => renderStation(state, services.config.BASE_URL)))
      }
    }
  ]

  async function listAll(request: ApiRequest, services: ApiServices): Promise<Reply> {
    const states = await visible(request, services)
    if (!states) return { body: services.live.publicDocuments() }
    const documents = states.map(state => Buffer.from(services.live.document(state)).toString())
    return { body: `[${documents.join(',')}]`, headers: { 'Cache-Control': 'private, no-store' } }
  }
}

function publicOnes({ live }: ApiServices): StationState[] {
  return live.all().filter(state => state.profile.isPublic)
}
