import { advanceInChange } from '../../engine/advance.ts'
import type { StationChange } from '../../engine/change-station.ts'
import { addAnnouncedCommand } from '../../engine/playouts/commands.ts'
import { readRunningStationServices } from '../../engine/playouts/playout-state.ts'
import { recordDjDisconnect } from '../../engine/plays/broadcasts.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import type { Reply } from '../../http/route.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { resetPollsOfStation } from '../../radio/polls/poll-rows.ts'
import { runStationAction } from '../core/actions.ts'
import { actionReply, type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { boolean, exactObject, namedSchema, schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { updateStation } from '../stations/stations.ts'

/*
 * The backend is what controls playback: Cuewire itself (`clock`) or Liquidsoap; the front end is the streaming server.
 * Cuewire runs neither Liquidsoap nor the streaming server. It sends commands to a connected Liquidsoap, and polls the
 * streaming server. What it cannot do is refused with 409.
 */

const path = '/api/station/:station_id'
const tag = 'Broadcasting'
const access = 'manage station broadcasting'

export const serviceStatusSchema = namedSchema(
  'ServiceStatus',
  'What of a station runs.',
  exactObject({
    backendRunning: {
      ...boolean,
      description: 'Whether what controls playback runs: Cuewire itself, or a connected Liquidsoap.'
    },
    frontendRunning: { ...boolean, description: 'Whether the streaming server answered the last poll.' }
  })
)

/** Reads which services of a station run, as the API shows it. */
export async function readServiceStatus({ reads: sql }: ApiServices, stationId: number) {
  const { backend, frontend } = await readRunningStationServices(sql, stationId, engineTimeMs())
  return { backendRunning: backend, frontendRunning: frontend }
}

const status = apiRoute('GET', `${path}/status`, 'view station management', {
  id: 'getServiceStatus',
  tag,
  summary: 'Whether the programs that play the station run',
  response: serviceStatusSchema,
  handle: async (request, services) =>
    jsonReply(await readServiceStatus(services, getRequestStation(request).id))
})

/** Restarts what controls playback. With the clock, the current song ends and the next one starts. */
async function restartBackend(change: StationChange): Promise<void> {
  const { station, play } = change
  if (station.enabledBackend === 'liquidsoap') return addAnnouncedCommand(change, 'restart')
  if (station.enabledBackend === 'none')
    throw new ApiError('conflict', 'Cannot restart: the streaming server controls playback.')
  if (station.liveSinceMs !== null) throw new ApiError('conflict', 'A streamer is live.')
  await advanceInChange(change, { endedShId: play?.id ?? 0, cause: play ? 'skip' : 'wake' })
}

/** Runs a change of the station. Throws 409 if it is disabled. */
const runChange = (
  request: ApiRequest,
  services: ApiServices,
  message: string,
  change: (change: StationChange) => Promise<void>
): Promise<Reply> =>
  runStationAction(request, services, async stationChange => {
    const { id, enabledBackend } = stationChange.station
    if (enabledBackend === null) throw new ApiError('conflict', 'The station is disabled: start it first.')
    await change(stationChange)
    return { audit: [{ record: 'Station', id }], reply: actionReply(message) }
  })

/** Enables the station, if the clock controls playback. */
async function enableClock(request: ApiRequest, services: ApiServices): Promise<void> {
  const { id } = getRequestStation(request)
  const { backend, isEnabled } = await readBackend(services, id)
  if (backend === 'clock' && !isEnabled) await updateStation(services, request, id, { is_enabled: true })
}

async function readBackend({ reads: sql }: ApiServices, stationId: number) {
  const [station] = await sql<{ backend: 'clock' | 'liquidsoap' | 'none'; isEnabled: boolean }[]>`
    select backend, is_enabled as "isEnabled" from stations where id = ${stationId} and deleted_at is null`
  if (!station) throw new ApiError('not-found')
  return station
}

const restart = apiRoute('POST', `${path}/restart`, access, {
  id: 'restartServices',
  tag,
  summary: 'Restart playback, and poll the streaming server again',
  response: schemaRef('ActionResult'),
  errors: [409],
  async handle(request, services) {
    await enableClock(request, services)
    return runChange(request, services, 'Station restarted.', async change => {
      await resetPollsOfStation(change.tx, change.station.id)
      await restartBackend(change)
    })
  }
})

const reload = apiRoute('POST', `${path}/reload`, access, {
  id: 'reloadServices',
  tag,
  summary: 'Plan the queue again and poll the streaming server, without ending the current song',
  response: schemaRef('ActionResult'),
  errors: [409],
  async handle(request, services) {
    await enableClock(request, services)
    return runChange(request, services, 'Station reloaded.', async change => {
      await resetPollsOfStation(change.tx, change.station.id)
      await refillQueue(change)
    })
  }
})

const backendActions = ['disconnect', 'start', 'stop', 'reload', 'restart'] as const
const frontendActions = ['start', 'stop', 'reload', 'restart'] as const

/** Returns the action in a path. Throws 404 for an unknown one. */
function parseAction<const Action extends string>(
  { params }: ApiRequest,
  actions: readonly Action[]
): Action {
  const action = actions.find(each => each === params['action'])
  if (action === undefined) throw new ApiError('not-found')
  return action
}

const elsewhere = (program: string) =>
  `Cuewire does not run ${program}: start and stop it on the machine where it runs.`

const backend = apiRoute('POST', `${path}/backend/:action`, access, {
  id: 'controlBackend',
  tag,
  summary: `Control playback: ${backendActions.join(', ')}`,
  response: schemaRef('ActionResult'),
  errors: [409],
  async handle(request, services) {
    const action = parseAction(request, backendActions)
    const { id } = getRequestStation(request)
    const { backend: kind, isEnabled } = await readBackend(services, id)
    switch (action) {
      case 'disconnect':
        return disconnectStreamer(request, services)
      case 'start':
      case 'stop':
        if (kind === 'clock') {
          if (isEnabled !== (action === 'start'))
            await updateStation(services, request, id, { is_enabled: action === 'start' })
          return actionReply(action === 'start' ? 'Service started.' : 'Service stopped.')
        }
        if (action === 'start' && (await readServiceStatus(services, id)).backendRunning)
          return actionReply('Service started.')
        throw new ApiError('conflict', elsewhere(kind === 'none' ? 'what plays this station' : 'Liquidsoap'))
      case 'reload':
        if (kind !== 'liquidsoap')
          return runChange(request, services, 'Service reloaded.', change =>
            refillQueue(change).then(() => {})
          )
        return runChange(request, services, 'Service reloaded.', restartBackend)
      case 'restart':
        await enableClock(request, services)
        return runChange(request, services, 'Service restarted.', restartBackend)
      default:
        return action satisfies never
    }
  }
})

/** Disconnects the live streamer. A playout does that itself, and then reports it. */
async function disconnectStreamer(request: ApiRequest, services: ApiServices): Promise<Reply> {
  const { id } = getRequestStation(request)
  const reply = await runChange(request, services, 'Streamer disconnected.', async change => {
    const { station } = change
    if (station.liveSinceMs === null) throw new ApiError('conflict', 'No streamer is live.')
    if (station.enabledBackend === 'liquidsoap') await addAnnouncedCommand(change, 'disconnect')
  })
  const { backend: kind } = await readBackend(services, id)
  if (kind !== 'liquidsoap') await recordDjDisconnect(services, id, { username: null, atMs: engineTimeMs() })
  return reply
}

const frontend = apiRoute('POST', `${path}/frontend/:action`, access, {
  id: 'controlFrontend',
  tag,
  summary: `Control the streaming server: ${frontendActions.join(', ')}; it is polled again, and never stopped`,
  response: schemaRef('ActionResult'),
  errors: [409],
  async handle(request, services) {
    const action = parseAction(request, frontendActions)
    if (action === 'stop') throw new ApiError('conflict', elsewhere('the streaming server'))
    return runChange(request, services, 'The streaming server is polled again.', async ({ tx, station }) => {
      await resetPollsOfStation(tx, station.id)
      const polls = await tx`select from polls where station_id = ${station.id} and remote_id is null`
      if (polls.length === 0)
        throw new ApiError('conflict', 'The station has no streaming server that is polled.')
    })
  }
})

export const stationServiceRoutes = [status, restart, reload, backend, frontend]
