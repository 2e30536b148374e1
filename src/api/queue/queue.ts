import * as v from 'valibot'

import type { StationChange } from '../../engine/change-station.ts'
import {
  addSongsToQueue,
  toUnrequestedSongs,
  moveQueueRow,
  type SongToQueue
} from '../../engine/queue/manual-queue.ts'
import { clearQueue, removeFromQueue } from '../../engine/queue/queue.ts'
import { storeManualRequest, takeRequestForQueue } from '../../engine/queue/requests.ts'
import type { DecisionLogEntry } from '../../model/autodj/log-entry.ts'
import {
  flagField,
  integerField,
  type JsonSchema,
  maxElementsCheck,
  formatCheckMessage
} from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { renderSongObject } from '../../model/station/now-playing.ts'
import type { ShownSong } from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, assertNoFieldErrors, refuseField } from '../../platform/runtime/errors.ts'
import { customFieldDefinitionsFragment, songFragment } from '../../stores/db/snapshots.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { stationActionRoute } from '../core/actions.ts'
import type { AuditEntry, AuditedChanges } from '../core/audit.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { findUnknownElements, parseBody, parsePathId } from '../core/parse.ts'
import { actionReply, apiRoute, jsonReply, getRequestStation, type PathStation } from '../core/route.ts'
import { arrayOf, oneOfObjects, schemaRef } from '../core/schemas.ts'
import { readSongNames } from '../library/song-names.ts'

/** How long a row can be read after it was played. */
const readableMs = 7 * 86_400_000

const path = '/api/station/:station_id/queue'
const tag = 'Queue'
const item = schemaRef('QueueItem')

const list = listRoute(path, 'view station management', {
  id: 'listQueue',
  tag,
  summary: 'The songs that will play, in order',
  responseRecord: 'QueueItem',
  record: item,
  open(query, request, { reads: sql, config }) {
    const station = getRequestStation(request)
    const contains = containsTextFragment(sql, query.search)
    const upcoming = sql`q.station_id = ${station.id} and q.played_at_ms is null and q.skipped_at_ms is null
      and m.artist || ' - ' || m.title ${contains}`
    return {
      select: sql`${selectRows(sql)} where ${upcoming} order by q.is_sent desc, q.position`,
      matching: sql`select from queue q join media m on m.id = q.media_id where ${upcoming}`,
      render: (rows: readonly QueueRow[]) => rows.map(row => renderRow(row, station, config.BASE_URL))
    }
  }
})

const read = apiRoute('GET', `${path}/:id`, 'view station management', {
  id: 'getQueueItem',
  tag,
  summary: 'Read a row of the queue',
  responseRecord: 'QueueItem',
  response: item,
  async handle(request, { reads: sql, config }) {
    const station = getRequestStation(request)
    const [row] = await sql<QueueRow[]>`${selectRows(sql)}
      where q.station_id = ${station.id} and q.id = ${parsePathId(request.params['id'])} and q.skipped_at_ms is null
        and (q.played_at_ms is null or q.played_at_ms > ${engineTimeMs() - readableMs})`
    if (!row) throw new ApiError('not-found')
    return jsonReply(renderRow(row, station, config.BASE_URL))
  }
})

