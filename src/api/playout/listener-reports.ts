import * as v from 'valibot'

import {
  type ListenerReport,
  recordListenerReport,
  tryRecordListenerReport
} from '../../engine/listeners/count-listeners.ts'
import { integerField, maxElementsCheck, formatCheckMessage } from '../../model/fields/field.ts'
import { assertNoFieldErrors, fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import { hasPermission, maySeeStation } from '../auth/access.ts'
import type { ApiKey } from '../auth/key-checker.ts'
import { findStationsByName } from '../core/find-station.ts'
import { parseBody, parseListElements } from '../core/parse.ts'
import { actionResultFields, actionReply, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { actionResultSchema, arrayOf, exactObject, namedSchema, schemaRef, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

const listenerCount = integerField({ min: 0, max: 100_000_000, about: 'Number of listeners.' })
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
    id: v.optional(integerField({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'The id.' }).input),
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
  v.pipe(v.unknown(), maxElementsCheck(maxSources), v.array(source, 'must be a list.')),
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
      formatCheckMessage('required', 'is required with unique, and if no sources are sent.')
    ),
    ['total']
  )
)
type ListenerReportBody = v.InferOutput<typeof report>

const maxStations = 1_000
const notAName = 'must be an id or a short name.'
const stationName = v.union(
  [
    v.pipe(v.number(notAName), v.safeInteger(notAName), v.minValue(1, notAName)),
    v.pipe(v.string(notAName), v.maxLength(100, notAName))
  ],
  notAName
)

/** A report with the id or short name of its station. */
const stationReport = v.pipe(
  v.looseObject({}, 'must be an object.'),
  v.intersect([v.object({ station: stationName }), report])
)
const stationReports = v.object(
  {
    stations: v.pipe(
      v.unknown(),
      maxElementsCheck(maxStations),
      v.array(v.unknown(), 'must be a list.'),
      v.minLength(1, 'must not be empty.')
    )
  },
  'must be an object.'
)

function toSourceCount({ id, path, total, unique = total }: v.InferOutput<typeof source>) {
  return id === undefined ? { path: path ?? '', total, unique } : { id, total, unique }
}

function toReport({ total, unique = total, mounts, remotes, hls }: ListenerReportBody): ListenerReport {
  return {
    totals: total === undefined || unique === undefined ? null : { total, unique },
    mounts: mounts.map(toSourceCount),
    remotes: remotes.map(toSourceCount),
    hls: hls.map(toSourceCount)
  }
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

const reportProperties = {
  ...counts,
  total: { ...counts.total, description: 'The default is the sum of all sources.' },
  mounts: sourcesSchema,
  remotes: sourcesSchema,
  hls: sourcesSchema
}

const access = 'manage station broadcasting'

const reportListeners = apiRoute('PUT', '/api/station/:station_id/listeners', access, {
  id: 'reportListeners',
  tag: 'Listeners',
  summary: 'Report the listeners of a station and its sources',
  body: {
    type: 'object',
    properties: reportProperties,
    examples: [{ total: 12, unique: 11, mounts: [{ path: '/radio.mp3', total: 12 }] }]
  },
  response: schemaRef('ActionResult'),
  writeLimit: 'reports',
  async handle(request, services) {
    await recordListenerReport(
      services,
      getRequestStation(request).id,
      toReport(parseBody(report, request.body))
    )
    return actionReply('Record updated successfully.')
  }
})

/** Reports of a list that are recorded at the same time. */
const atOnce = 100

/** The response to a list of reports. `refused`: the errors of reports that were not recorded. */
const listenersReportedSchema = namedSchema(
  'ListenersReported',
  'Which reports of listeners were recorded.',
  actionResultSchema({
    refused: {
      ...arrayOf(exactObject({ field: string, code: string, message: string })),
      description: 'The sources that do not match. The report of their station was not recorded.'
    }
  })
)

const reportMany = apiRoute('PUT', '/api/listeners', 'any key', {
  id: 'reportListenersOfStations',
  tag: 'Listeners',
  summary: 'Report the listeners of many stations; the key must be allowed to do so for each of them',
  body: {
    type: 'object',
    properties: {
      stations: {
        type: 'array',
        maxItems: maxStations,
        items: {
          type: 'object',
          properties: {
            station: {
              oneOf: [{ type: 'integer' }, { type: 'string' }],
              description: 'The id or the short name.'
            },
            ...reportProperties
          },
          required: ['station']
        }
      }
    },
    required: ['stations'],
    examples: [{ stations: [{ station: 1, total: 12 }] }]
  },
  response: listenersReportedSchema,
  maxBodyBytes: 4 * 1_048_576,
  maxBodyValues: 100_000,
  writeLimit: 'reports',
  /**
   * If a station is unknown or not allowed for the key, the whole list is refused. If sources do not match,
   * only the report of their station is refused, because each station is recorded on its own.
   */
  async handle(request, services) {
    const body = parseBody(stationReports, request.body)
    const stations = await parseListElements(stationReport, body.stations, 'stations')
    const key = request.caller?.key ?? null
    const ids = await getReportedStations(services, key, stations)
    const recording = openFairSemaphore({ total: atOnce })
    const errors = await Promise.all(
      stations.map((each, index) =>
        recording.run(() => recordOne(services, ids[index] ?? 0, index, toReport(each)))
      )
    )
    return jsonReply({ ...actionResultFields('Records updated successfully.'), refused: errors.flat() })
  }
})

/** Records the report of a station of a list. Returns its errors; none if it was recorded. */
async function recordOne(
  services: ApiServices,
  stationId: number,
  index: number,
  reported: ListenerReport
): Promise<readonly FieldError[]> {
  const place = `stations.${index}`
  const refused = await tryRecordListenerReport(services, stationId, reported)
  if (refused === null) return [fieldError(`${place}.station`, 'not_found', 'is not a station.')]
  return refused.map(({ field, code, message }) => ({
    field: `${place}.${field}`,
    code,
    message: `${place}.${message}`
  }))
}

/** Finds the stations of a list. Throws 400 with those that are unknown, repeated or not allowed. */
async function getReportedStations(
  { live, sql }: ApiServices,
  key: ApiKey | null,
  stations: readonly { readonly station: number | string }[]
): Promise<readonly number[]> {
  const unknown = stations.map(({ station }) => String(station)).filter(name => !live.find(name))
  const stored = await findStationsByName(sql, unknown)
  const problems: FieldError[] = []
  const ids = new Set<number>()
  for (const [index, { station: name }] of stations.entries()) {
    const field = `stations.${index}.station`
    const known = live.find(name)
    const found = known ? { id: known.stationId, isPublic: known.isPublic } : stored.get(String(name))
    if (!found || !key || !maySeeStation(key, found))
      problems.push(fieldError(field, 'not_found', 'is not a station.'))
    else if (!hasPermission(key, { permission: access, stationId: found.id, isRead: false }))
      problems.push(fieldError(field, 'not_allowed', `needs the permission "${access}".`))
    else if (ids.has(found.id)) problems.push(fieldError(field, 'duplicate', 'is reported twice.'))
    else ids.add(found.id)
  }
  assertNoFieldErrors(problems)
  return [...ids]
}

export const listenerReportRoutes = [reportListeners, reportMany]
