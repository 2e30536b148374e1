import * as v from 'valibot'

import { integer, limitElements } from '../../fields/field.ts'
import { bodySchema } from '../../fields/form.ts'
import { recordCounts } from '../../playout/listeners/count-listeners.ts'
import { skipSong } from '../../playout/playouts/commands.ts'
import { stationAction } from '../core/actions.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply, apiRoute, stationOf } from '../core/route.ts'

const skipFields = {
  sh_id: integer({
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    about: 'The play to end, from now playing. 409 if another play is current.',
    example: 1
  })
}
/** Accepts an empty list too, which some clients send as an empty body. */
const skipValidator = v.object({ sh_id: v.optional(skipFields.sh_id.input) }, 'must be an object.')

const skip = stationAction('POST', '/api/station/:station_id/backend/skip', 'manage station broadcasting', {
  id: 'skipSong',
  tag: 'Queue',
  summary: 'End the current song now',
  body: bodySchema(skipFields, { isPartial: true }),
  isBodyOptional: true,
  errors: [409],
  prepare(request) {
    const { sh_id: playId = null } = parseBody(skipValidator, request.body)
    return {
      audit: { record: 'Station', id: stationOf(request).id },
      message: 'Song skipped.',
      change: change => skipSong(change, playId)
    }
  }
})

const listenerCount = integer({ min: 0, max: 100_000_000, about: 'Number of listeners.' })
const number = listenerCount.input
const maxSources = 1_000
const maxPathLength = 2_048

/** `unique` defaults to `total`. */
const count = { total: number, unique: v.optional(number) }
const isPlausible = ({ total, unique }: { total?: number | undefined; unique?: number | undefined }) =>
  total === undefined || unique === undefined || unique <= total
const tooUnique = 'must not be above total.'

const source = v.pipe(
  v.object({
    ...count,
    id: v.optional(integer({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'The id.' }).input),
    path: v.optional(
      v.pipe(
        v.string('must be text.'),
        v.maxLength(maxPathLength, `must have at most ${maxPathLength} characters.`)
      )
    )
  }),
  v.forward(v.partialCheck([['total'], ['unique']], isPlausible, tooUnique), ['unique']),
  v.rawCheck(({ dataset, addIssue }) => {
    const isNamed = !dataset.typed || dataset.value.id !== undefined || dataset.value.path !== undefined
    if (!isNamed) addIssue({ message: 'must have an id or a path.' })
  })
)
const sources = v.optional(
  v.pipe(v.unknown(), limitElements(maxSources), v.array(source, 'must be a list.')),
  []
)

const report = v.pipe(
  v.object(
    { total: v.optional(number), unique: count.unique, mounts: sources, remotes: sources, hls: sources },
    'must be an object.'
  ),
  v.forward(v.partialCheck([['total'], ['unique']], isPlausible, tooUnique), ['unique']),
  v.forward(
    v.check(
      ({ total, unique, mounts, remotes, hls }) =>
        total !== undefined || (unique === undefined && mounts.length + remotes.length + hls.length > 0),
      'is required with unique, and if no sources are sent.'
    ),
    ['total']
  )
)

function toSourceCount({ id, path, total, unique = total }: v.InferOutput<typeof source>) {
  return id === undefined ? { path: path ?? '', total, unique } : { id, total, unique }
}

const counts = { total: listenerCount.schema, unique: listenerCount.schema }
const sourcesSchema = {
  type: 'array',
  maxItems: maxSources,
  items: {
    type: 'object',
    properties: { id: { type: 'integer' }, path: { type: 'string', maxLength: maxPathLength }, ...counts },
    required: ['total']
  }
}

const listeners = apiRoute('PUT', '/api/station/:station_id/listeners', 'manage station broadcasting', {
  id: 'reportListeners',
  tag: 'Listeners',
  summary: 'Report the listeners of a station and its sources',
  body: {
    type: 'object',
    properties: {
      ...counts,
      total: { ...counts.total, description: 'The default is the sum of all sources.' },
      mounts: sourcesSchema,
      remotes: sourcesSchema,
      hls: sourcesSchema
    },
    examples: [{ total: 12, unique: 11, mounts: [{ path: '/radio.mp3', total: 12 }] }]
  },
  answer: { $ref: '#/components/schemas/ActionResult' },
  async handle(request, services) {
    const station = stationOf(request)
    const { total, unique = total, mounts, remotes, hls } = parseBody(report, request.body)
    await recordCounts(services, station.id, {
      totals: total === undefined || unique === undefined ? null : { total, unique },
      mounts: mounts.map(toSourceCount),
      remotes: remotes.map(toSourceCount),
      hls: hls.map(toSourceCount)
    })
    return actionReply('Record updated successfully.')
  }
})

export const playoutRoutes = [skip, listeners]