const mediaId = integerField({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' })
const maxSongs = 100
const position = integerField({
  min: 1,
  max: 500,
  about: 'Position after the songs already sent to the playout; beyond the end means the end.',
  example: 1
})

const requestId = integerField({
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
  about:
    'A pending request of a listener (`id` in `reports/requests`), which is played before it is due; the response is its row.'
})
const asRequest = flagField({
  about: 'Whether the song of `media_id` is queued and shown as the request of a listener.',
  fallback: false
})

const songs = v.pipe(
  v.object(
    {
      position: v.nullish(position.input),
      media_id: v.nullish(mediaId.input),
      media_ids: v.nullish(
        v.pipe(
          v.unknown(),
          maxElementsCheck(maxSongs),
          v.array(mediaId.input, formatCheckMessage('invalid_type', 'must be a list.')),
          v.minLength(1, formatCheckMessage('too_short', 'must not be empty.'))
        )
      ),
      request_id: v.nullish(requestId.input),
      is_request: v.nullish(asRequest.input, false)
    },
    formatCheckMessage('invalid_type', 'must be an object.')
  ),
  v.forward(
    v.check(
      ({ media_id: single, media_ids: several, request_id: request }) =>
        (single ?? several ?? request ?? null) !== null,
      formatCheckMessage('required', 'is required unless media_ids or request_id is sent.')
    ),
    ['media_id']
  ),
  v.forward(
    v.check(
      body => typeof body.media_id !== 'number' || !Array.isArray(body.media_ids),
      formatCheckMessage('duplicate', 'cannot be combined with media_id.')
    ),
    ['media_ids']
  ),
  v.forward(
    v.check(
      ({ media_id: single, media_ids: several, request_id: request }) =>
        (request ?? null) === null || (single ?? several ?? null) === null,
      formatCheckMessage('duplicate', 'cannot be combined with media_id or media_ids.')
    ),
    ['request_id']
  ),
  v.forward(
    v.check(
      body => !body.is_request || typeof body.media_id === 'number',
      formatCheckMessage('not_allowed', 'can be true only with media_id.')
    ),
    ['is_request']
  )
)
type Songs = v.InferOutput<typeof songs>

const songsSchema: JsonSchema = {
  ...oneOfObjects(
    {
      media_id: { ...mediaId.schema, description: 'A song of the library; the response is its row.' },
      media_ids: {
        type: 'array',
        items: mediaId.schema,
        minItems: 1,
        maxItems: maxSongs,
        description: 'Several songs; the response is a list of their rows in the same order.'
      },
      request_id: requestId.schema
    },
    {},
    { position: position.schema, is_request: asRequest.schema }
  ),
  examples: [{ media_id: 12 }, { media_id: 12, position: 1 }, { request_id: 7, position: 1 }]
}

/** Entries of the audit log about songs in the queue. */
async function auditItems(
  tx: Tx,
  ids: readonly number[],
  changes: AuditedChanges = {}
): Promise<AuditEntry[]> {
  const names = await readSongNames(
    tx,
    tx`select id, media_id from queue where id = any(${[...ids]}::bigint[])`
  )
  return ids.map(id => ({ record: 'QueueItem', id, name: names.get(id), changes }))
}

const add = stationActionRoute('POST', path, 'manage station broadcasting', {
  id: 'addToQueue',
  tag,
  summary: 'Add songs or a request to the queue, before the songs that the AutoDJ chose, in the order given',
  body: songsSchema,
  responseRecord: 'QueueItem',
  response: { oneOf: [item, arrayOf(item)] },
  prepare(request, { config, reads: sql }) {
    const station = getRequestStation(request)
    const body = parseBody(songs, request.body)
    const isList = Array.isArray(body.media_ids)
    const { request_id: asked, media_id: single, media_ids: several } = body
    const changes: AuditedChanges =
      typeof asked === 'number' ? { request_id: { to: asked } } : { media_id: { to: single ?? several } }
    const readItems = async (ids: readonly number[]) => {
      const rows = await sql<QueueRow[]>`
        ${selectRows(sql)} where q.id = any(${[...ids]}::bigint[]) order by q.position`
      const items = rows.map(row => renderRow(row, station, config.BASE_URL))
      return jsonReply(isList ? items : items[0])
    }
    return async change => {
      const added = await addSongsToQueue(change, await readSongsToQueue(change, body), body.position ?? null)
      return { audit: await auditItems(change.tx, added, changes), reply: () => readItems(added) }
    }
  }
})

/** The songs that a body names. Takes or enters their request. */
async function readSongsToQueue(change: StationChange, body: Songs): Promise<SongToQueue[]> {
  const { media_id: single, media_ids: several, request_id: request } = body
  if (typeof request === 'number') return [await takeRequestForQueue(change, request)]
  const { tx, station } = change
  const mediaIds = several ?? [single ?? 0]
  await assertKnownSongs(tx, station.id, mediaIds, Array.isArray(several))
  if (!body.is_request) return toUnrequestedSongs(mediaIds)
  return [await takeRequestForQueue(change, await storeManualRequest(change, single ?? 0, engineTimeMs()))]
}

async function assertKnownSongs(tx: Tx, stationId: number, ids: readonly number[], isList: boolean) {
  const rows = await tx<{ id: number }[]>`
    select id from media
    where station_id = ${stationId} and remote_playlist_id is null and id = any(${[...ids]}::bigint[])`
  const known = new Set(rows.map(row => row.id))
  const sentence = "is not a song of the station's library."
  if (isList) assertNoFieldErrors(findUnknownElements(ids, known, 'media_ids.', sentence))
  else if (known.size === 0) refuseField('media_id', 'not_found', sentence)
}

const movement = { position }
const movementValidator = bodyValidator(movement)

const move = stationActionRoute('PUT', `${path}/:id/move`, 'manage station broadcasting', {
  id: 'moveQueueItem',
  tag,
  summary: 'Move a song to another position; the AutoDJ then leaves it in the queue',
  body: bodySchema(movement),
  errors: [409],
  prepare(request) {
    const id = parsePathId(request.params['id'])
    const { position: target } = parseBody(movementValidator, request.body)
    return async change => {
      await moveQueueRow(change, id, target)
      return {
        audit: await auditItems(change.tx, [id], { position: { to: target } }),
        reply: actionReply('Changes saved successfully.')
      }
    }
  }
})

const remove = stationActionRoute('DELETE', `${path}/:id`, 'manage station broadcasting', {
  id: 'deleteQueueItem',
  tag,
  summary: 'Remove a song from the queue',
  errors: [409],
  prepare(request) {
    const id = parsePathId(request.params['id'])
    return async change => {
      const audit = await auditItems(change.tx, [id])
      await removeFromQueue(change, id, engineTimeMs())
      return { audit, reply: actionReply('Record deleted successfully.') }
    }
  }
})

const clear = stationActionRoute('POST', `${path}/clear`, 'manage station broadcasting', {
  id: 'clearQueue',
  tag,
  summary: 'Remove all songs; the AutoDJ refills the queue',
  prepare: request => async change => {
    await clearQueue(change)
    return {
      audit: [{ record: 'Queue', id: getRequestStation(request).id }],
      reply: actionReply('Queue cleared.')
    }
  }
})

export const queueRoutes = [list, read, remove, add, clear, move]

/** The columns are named as in the API. */
interface QueueRow {
  readonly id: number
  readonly cued_at: number | null
  readonly played_at: number | null
  readonly duration: number
  readonly playlist: string
  readonly is_request: boolean
  readonly song: ShownSong
  readonly customFields: { id: number; shortName: string }[]
  readonly sent_to_autodj: boolean
  readonly is_played: boolean
  readonly autodj_custom_uri: string
  readonly log: DecisionLogEntry[]
}

/** The start of a statement that reads rows: `q` is the queue, `m` the media. */
const selectRows = (sql: Sql) => sql`
  select q.id, q.cued_at_ms / 1000 as cued_at, q.plays_at_ms / 1000 as played_at, q.duration_ms / 1000 as duration,
    coalesce(p.name, '') as playlist, q.is_request, ${songFragment(sql)} as song, ${customFieldDefinitionsFragment(sql)} as "customFields",
    q.is_sent as sent_to_autodj, q.played_at_ms is not null as is_played, q.autodj_custom_uri, q.log
  from queue q join media m on m.id = q.media_id left join playlists p on p.id = q.playlist_id`

function renderRow(row: QueueRow, station: PathStation, baseUrl: string) {
  const { id, song, customFields, sent_to_autodj, is_played, autodj_custom_uri, log, ...play } = row
  return {
    ...play,
    song: renderSongObject(song, { ...station, customFields }, 'rest', baseUrl),
    links: { self: `${baseUrl}/api/station/${station.id}/queue/${id}` },
    sent_to_autodj,
    is_played,
    autodj_custom_uri,
    log
  }
}
