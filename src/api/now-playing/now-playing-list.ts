import type { Reply } from '../../http/route.ts'
import { textField } from '../../model/fields/field.ts'
import type { LiveView } from '../../model/station/live-view.ts'
import { listVary, privateCaching, publicHeaders } from '../../model/station/public-headers.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import { maySeeStation } from '../auth/access.ts'
import {
  listResponseSchema,
  pageQueryParameters,
  parsePageQuery,
  renderListEnvelope,
  renderObjectWithArray
} from '../core/list.ts'
import { openQueryFilters } from '../core/parse.ts'
import { type ApiRequest, apiRoute } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

/** Maximum number of documents in a response to a request for a part of the stations. */
const maxSelected = 500

const filters = openQueryFilters({
  stations: textField({
    max: 32_768,
    about: `Ids or short names, separated by commas, at most ${maxSelected}. The response has the documents in this order, without stations that do not exist or that the key may not see.`
  })
})

/**
 * The documents of all stations that the caller may see, or of those that `stations` names. Answered from
 * memory.
 */
export const nowPlayingListRoute = apiRoute('GET', '/api/nowplaying', 'public', {
  id: 'listNowPlaying',
  tag: 'Now playing',
  summary: 'Now playing on all stations, or on those of a list',
  query: {
    ...filters.schemas,
    ...pageQueryParameters,
    per_page: {
      ...pageQueryParameters['per_page'],
      description: `Documents per page, at most ${maxSelected}; 0: all, if there are not more.`
    }
  },
  responseRecord: 'NowPlaying',
  response: listResponseSchema(schemaRef('NowPlaying')),
  unchanged: 'The entity tag matches.',
  handle(request, services) {
    const respond = chooseResponder(request, services)
    if (request.apiKey === '') return respond(new Set())
    return findPrivate(request, services).then(respond)
  }
})

/** Responds with public stations, and with the private ones in `privateIds`. */
type ListResponder = (privateIds: ReadonlySet<number>) => Reply

/** Parses a request. Returns the function that responds to it. Throws 400 for an invalid parameter. */
function chooseResponder(request: ApiRequest, services: ApiServices): ListResponder {
  const { live } = services
  const requested = parseStations(request.query)
  const page = parsePageQuery(request)
  if (requested === null && page === null) return privateIds => sendAll(live, privateIds)
  return privateIds => {
    const choose = () =>
      requested === null ? visibleIds(live, privateIds) : findRequested(live, requested, privateIds)
    const headers = headersFor(privateIds)
    if (page === null) return { headers, document: () => live.list(choose()) }
    const ids = choose()
    const size = page.size || Math.max(1, ids.length)
    if (size > maxSelected) {
      const field = request.query.has('rowCount') ? 'rowCount' : 'per_page'
      refuseField(field, 'out_of_range', `must be from 1 to ${maxSelected} if there are more stations.`)
    }
    const start = (page.number - 1) * size
    const list = live.list(ids.slice(start, start + size))
    const envelope = renderListEnvelope(ids.length, { page }, request, services.config.BASE_URL)
    const body = renderObjectWithArray({ ...envelope.page }, 'rows', [list.body.subarray(1, -1)])
    const document = {
      ...list,
      body,
      etag: list.etag.replace(/"$/, `-${page.number}-${size}-${ids.length}"`)
    }
    return { headers: { ...headers, ...envelope.headers }, document: () => document }
  }
}

/** Parses the parameter `stations`; null if it is absent. Throws 400 if it names too many. */
function parseStations(query: URLSearchParams): readonly string[] | null {
  const { stations } = filters.parse(query)
  if (stations === undefined) return query.has('stations') ? [] : null
  const names = [...new Set(stations.split(',').map(name => name.trim()))].filter(name => name !== '')
  if (names.length > maxSelected)
    refuseField(
      'stations',
      'out_of_range',
      `must name at most ${maxSelected} stations (got ${names.length}).`
    )
  return names
}

/** Returns the ids of the stations that a request names and its key may see, in that order, each once. */
function findRequested(live: LiveView, names: readonly string[], privateIds: ReadonlySet<number>): number[] {
  const ids = names.flatMap(name => {
    const station = live.find(name)
    if (station === undefined) return []
    return station.isPublic || privateIds.has(station.stationId) ? station.stationId : []
  })
  return [...new Set(ids)]
}

function visibleIds(live: LiveView, privateIds: ReadonlySet<number>): readonly number[] {
  if (privateIds.size === 0) return live.publicIds()
  return live
    .all()
    .filter(({ isPublic, stationId }) => isPublic || privateIds.has(stationId))
    .map(({ stationId }) => stationId)
}

function sendAll(live: LiveView, privateIds: ReadonlySet<number>): Reply {
  const headers = headersFor(privateIds)
  const list = live.publicList()
  if (list === null) return { headers, longList: onEvicted => live.longList(privateIds, onEvicted) }
  if (privateIds.size === 0) return { headers, document: () => live.publicList() ?? list }
  return { headers, document: () => live.list(visibleIds(live, privateIds)) }
}

const headersFor = (privateIds: ReadonlySet<number>) =>
  privateIds.size === 0 ? publicHeaders.list : { ...privateCaching, ...listVary }

/** The private stations to which the key of a request has access. */
async function findPrivate({ apiKey, address }: ApiRequest, { live, keys }: ApiServices) {
  const key = await keys.findOptional(apiKey, address)
  const found = new Set<number>()
  if (key === null) return found
  for (const { stationId, isPublic } of live.all())
    if (!isPublic && maySeeStation(key, { id: stationId, isPublic })) found.add(stationId)
  return found
}
