import type { StationListing } from '../../model/station/live-view.ts'
import { keyVary } from '../../model/station/public-headers.ts'
import { hasPermission } from '../auth/access.ts'
import {
  listQueryParameters,
  listResponseSchema,
  type ListQuery,
  toLimitAndOffset,
  parseListQuery,
  renderListReply
} from '../core/list.ts'
import { type ApiRequest, apiRoute } from '../core/route.ts'
import { exactObject, namedSchema, nowPlayingFieldSchemas, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { findViewableStations } from './viewable-stations.ts'

const sorts = ['name', 'listeners', 'now_playing'] as const

/** Documents of one response; a client pages through more. */
const maxStations = 500

const dashboardStationSchema = namedSchema(
  'DashboardStation',
  'Now playing on a station that the caller may open, and its addresses.',
  exactObject({
    ...nowPlayingFieldSchemas,
    links: { type: 'object', additionalProperties: string }
  })
)

export const dashboardStationsRoute = apiRoute('GET', '/api/frontend/dashboard/stations', 'any key', {
  id: 'listDashboardStations',
  tag: 'Dashboard',
  summary: `Now playing on the stations that the key may view, with links; at most ${maxStations} at once`,
  query: listQueryParameters(sorts),
  responseRecord: 'DashboardStation',
  response: listResponseSchema(dashboardStationSchema),
  async handle(request, services) {
    const query = parseListQuery(request, sorts)
    const found = sortStations(await findNamed(request, services, query.search), query)
    const { limit, offset } = toLimitAndOffset(query)
    const shown = found.slice(offset, offset + Math.min(limit, maxStations))
    const documents = shown.flatMap(station => renderDocument(request, services, station) ?? [])
    const elements = documents.map((text, index) => Buffer.from(index === 0 ? text : `,${text}`))
    const reply = renderListReply({ elements, total: found.length }, query, request, services.config.BASE_URL)
    return { ...reply, headers: { ...reply.headers, ...keyVary } }
  }
})

/** The stations whose names contain a text, in the order of the names. */
async function findNamed(
  request: ApiRequest,
  { reads: sql, live }: ApiServices,
  search: string
): Promise<readonly StationListing[]> {
  const listed = new Map(findViewableStations(request, live).map(each => [each.stationId, each]))
  const rows = await sql<{ id: number; name: string }[]>`
    select id, name from stations where id = any(${[...listed.keys()]}::bigint[]) and deleted_at is null order by name, id`
  const text = search.toLowerCase()
  return rows.flatMap(({ id, name }) => {
    const station = listed.get(id)
    return station && name.toLowerCase().includes(text) ? [station] : []
  })
}

/** Sorts stations, which are in the order of their names. */
function sortStations(
  found: readonly StationListing[],
  { sort, isDescending }: ListQuery
): readonly StationListing[] {
  const value = ({ listeners, isOnline }: StationListing) =>
    sort === 'listeners' ? listeners : Number(isOnline)
  const sorted =
    sort === null || sort === 'name' ? found : found.toSorted((one, other) => value(one) - value(other))
  return isDescending ? sorted.toReversed() : sorted
}

/** The document with `links` as its last member. */
function renderDocument(
  { caller }: ApiRequest,
  { live, config }: ApiServices,
  station: StationListing
): string | null {
  const { stationId, shortName } = station
  const document = live.document(stationId, 'rest')
  if (!document || !caller?.key) return null
  const seesReports = hasPermission(caller.key, {
    permission: 'view station reports',
    stationId,
    isRead: true
  })
  const links = {
    public: `${config.BASE_URL}/public/${shortName}`,
    manage: `${config.BASE_URL}/#/station/${stationId}`,
    ...(seesReports ? { listeners: `${config.BASE_URL}/#/station/${stationId}/reports` } : {})
  }
  return `${Buffer.from(document.body).toString().slice(0, -1)},"links":${JSON.stringify(links)}}`
}
