import * as v from 'valibot'

import { changeStation } from '../../engine/change-station.ts'
import { addPlayoutCommand } from '../../engine/playouts/commands.ts'
import { recordTrackReport } from '../../engine/plays/report-track.ts'
import type { Reply } from '../../http/route.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import { parseStreamedTitle } from '../../radio/streamed-title.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute, getRequestStation } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

const maxTextLength = 4_096
const text = v.nullish(
  v.pipe(
    v.union([v.string(), v.number(), v.boolean()], 'must be text.'),
    v.transform(String),
    v.maxLength(maxTextLength, `must have at most ${maxTextLength} characters.`),
    v.check(value => !/\0|\p{Surrogate}/u.test(value), 'contains characters that are not allowed.')
  ),
  ''
)
const metadata = v.object({ title: text, artist: text, song: text }, 'must be an object.')

const textSchema = { type: 'string', maxLength: maxTextLength }
const schema = {
  title: { ...textSchema, description: 'The title; without an artist, `Artist - Title`.' },
  artist: { ...textSchema, description: 'The artist.' },
  song: { ...textSchema, description: 'Artist and title: `Artist - Title`.' },
  charset: { type: 'string', description: 'The charset of texts that are not UTF-8: `koi8-r`.' }
}

/** Reads the body, or the query if there is no body. */
function parseMetadata({ query, body }: ApiRequest) {
  const sent: unknown = typeof body === 'object' && body !== null ? body : Object.fromEntries(query)
  const { title, artist, song } = parseBody(metadata, sent)
  return parseStreamedTitle({ title, artist, text: song })
}

/**
 * With a Liquidsoap playout the metadata is inserted into the stream, and the playout reports it. Without a
 * playout, or while a streamer is live, it is the current song.
 */
async function update(request: ApiRequest, services: ApiServices): Promise<Reply> {
  const { id: stationId } = getRequestStation(request)
  const song = parseMetadata(request)
  if (song.artist === '' && song.title === '') refuseField('title', 'required', 'is required.')
  const isSentToPlayout = await changeStation(services, stationId, async change => {
    const { station } = change
    if (station.enabledBackend !== 'liquidsoap' || station.liveSinceMs !== null) return false
    await addPlayoutCommand(change, { type: 'metadata', ...song })
    return true
  })
  if (!isSentToPlayout) {
    const unknown = { queueId: null, mediaId: null, playlistId: null, isTimed: false }
    await recordTrackReport(services, stationId, { ...song, ...unknown, startedAtMs: engineTimeMs() })
  }
  return actionReply('Metadata updated.')
}

const path = '/api/station/:station_id/nowplaying/update'
const access = 'manage station broadcasting'
const declared = {
  tag: 'Playout',
  summary: 'Set the song that a broadcaster is playing',
  query: schema,
  response: schemaRef('ActionResult'),
  errors: [409],
  handle: update
}

export const nowPlayingUpdateRoutes = [
  apiRoute('POST', path, access, {
    ...declared,
    id: 'updateNowPlaying',
    body: { type: 'object', properties: schema },
    takesForm: true
  }),
  apiRoute('GET', path, access, { ...declared, id: 'updateNowPlayingByGet', changes: true })
]
