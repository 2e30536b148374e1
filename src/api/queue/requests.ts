import { changeStation } from '../../engine/change-station.ts'
import {
  acceptsRequestsFragment,
  isRequestableFragment,
  type NewSongRequest,
  submitRequest
} from '../../engine/queue/requests.ts'
import type { Reply } from '../../http/route.ts'
import { uniqueIdPattern } from '../../model/songs/song.ts'
import { addressLimitKeyOf } from '../../platform/outbound/networks.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { TooManyRequests } from '../../platform/runtime/errors.ts'
import { getVisibleStation, toStationLookup } from '../auth/public-request.ts'
import { parsePathId } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { openAddressTokenBuckets } from '../core/token-buckets.ts'
import { publicSongListRoute } from '../library/song-list.ts'

const submissionLimits = openAddressTokenBuckets(2 / 5, 2)

const list = publicSongListRoute({
  path: '/api/station/:station_id/requests',
  operation: {
    id: 'listRequestableSongs',
    tag: 'Requests',
    summary: 'The songs that listeners may request; empty if the station accepts no requests'
  },
  element: 'RequestableSong',
  openFilter: (_, stationId) => ({
    countKey: `requestable ${stationId}`,
    condition: sql => sql`${isRequestableFragment(sql, stationId)}
      and exists (select from stations s where s.id = ${stationId} and ${acceptsRequestsFragment(sql)})`
  }),
  render: (id, song, stationId) => ({
    request_id: String(id),
    request_url: `/api/station/${stationId}/request/${id}`,
    song
  })
})

export const submitRequestRoute = apiRoute('POST', '/api/station/:station_id/request/:media_id', 'public', {
  id: 'requestSong',
  tag: 'Requests',
  summary: 'Request a song; the AutoDJ plays it after the request delay of the station',
  response: schemaRef('ActionResult'),
  errors: [403, 409, 429],
  needsAddress: true,
  handle: requestSong
})

/** Stores the request of a listener. Throws 403, 404, 409 or 429 if it is refused. */
export async function requestSong(request: ApiRequest, services: ApiServices): Promise<Reply> {
  const { stationId } = await getVisibleStation(toStationLookup(request), services)
  const media = parseMediaId(request.params['media_id'] ?? '')
  const wait = submissionLimits.take(request.address)
  if (wait > 0) throw new TooManyRequests(wait)
  const address = addressLimitKeyOf(request.address)
  await changeStation(services, stationId, change =>
    submitRequest(change, { media, address, atMs: engineTimeMs(), chance: Math.random() })
  )
  return actionReply('Your request has been submitted and will be played soon.')
}

/** Parses the id or unique id of a song. Throws 404 if the text is neither. */
function parseMediaId(text: string): NewSongRequest['media'] {
  return uniqueIdPattern.test(text) ? { uniqueId: text } : { id: parsePathId(text) }
}

export const requestRoutes = [list, submitRequestRoute]
