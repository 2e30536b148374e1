import { positionHeaders } from '../../http/headers.ts'
import type { Reply } from '../../http/route.ts'
import { integerField, textField } from '../../model/fields/field.ts'
import type { DocumentKind } from '../../model/station/live-view.ts'
import { renderStationObject, shownArtUrl } from '../../model/station/now-playing.ts'
import { listVary, privateCaching, publicCaching, publicHeaders } from '../../model/station/public-headers.ts'
import { isPlausibleOffset, type StationState } from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, pickRetrySeconds, TooManyRequests } from '../../platform/runtime/errors.ts'
import { maySeeStation } from '../auth/access.ts'
import { addListenTokenToUrl } from '../auth/credential-links.ts'
import { type StationLookup, getVisibleStation, toStationLookup } from '../auth/public-request.ts'
import { openQueryFilters } from '../core/parse.ts'
import { type ApiRequest, apiRoute, jsonReply, type ApiOperation } from '../core/route.ts'
import { arrayOf, schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { endsLongPoll } from './long-polls.ts'

/*
 * The public reads, answered from memory. Requests for a private station return 404 unless the key has access
 * to it; an invalid key is ignored for a public station. `src/live/hot-gets.ts` answers simple requests
 * before they reach these routes.
 */

type Respond = (state: StationState, services: ApiServices) => Reply

/** Responds with a station. Throws 404 if it does not exist or the key has no access. */
function respondForStation(caller: StationLookup, services: ApiServices, respond: Respond) {
  const state = services.live.findState(caller.name)
  if (state?.profile.isPublic) return respond(state, services)
  if (caller.apiKey === '') throw new ApiError('not-found')
  return respondPrivately(caller, services, respond)
}

async function respondPrivately(caller: StationLookup, services: ApiServices, respond: Respond) {
  const reply = respond(await getVisibleStation(caller, services), services)
  return reply.later ? reply : { ...reply, headers: { ...reply.headers, ...privateCaching } }
}

/** Responds with a document, rendered when it is sent. */
const sendDocument =
  (kind: DocumentKind): Respond =>
  ({ stationId, profile }, { live }) => ({
    headers: publicHeaders[kind],
    document: () => {
      const document = live.document(stationId, kind)
      const isPublic = live.find(stationId)?.isPublic ?? false
      if (!document || (profile.isPublic && !isPublic)) throw new ApiError('not-found')
      return document
    }
  })

/** Without an entity tag: a tag of the current state would not match the body that the caller has. */
const sendNotModified: Respond = ({ epoch, offset }) => ({
  status: 304,
  headers: { ...positionHeaders({ epoch, offset }), 'Cache-Control': 'no-store' }
})

/** A long poll with a listen token ends this long after the token has expired. */
const expiryMarginMs = 50

/** Responds at once if the state is new, else when it changes or the wait times out. */
function respondToPoll(
  poll: NonNullable<ReturnType<typeof parsePoll>>,
  caller: StationLookup,
  respond: Respond
): Respond {
  return (state, services) => {
    const { waitMs, since } = poll
    const awaited = { ...caller, ...poll, stationId: state.stationId, epoch: poll.epoch ?? state.epoch }
    if (endsLongPoll(awaited, state) || !isPlausibleOffset(since, engineTimeMs()))
      return respond(state, services)
    if (waitMs === 0) return sendNotModified(state, services)
    const ofToken = services.listenTokens.read(caller.apiKey)
    const remainingMs = ofToken === null ? Infinity : ofToken.endsAtMs - engineTimeMs()
    const bounded = { ...awaited, waitMs: Math.min(waitMs, Math.max(0, remainingMs) + expiryMarginMs) }
    const respondLater: Respond = now =>
      (endsLongPoll(awaited, now) ? respond : sendNotModified)(now, services)
    return {
      later: send => {
        const end = () => send(() => respondForStation(caller, services, respondLater))
        // The state may have changed since the check above.
        const isNew = endsLongPoll(awaited, services.live.findState(caller.name) ?? state)
        const waiting = isNew ? 'released' : services.longPolls.wait(bounded, end)
        if (typeof waiting === 'function') return waiting
        if (waiting === 'released') end()
        else send(refuse)
        return () => {}
      }
    }
  }
}

function refuse(): never {
  throw new TooManyRequests(pickRetrySeconds())
}

const nowPlaying = schemaRef('NowPlaying')
const nowPlayingEvent = schemaRef('NowPlayingEvent')
const summary = schemaRef('StationSummary')

const filters = openQueryFilters({
  wait: integerField({ min: 0, max: 60, about: 'Seconds to wait for an offset above `since`.' }),
  since: integerField({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    about: 'The last `X-Cuewire-Offset` received.'
  }),
  epoch: textField({ max: 255, about: 'The last `X-Cuewire-Epoch` received.' })
})

/**
 * Returns null if the query does not ask for a long poll; `epoch` null: the current epoch. Throws 400 for an
 * invalid parameter.
 */
function parsePoll(query: URLSearchParams) {
  if (query.size === 0) return null
  const { wait = 0, since, epoch } = filters.parse(query)
  return since === undefined ? null : { waitMs: wait * 1000, since, epoch: epoch ?? null }
}

const sameBody = 'The entity tag matches.'

const reading = (path: string, operation: Omit<ApiOperation, 'tag'>, respond: Respond) =>
  apiRoute('GET', path, 'public', {
    tag: 'Now playing',
    ...operation,
    handle: (request, services) => respondForStation(toStationLookup(request), services, respond)
  })

const showingArt = (path: string, operation: Pick<ApiOperation, 'id' | 'summary'>) =>
  apiRoute('GET', path, 'public', {
    tag: 'Now playing',
    ...artOperation,
    ...operation,
    handle: (request, services) =>
      respondForStation(toStationLookup(request), services, art(request.query.get('token') ?? ''))
  })

/** A document that can be long-polled. */
const polling = (path: string, operation: Omit<ApiOperation, 'tag'>, kind: DocumentKind) =>
  apiRoute('GET', path, 'public', {
    tag: 'Now playing',
    query: filters.schemas,
    unchanged: 'The entity tag matches, or there was no change during the wait.',
    errors: [429],
    isPositioned: true,
    needsAddress: true,
    ...operation,
    handle(request, services) {
      const poll = parsePoll(request.query)
      const caller = toStationLookup(request)
      const respond = sendDocument(kind)
      return respondForStation(caller, services, poll ? respondToPoll(poll, caller, respond) : respond)
    }
  })

/**
 * Redirects to the cover. For a private station the address contains the listen token that the query of the
 * request had, since image elements cannot send headers.
 */
const art =
  (token: string): Respond =>
  (state, { config: { BASE_URL: baseUrl } }) => {
    const url = shownArtUrl(state, baseUrl)
    const target = state.profile.isPublic ? url : addListenTokenToUrl(url, token, baseUrl)
    return { status: 302, headers: { Location: target, ...publicCaching } }
  }

const artOperation = {
  response: null,
  redirectsTo: 'To the cover of the current song.',
  isRedirect: true
}

const stations = apiRoute('GET', '/api/stations', 'public', {
  id: 'listStationSummaries',
  tag: 'Now playing',
  summary: 'All stations',
  responseRecord: 'StationSummary',
  response: arrayOf(summary),
  async handle(request, services) {
    const visible = await findVisible(request, services)
    const value = visible.map(station => renderStationObject(station.read(), services.config.BASE_URL))
    const isPublic = visible.every(station => station.isPublic)
    return { value, headers: { ...(isPublic ? {} : privateCaching), ...listVary } }
  }
})

/** The public stations, and the private ones to which the key has access. */
async function findVisible({ apiKey, address }: ApiRequest, { live, keys }: ApiServices) {
  const key = await keys.findOptional(apiKey, address)
  return live.all().filter(({ stationId, isPublic }) => maySeeStation(key, { id: stationId, isPublic }))
}

export const nowPlayingRoutes = [
  polling(
    '/api/nowplaying/:station_id',
    {
      id: 'getNowPlaying',
      summary: 'Now playing on a station',
      responseRecord: 'NowPlaying',
      response: nowPlaying
    },
    'rest'
  ),
  showingArt('/api/nowplaying/:station_id/art', {
    id: 'getNowPlayingArt',
    summary: 'The cover of the current song'
  }),
  showingArt('/api/nowplaying/:station_id/art/:file.jpg', {
    id: 'getNowPlayingArtFile',
    summary: 'The cover of the current song; the file name is ignored, to bypass caches'
  }),
  polling(
    '/api/nowplaying_static/:station_id.json',
    {
      id: 'getStaticNowPlaying',
      summary: 'Now playing on a station, as in the live protocol',
      responseRecord: 'NowPlayingEvent',
      response: nowPlayingEvent
    },
    'event'
  ),
  reading(
    '/api/nowplaying_static/:station_id.txt',
    {
      id: 'getStaticLine',
      summary: 'Now playing on a station, as one line of text',
      response: { type: 'string' },
      contentTypes: ['text/plain'],
      unchanged: sameBody,
      isPositioned: true
    },
    sendDocument('line')
  ),
  stations,
  polling(
    '/api/station/:station_id/nowplaying',
    {
      id: 'getStationNowPlaying',
      summary: 'Now playing on a station',
      responseRecord: 'NowPlaying',
      response: nowPlaying
    },
    'rest'
  ),
  reading(
    '/api/station/:station_id',
    { id: 'getStationSummary', summary: 'A station', responseRecord: 'StationSummary', response: summary },
    (state, { config }) => jsonReply(renderStationObject(state, config.BASE_URL))
  )
]
