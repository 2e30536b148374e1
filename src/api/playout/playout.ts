import * as v from 'valibot'

import { integer, maxLength } from '../../fields/field.ts'
import { changeStation } from '../../playout/change-station.ts'
import { countListeners } from '../../playout/listeners/count-listeners.ts'
import { skipSong } from '../../playout/playouts/commands.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import { actionResult, type ApiRoute, stationOf } from '../core/route.ts'

const done = { $ref: '#/components/schemas/ActionResult' }

const wish = v.object(
  { sh_id: v.optional(integer({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'The play.' }).input) },
  'must be an object.'
)

const skip: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/backend/skip',
  access: 'manage station broadcasting',
  operation: {
    id: 'skipSong',
    tag: 'Queue',
    summary: 'End the song on air now',
    body: {
      type: 'object',
      properties: {
        sh_id: {
          type: 'integer',
          minimum: 1,
          description: 'The play that is meant, as now playing has it: 409 where another one is on by now.'
        }
      }
    },
    isBodyOptional: true,
    answer: done,
    errors: [409]
  },
  async handle(request, services) {
    const { id } = stationOf(request)
    const { sh_id: meantShId = null } = parseBody(wish, request.body)
    await changeStation(services, id, async change => {
      await skipSong(change, meantShId)
      await recordAudit(change.tx, request, { record: 'Station', id })
    })
    return actionResult('Song skipped.')
  }
}

const listenersAtMost = 100_000_000

const number = integer({ min: 0, max: listenersAtMost, about: 'Listeners.' }).input

/** `unique` is as high as `total` where the source cannot tell. */
const count = { total: number, unique: v.optional(number) }
const isPlausible = ({ total, unique }: { total: number; unique?: number | undefined }) =>
  unique === undefined || unique <= total
const tooUnique = 'must not be above total.'

const source = v.pipe(
  v.object({
    ...count,
    id: v.optional(integer({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'The id.' }).input),
    path: v.optional(v.pipe(v.string('must be text.'), v.maxLength(2048, 'must be at most 2048 characters.')))
  }),
  v.forward(v.partialCheck([['total'], ['unique']], isPlausible, tooUnique), ['unique']),
  v.rawCheck(({ dataset, addIssue }) => {
    const isNamed = !dataset.typed || dataset.value.id !== undefined || dataset.value.path !== undefined
    if (!isNamed) addIssue({ message: 'must have an id or a path.' })
  })
)
const sources = v.optional(v.pipe(v.unknown(), maxLength(1_000), v.array(source, 'must be a list.')), [])

const report = v.pipe(
  v.object(
    { total: v.optional(number), unique: count.unique, mounts: sources, remotes: sources, hls: sources },
    'must be an object.'
  ),
  v.forward(
    v.partialCheck(
      [['total'], ['unique']],
      ({ total, unique }) => total === undefined || isPlausible({ total, unique }),
      tooUnique
    ),
    ['unique']
  ),
  v.forward(
    v.check(
      ({ total, unique, mounts, remotes, hls }) =>
        total !== undefined || (unique === undefined && mounts.length + remotes.length + hls.length > 0),
      'is required where no source is counted, and with unique.'
    ),
    ['total']
  )
)

function sourceCount({ id, path, total, unique = total }: v.InferOutput<typeof source>) {
  return id === undefined ? { path: path ?? '', total, unique } : { id, total, unique }
}

const countSchema = {
  total: { type: 'integer', minimum: 0, maximum: listenersAtMost },
  unique: { type: 'integer', minimum: 0, maximum: listenersAtMost }
}
const sourcesSchema = {
  type: 'array',
  maxItems: 1_000,
  items: {
    type: 'object',
    properties: { id: { type: 'integer' }, path: { type: 'string', maxLength: 2048 }, ...countSchema },
    required: ['total']
  }
}

const listeners: ApiRoute = {
  method: 'PUT',
  path: '/api/station/:station_id/listeners',
  access: 'manage station broadcasting',
  operation: {
    id: 'reportListeners',
    tag: 'Listeners',
    summary: 'Report the listeners of a station and its sources',
    body: {
      type: 'object',
      properties: {
        ...countSchema,
        total: { ...countSchema.total, description: 'The sum over all sources of the station unless told.' },
        mounts: sourcesSchema,
        remotes: sourcesSchema,
        hls: sourcesSchema
      },
      examples: [{ total: 12, unique: 11, mounts: [{ path: '/radio.mp3', total: 12 }] }]
    },
    answer: done
  },
  async handle(request, services) {
    const station = stationOf(request)
    const { total, unique = total, mounts, remotes, hls } = parseBody(report, request.body)
    await countListeners(services, station.id, {
      totals: total === undefined || unique === undefined ? null : { total, unique },
      mounts: mounts.map(sourceCount),
      remotes: remotes.map(sourceCount),
      hls: hls.map(sourceCount)
    })
    return actionResult('Record updated successfully.')
  }
}

export const playoutRoutes = [skip, listeners]
