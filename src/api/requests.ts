import { songOf } from '../db/facts.ts'
import { TooManyRequests } from '../errors.ts'
import { ownerOf } from '../networks.ts'
import { publishEventually } from '../playout/publish.ts'
import { acceptsRequests, isRequestable, type NewRequest, submitRequest } from '../playout/requests.ts'
import { renderSong } from '../station/now-playing.ts'
import type { Song, StationState } from '../station/state.ts'
import {
  likePattern,
  limitOf,
  listParameters,
  listReply,
  listSchema,
  parseListQuery,
  wholeCount
} from './list.ts'
import { parseId } from './parse.ts'
import { actionResult, type ApiRoute } from './route.ts'
import { openTokenBuckets } from './token-buckets.ts'
import { visitedStation, visitOf } from './visit.ts'

const sortKeys = ['artist', 'title', 'album', 'genre']

/** By address. A page that searches while one types asks often; nobody needs the whole list all the time. */
const looks = openTokenBuckets(10, 100)
const submissions = openTokenBuckets(2 / 5, 2)

function limit(buckets: typeof looks, address: string): void {
  const wait = buckets.take(ownerOf(address))
  if (wait > 0) throw new TooManyRequests(wait)
}

interface RequestableRow {
  readonly id: number
  readonly song: Song
}

const list: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/requests',
  access: 'public',
  needsAddress: true,
  operation: {
    id: 'listRequestableSongs',
    tag: 'Requests',
    summary: 'The songs that listeners may request; none where the station accepts no requests',
    query: listParameters(sortKeys),
    answer: listSchema({ $ref: '#/components/schemas/RequestableSong' }),
    errors: [429]
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const station = await visitedStation(visitOf(request), services)
    limit(looks, request.address)
    const query = parseListQuery(request.query, sortKeys)
    const pattern = likePattern(query.search)
    const found = sql`${isRequestable(sql, station.stationId)}
      and exists (select from stations s where s.id = ${station.stationId} and ${acceptsRequests(sql)})
      ${
        query.search === ''
          ? sql``
          : sql`and (m.artist ilike ${pattern} or m.title ilike ${pattern} or m.album ilike ${pattern}
              or m.artist || ' - ' || m.title ilike ${pattern})`
      }`
    const order =
      query.sort === null
        ? sql`m.artist, m.title`
        : sql`${sql(`m.${query.sort}`)} ${query.isDescending ? sql`desc` : sql``}`
    const rows = await sql<RequestableRow[]>`
      select m.id, ${songOf(sql)} as song from media m where ${found} order by ${order}, m.id ${limitOf(sql, query)}`
    const total =
      wholeCount(query, rows.length) ??
      (await sql<{ total: number }[]>`select count(*) as total from media m where ${found}`)[0]?.total ??
      0
    const records = rows.map(row => renderRequestable(row, station, config.BASE_URL))
    const reply = listReply(records, total, query, request, config.BASE_URL)
    return { ...reply, headers: { ...reply.headers, 'Cache-Control': 'no-store' } }
  }
}

function renderRequestable(
  { id, song }: RequestableRow,
  { stationId, profile }: StationState,
  baseUrl: string
) {
  return {
    request_id: String(id),
    request_url: `/api/station/${stationId}/request/${id}`,
    song: renderSong(song, profile, 'rest', baseUrl)
  }
}

const submit: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/request/:media_id',
  access: 'public',
  needsAddress: true,
  operation: {
    id: 'requestSong',
    tag: 'Requests',
    summary: 'Request a song; it is played after a while, at a time that suits the station',
    answer: { $ref: '#/components/schemas/ActionResult' },
    errors: [403, 409, 429]
  },
  async handle(request, services) {
    const { stationId } = await visitedStation(visitOf(request), services)
    const media = mediaNamed(request.params['media_id'] ?? '')
    limit(submissions, request.address)
    await services.sql.begin(tx =>
      submitRequest(tx, {
        stationId,
        media,
        address: ownerOf(request.address),
        atMs: Date.now(),
        chance: Math.random()
      })
    )
    await publishEventually(services, stationId)
    return actionResult('Your request has been submitted and will be played soon.')
  }
}

/** A song by its id or its unique id. Throws 404 for what can be neither. */
function mediaNamed(text: string): NewRequest['media'] {
  return /^[0-9a-f]{24}$/.test(text) ? { uniqueId: text } : { id: parseId(text) }
}

export const requestRoutes = [list, submit]
