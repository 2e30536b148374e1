import * as v from 'valibot'

import type { Reply } from '../../http/route.ts'
import { parseDayNumber } from '../../model/autodj/time-zone.ts'
import { validatedField, integerField, formatCheckMessage } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, assertNoFieldErrors, Overloaded, TooManyRequests } from '../../platform/runtime/errors.ts'
import { openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import { parseBody, parseListElements, openQueryFilters } from '../core/parse.ts'
import { type ApiRequest, apiRoute, getRequestStation } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { readPlaylistSources } from './apply-unsaved.ts'
import { scheduleSimulationSchema } from './render-simulation.ts'
import { isDateOrEmpty } from './schedule-items.ts'
import { runSimulationTask } from './simulation-task.ts'
import {
  findPlaylistIdProblems,
  type UnsavedPlaylist,
  unsavedPlaylistValidator,
  unsavedPlaylistsField
} from './unsaved-playlists.ts'

const maxDays = 7

const periodFields = {
  days: integerField({ min: 1, max: maxDays, fallback: maxDays, about: 'Days to simulate.' }),
  from: validatedField(
    v.pipe(
      v.string(formatCheckMessage('invalid_type', 'must be text.')),
      v.trim(),
      v.check(isDateOrEmpty, formatCheckMessage('invalid_format', 'must be a date (YYYY-MM-DD).'))
    ),
    {
      fallback: '',
      schema: { type: 'string' },
      about:
        'A date at whose midnight, in the time zone of the station, the simulation starts with an empty queue. Empty: it continues from now.',
      example: ''
    }
  )
}
const fields = { playlists: unsavedPlaylistsField, ...periodFields }
const validator = bodyValidator(fields)
const periodQuery = openQueryFilters(periodFields)

const path = '/api/station/:station_id/schedule/simulation'
const declared = {
  tag: 'Schedule',
  response: scheduleSimulationSchema,
  errors: [429, 503]
} as const

/** A simulation occupies a core, so few run at a time; a key has one, and another that waits. */
const semaphore = openFairSemaphore({ total: 2, perOwner: 1, waitingPerOwner: 1, waiting: 20, waitMs: 3_000 })
const expectedMs = 2_000
/** Time limit of a simulation, with the start of its thread. */
const timeoutMs = 11_000
const retryAfterSeconds = 5

const simulateStored = apiRoute('GET', path, 'view station management', {
  ...declared,
  id: 'simulateSchedule',
  summary: 'Simulate what the AutoDJ will play, with warnings about playlists that will not play',
  query: periodQuery.schemas,
  handle: (request, services) => {
    const { days = maxDays, from = '' } = periodQuery.parse(request.query)
    return runSimulation(request, services, { days, from, playlists: [] })
  }
})

const simulateUnsaved = apiRoute('POST', path, 'view station management', {
  ...declared,
  id: 'simulateUnsavedSchedule',
  summary: 'The same with settings of playlists that are not saved; nothing is changed',
  body: bodySchema(fields),
  handle: async (request, services) => {
    const body = parseBody(validator, request.body)
    const playlists = await parseListElements(unsavedPlaylistValidator, body.playlists, 'playlists')
    return runSimulation(request, services, { ...body, playlists })
  }
})

export const scheduleSimulationRoutes = [simulateStored, simulateUnsaved]

interface Period {
  readonly days: number
  readonly from: string
  readonly playlists: readonly UnsavedPlaylist[]
}

async function runSimulation(
  request: ApiRequest,
  { reads, config }: ApiServices,
  { days, from, playlists: unsaved }: Period
): Promise<Reply> {
  const { id: stationId } = getRequestStation(request)
  const { DATABASE_URL: databaseUrl } = config
  if (databaseUrl === undefined) throw new ApiError('unavailable')
  assertNoFieldErrors(findPlaylistIdProblems(unsaved, await readPlaylistSources(reads, stationId, unsaved)))
  const client = new AbortController()
  const { permit, drop } = semaphore.acquire(String(request.caller?.key?.id), expectedMs)
  request.onSettled(() => {
    drop()
    client.abort(new ApiError('invalid', 'The client left.'))
  })
  const granted = await permit
  if (granted === 'owner-full')
    throw new TooManyRequests(retryAfterSeconds, 'A simulation of this key is in progress: try again later.')
  if (typeof granted === 'string')
    throw new Overloaded(retryAfterSeconds, 'Too many simulations are in progress: try again later.')
  try {
    const fromDay = from === '' ? null : parseDayNumber(from)
    const task = { databaseUrl, stationId, nowMs: engineTimeMs(), fromDay, days, unsaved }
    const body = await withAbortTimeout(
      client.signal,
      timeoutMs,
      signal => runSimulationTask(task, signal),
      () => new Overloaded(retryAfterSeconds, 'The simulation took too long: simulate fewer days.')
    )
    if (body === null) throw new ApiError('not-found')
    return { body }
  } finally {
    granted.release()
  }
}
