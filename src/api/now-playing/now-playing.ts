import { integer, text } from '../../fields/field.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError, TooManyRequests } from '../../runtime/errors.ts'
import type { CachedResponse } from '../../station/document.ts'
import { renderStation, shownArtUrl } from '../../station/now-playing.ts'
import { mayHaveBeenSent, type StationState } from '../../station/state.ts'
import { maySeeStation } from '../auth/access.ts'
import { type PublicRequest, findVisibleStation, publicRequestOf } from '../auth/public-request.ts'
import { filtersOf } from '../core/parse.ts'
import {
  type ApiRequest,
  type ApiRoute,
  json,
  type Operation,
  positionHeaders,
  type Reply
} from '../core/route.ts'
import type { ApiServices, DocumentKind } from '../core/services.ts'
import { isNewsTo } from './long-polls.ts'

/*
 * The public reads, answered from memory. A private station exists only for a caller with a key that may see it; a
 * wrong key on a public station is ignored.
 *
 * The adapter to HTTP answers the plain cases of the documents before they come here; what it does not see, and
 * everything about private stations, is decided here.
 */

/** Caches may keep what anybody may see for a second. */
const publicCaching = { 'Cache-Control': 'public, max-age=1' }
const privateCaching = { 'Cache-Control': 'private, no-store' }

/** The list differs by key. */
const listVary = { Vary: 'X-API-Key, Authorization' }

/** Headers of what anybody may see. */
export const publicHeaders: Readonly<Record<DocumentKind | 'list', Readonly<Record<string, string>>>> = {
  rest: publicCaching,
  event: publicCaching,
  line: { ...publicCaching, 'Content-Type': 'text/plain; charset=utf-8' },
  list: { ...publicCaching, ...listVary }
}

type Respond = (state: StationState, services: ApiServices) => Reply

/** Lets the visitor see the station, or throws 404. */
function visit(who: PublicRequest, services: ApiServices, respond: Respond): Reply | Promise<Reply> {
  const state = services.live.get(who.name)
  if (state?.profile.isPublic) return respond(state, services)
  if (who.apiKey === '') throw new ApiError('not-found')
  return visitPrivately(who, services, respond)
}

async function visitPrivately(who: PublicRequest, services: ApiServices, respond: Respond): Promise<Reply> {
  const reply = respond(await findVisibleStation(who, services), services)
  return reply.later ? reply : { ...reply, headers: { ...reply.headers, ...privateCaching } }
}

/** Gives the document of a kind as it is when it is sent. */
const documentOf =
  (kind: DocumentKind): Respond =>
  ({ stationId, profile }, { live }) => ({
    headers: publicHeaders[kind],
    document: () => currentDocument(live, stationId, kind, profile.isPublic)
  })

function currentDocument(
  live: ApiServices['live'],
  stationId: number,
  kind: DocumentKind,
  wasPublic: boolean
): CachedResponse {
  const document = live.document(stationId, kind)
  const isPublic = live.get(String(stationId))?.profile.isPublic ?? false
  if (!document || (wasPublic && !isPublic)) throw new ApiError('not-found')
  return document
}

/** Nothing to tell. Without a tag: the caller has an older body than a tag of now would stand for. */
const unchanged: Respond = ({ epoch, offset }) => ({
  status: 304,
  headers: { ...positionHeaders({ epoch, offset }), 'Cache-Control': 'no-store' }
})

/** Answers at once where there is news, else when there is, or when the wait is over. */
function respondTo(poll: Poll, who: PublicRequest, respond: Respond): Respond {
  return (state, services) => {
    const { since } = poll
    const awaited = { ...who, ...poll, stationId: state.stationId, epoch: poll.epoch ?? state.epoch }
    if (isNewsTo(awaited, state)) return respond(state, services)
    const { waitMs } = poll
    if (!mayHaveBeenSent(since, engineTimeMs())) return respond(state, services)
    const respondLater: Respond = now =>
      isNewsTo(awaited, now) ? respond(now, services) : unchanged(now, services)
    if (waitMs === 0) return unchanged(state, services)
    return {
      later: answer => {
        const end = () => answer(() => visit(who, services, respondLater))
        // Before this is called there may have been a change already.
        const hasNews = isNewsTo(awaited, services.live.get(who.name) ?? state)
        const forget = hasNews ? 'released' : services.waiters.wait({ ...awaited, waitMs }, end)
        if (typeof forget === 'function') return forget
        if (forget === 'released') end()
        else answer(refuse)
        return nothing
      }
    }
  }
}

/** Whoever finds no room must not ask again at once, and not all at the same time. */
function refuse(): never {
  throw new TooManyRequests(5 + Math.floor(Math.random() * 11))
}

const nothing = () => {}

const nowPlaying = { $ref: '#/components/schemas/NowPlaying' }
const nowPlayingEvent = { $ref: '#/components/schemas/NowPlayingEvent' }
const summary = { $ref: '#/components/schemas/StationSummary' }

/** What a long poll asks for. `epoch` null: the one that is there. */
interface Poll {
  readonly waitMs: number
  readonly since: number
  readonly epoch: string | null
}

