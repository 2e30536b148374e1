import * as v from 'valibot'

import type { Tx } from '../../db/sql.ts'
import { integer, type JsonSchema, problem } from '../../fields/field.ts'
import { changeStation } from '../../playout/change-station.ts'
import { addToQueue, moveInQueue } from '../../playout/queue/manual-queue.ts'
import { clearQueue } from '../../playout/queue/queue.ts'
import type { FieldError } from '../../runtime/errors.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody, parseId } from '../core/parse.ts'
import { refuseProblems } from '../core/resource-store.ts'
import { actionResult, type ApiRoute, json, stationOf } from '../core/route.ts'
import { oneOf } from '../core/schemas.ts'
import { type QueueRow, renderRow, selectRows } from './queue.ts'

const mostAtOnce = 100
const id = integer({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' })

const place = integer({ min: 1, max: 500, about: 'A place in the queue.' })

const songs = v.pipe(
  v.object(
    {
      position: v.nullish(place.input),
      media_id: v.nullish(id.input),
      media_ids: v.nullish(
        v.pipe(
          v.unknown(),
          v.check(Array.isArray, problem('invalid_type', 'must be a list.')),
          v.check(
            value => Array.isArray(value) && value.length > 0,
            problem('too_short', 'must have at least one element.')
          ),
          v.check(
            value => Array.isArray(value) && value.length <= mostAtOnce,
            problem('too_long', `must have at most ${mostAtOnce} elements.`)
          ),
          v.array(id.input)
        )
      )
    },
    problem('invalid_type', 'must be an object.')
  ),
  v.forward(
    v.check(
      body => typeof body.media_id === 'number' || Array.isArray(body.media_ids),
      problem('required', 'is required, or media_ids.')
    ),
    ['media_id']
  ),
  v.forward(
    v.check(
      body => typeof body.media_id !== 'number' || !Array.isArray(body.media_ids),
      problem('duplicate', 'must not stand beside media_id.')
    ),
    ['media_ids']
  )
)

const item = { $ref: '#/components/schemas/QueueItem' }
const placeSchema: JsonSchema = {
  ...place.schema,
  description:
    'The place in the queue, counted from what is not on its way to the air; beyond the end is the end.'
}

const body: JsonSchema = {
  ...oneOf(
    {
      media_id: { ...id.schema, description: 'A song of the library; answered with its row.' },
      media_ids: {
        type: 'array',
        items: id.schema,
        minItems: 1,
        maxItems: mostAtOnce,
        description: 'Several songs, instead; answered with their rows in the same order.'
      }
    },
    {},
    { position: placeSchema }
  ),
  examples: [{ media_id: 12 }, { media_id: 12, position: 1 }]
}

const add: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/queue',
  access: 'manage station broadcasting',
  operation: {
    id: 'addToQueue',
    tag: 'Queue',
    summary: 'Put songs into the queue, ahead of what the AutoDJ chose, in the order given',
    body,
    answer: { oneOf: [item, { type: 'array', items: item }] }
  },
  async handle(request, services) {
    const station = stationOf(request)
    const { media_id: single, media_ids: several, position } = parseBody(songs, request.body)
    const wanted = several ?? [single ?? 0]
    const ids = await changeStation(services, station.id, async change => {
      const { tx } = change
      refuseProblems(await unknownSongs(tx, station.id, wanted, several ? 'media_ids' : null))
      const added = await addToQueue(change, wanted, position ?? null)
      await Promise.all(
        added.map(each => recordAudit(tx, request, { record: 'QueueItem', id: each, fields: ['media_id'] }))
      )
      return added
    })
    const { config, reads } = services
    const rows = await reads<
      QueueRow[]
    >`${selectRows(reads)} where q.id = any(${ids}::bigint[]) order by q.position`
    const items = rows.map(row => renderRow(row, station, config.BASE_URL))
    return json(several ? items : items[0])
  }
}

async function unknownSongs(
  tx: Tx,
  stationId: number,
  ids: readonly number[],
  list: string | null
): Promise<FieldError[]> {
  const rows = await tx<{ id: number }[]>`
    select id from media
    where station_id = ${stationId} and remote_playlist_id is null and id = any(${[...ids]}::bigint[])`
  const known = new Set(rows.map(row => row.id))
  return ids.flatMap((each, index) => {
    const field = list === null ? 'media_id' : `${list}.${index}`
    return known.has(each)
      ? []
      : [{ field, code: 'not_found', message: `${field} is no song of the station's library.` }]
  })
}

const clear: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/queue/clear',
  access: 'manage station broadcasting',
  operation: {
    id: 'clearQueue',
    tag: 'Queue',
    summary: 'Take all songs out of the queue; the AutoDJ fills it anew',
    answer: { $ref: '#/components/schemas/ActionResult' }
  },
  async handle(request, services) {
    const station = stationOf(request)
    await changeStation(services, station.id, async change => {
      await clearQueue(change)
      await recordAudit(change.tx, request, { record: 'Queue', id: station.id })
    })
    return actionResult('Queue cleared.')
  }
}

const move: ApiRoute = {
  method: 'PUT',
  path: '/api/station/:station_id/queue/:id/move',
  access: 'manage station broadcasting',
  operation: {
    id: 'moveQueueItem',
    tag: 'Queue',
    summary: 'Move a song to another place in the queue, where it stays until a person takes it away',
    body: {
      type: 'object',
      properties: { position: placeSchema },
      required: ['position'],
      examples: [{ position: 1 }]
    },
    answer: { $ref: '#/components/schemas/ActionResult' },
    errors: [409]
  },
  async handle(request, services) {
    const station = stationOf(request)
    const queueId = parseId(request.params['id'])
    const { position: wanted } = parseBody(movement, request.body)
    await changeStation(services, station.id, async change => {
      await moveInQueue(change, queueId, wanted)
      await recordAudit(change.tx, request, { record: 'QueueItem', id: queueId, fields: ['position'] })
    })
    return actionResult('Changes saved successfully.')
  }
}

const movement = v.object({ position: place.input }, problem('invalid_type', 'must be an object.'))

export const queueWriteRoutes = [add, clear, move]
