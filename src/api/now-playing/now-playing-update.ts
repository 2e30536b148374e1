import * as v from 'valibot'

import { parseStreamedTitle } from '../../broadcast/streamed-title.ts'
import { changeStation } from '../../playout/change-station.ts'
import { addCommand } from '../../playout/playouts/commands.ts'
import { reportTrack } from '../../playout/plays/report-track.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError } from '../../runtime/errors.ts'
import { parseBody } from '../core/parse.ts'
import { actionResult, type ApiRequest, type ApiRoute, type Reply, stationOf } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'

const longest = 4_096
const text = v.nullish(
  v.pipe(
    v.union([v.string(), v.number(), v.boolean()], 'must be text.'),
    v.transform(String),
    v.maxLength(longest, `must have at most ${longest} characters.`),
    v.check(value => !/\0|\p{Surrogate}/u.test(value), 'holds characters that are not allowed.')
  ),
  ''
)
const metadata = v.object({ title: text, artist: text, song: text }, 'must be an object.')

const schema = {
  title: { type: 'string', maxLength: longest, description: 'The title; alone, `Artist - Title`.' },
  artist: { type: 'string', maxLength: longest, description: 'The artist.' },
  song: { type: 'string', maxLength: longest, description: 'Both in one: `Artist - Title`.' }
}

const path = '/api/station/:station_id/nowplaying/update'
const access = 'manage station broadcasting'
const about = {
  tag: 'Playout',
  summary: 'What a broadcaster plays now',
  answer: { $ref: '#/components/schemas/ActionResult' },
  errors: [409]
}

/** Query, form or JSON; a body comes before the query. */
function sentMetadata({ query, body }: ApiRequest) {
  const sent: unknown = typeof body === 'object' && body !== null ? body : Object.fromEntries(query)
  const { title, artist, song } = parseBody(metadata, sent)
  return parseStreamedTitle({ title, artist, text: song })
}

/**
 * With Liquidsoap it is put into the stream, and comes back as its report; without a playout, and while a
 * streamer is live, it is what plays.
 */
async function update(request: ApiRequest, services: ApiServices): Promise<Reply> {
  const { id: stationId } = stationOf(request)
  const told = sentMetadata(request)
  if (told.artist === '' && told.title === '')
    throw ApiError.ofFields([{ field: 'title', code: 'required', message: 'title is required.' }])
  const isPutIntoStream = await changeStation(services, stationId, async change => {
    const { station } = change
    if (station.driver !== 'liquidsoap' || station.liveSinceMs !== null) return false
    await addCommand(change, { type: 'metadata', ...told })
    return true
  })
  if (!isPutIntoStream) {
    const known = { queueId: null, mediaId: null, playlistId: null, isTimed: false }
    await reportTrack(services, stationId, { ...told, ...known, startedAtMs: engineTimeMs() })
  }
  return actionResult('Metadata updated.')
}

const byPost: ApiRoute = {
  method: 'POST',
  path,
  access,
  takesForm: true,
  operation: {
    ...about,
    id: 'updateNowPlaying',
    query: schema,
    body: { type: 'object', properties: schema }
  },
  handle: update
}

const byGet: ApiRoute = {
  method: 'GET',
  path,
  access,
  changes: true,
  operation: { ...about, id: 'updateNowPlayingByGet', query: schema },
  handle: update
}

export const nowPlayingUpdateRoutes = [byPost, byGet]