const filters = filtersOf({
  wait: integer({
    min: 0,
    max: 60,
    about: 'Seconds to wait for an offset above `since`. Without `since` nothing is waited for.'
  }),
  since: integer({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    about: 'The offset that the caller has, from `X-Cuewire-Offset`.'
  }),
  epoch: text({ max: 255, about: 'The epoch that the offset belongs to, from `X-Cuewire-Epoch`.' })
})

/** The query parameters of a long poll, with their schemas. */
const pollParameters = filters.schemas

/**
 * Reads the query of a long poll; null: whatever there is is asked for. Throws a 400 that names the
 * parameter.
 */
function parsePoll(query: URLSearchParams): Poll | null {
  if (query.size === 0) return null
  const { wait = 0, since, epoch } = filters.parse(query)
  return since === undefined ? null : { waitMs: wait * 1000, since, epoch: epoch ?? null }
}

const noNews = 'The caller has this body already, or no change came while it waited.'
const sameBody = 'The caller has this body already.'

type Described = Omit<Operation, 'tag'>

const reading = (path: string, operation: Described, respond: Respond): ApiRoute => ({
  method: 'GET',
  path,
  access: 'public',
  operation: { tag: 'Now playing', ...operation },
  handle: (request, services) => visit(publicRequestOf(request), services, respond)
})

/** The reading of a document that can be waited for. */
const polling = (path: string, operation: Described, kind: DocumentKind): ApiRoute => ({
  method: 'GET',
  path,
  access: 'public',
  needsAddress: true,
  operation: {
    tag: 'Now playing',
    query: pollParameters,
    unchanged: noNews,
    errors: [429],
    isPositioned: true,
    ...operation
  },
  handle(request, services) {
    const poll = parsePoll(request.query)
    const who = publicRequestOf(request)
    const respond = documentOf(kind)
    return visit(who, services, poll === null ? respond : respondTo(poll, who, respond))
  }
})

const art: Respond = (state, { config }) => ({
  status: 302,
  headers: { Location: shownArtUrl(state, config.BASE_URL), 'Cache-Control': 'public, max-age=1' }
})

const artOperation = {
  answer: { type: 'string', format: 'binary' },
  redirectsTo: 'To the picture of what the station plays.',
  isRedirect: true
}

const list: ApiRoute = {
  method: 'GET',
  path: '/api/nowplaying',
  access: 'public',
  operation: {
    id: 'listNowPlaying',
    tag: 'Now playing',
    summary: 'What all stations play',
    answer: { type: 'array', items: nowPlaying },
    unchanged: sameBody
  },
  handle(request, services) {
    if (request.apiKey === '') return publicList(services)
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
    const { body } = json(states.map(state => renderStation(state, services.config.BASE_URL)))
    const isPublic = states.every(state => state.profile.isPublic)
    return { body, headers: { ...(isPublic ? {} : privateCaching), ...listVary } }
  }
}

const publicList = ({ live }: ApiServices): Reply => ({
  headers: publicHeaders.list,
  document: live.publicList
})

async function listVisible(request: ApiRequest, services: ApiServices): Promise<Reply> {
  const states = await visible(request, services)
  if (states.every(state => state.profile.isPublic)) return publicList(services)
  const ids = states.map(({ stationId }) => stationId)
  return { headers: { ...privateCaching, ...listVary }, document: () => services.live.list(ids) }
}

/** The public stations, and the private ones that the key may see. */
async function visible(
  { apiKey, address }: ApiRequest,
  { live, keys }: ApiServices
): Promise<StationState[]> {
  const key = await keys.listener(apiKey, address)
  const isVisible = ({ profile, stationId }: StationState) =>
    maySeeStation(key, { id: stationId, isPublic: profile.isPublic })
  return live.all().filter(isVisible)
}

export const nowPlayingRoutes = [
  list,
  polling(
    '/api/nowplaying/:station_id',
    { id: 'getNowPlaying', summary: 'What a station plays', answer: nowPlaying },
    'rest'
  ),
  reading(
    '/api/nowplaying/:station_id/art',
    { id: 'getNowPlayingArt', summary: 'The picture of what a station plays', ...artOperation },
    art
  ),
  reading(
    '/api/nowplaying/:station_id/art/:file.jpg',
    {
      id: 'getNowPlayingArtFile',
      summary: 'The same under any name, so that players load it anew',
      ...artOperation
    },
    art
  ),
  polling(
    '/api/nowplaying_static/:station_id.json',
    { id: 'getStaticNowPlaying', summary: 'What a station plays, as it is pushed', answer: nowPlayingEvent },
    'event'
  ),
  reading(
    '/api/nowplaying_static/:station_id.txt',
    {
      id: 'getStaticLine',
      summary: 'What a station plays, in one line of text',
      answer: { type: 'string' },
      contentTypes: ['text/plain'],
      unchanged: sameBody,
      isPositioned: true
    },
    documentOf('line')
  ),
  stations,
  polling(
    '/api/station/:station_id/nowplaying',
    { id: 'getStationNowPlaying', summary: 'The same, below the path of the station', answer: nowPlaying },
    'rest'
  ),
  reading(
    '/api/station/:station_id',
    { id: 'getStationSummary', summary: 'A station', answer: summary },
    (state, { config }) => json(renderStation(state, config.BASE_URL))
  )
]
