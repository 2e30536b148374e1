import { clearQueue } from '../../engine/queue/queue.ts'
import { publishStation } from '../../engine/repair-states.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { StoreOffline } from '../../platform/runtime/errors.ts'
import { resetPollsOfStation } from '../../radio/polls/poll-rows.ts'
import { actionRoute, stationActionRoute } from '../core/actions.ts'
import { actionReply, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, exactObject, int64, schemaRef, string } from '../core/schemas.ts'

const access = 'administer all'
const tag = 'Debugging'
const path = '/api/admin/debug'
const stationPath = `${path}/station/:station_id`
const timeoutMs = 2_000

/** The level of information, in the numbers of RFC 5424 as AzuraCast's logger has them. */
const infoLevel = 200

const logEntry = exactObject({
  datetime: { ...string, format: 'date-time' },
  channel: string,
  level: int64,
  message: string,
  context: arrayOf({}),
  extra: arrayOf({}),
  formatted: string
})
const logResult = exactObject({ logs: arrayOf(logEntry) })

/** Renders what a call did as log entries. */
function renderLogs(entries: readonly { readonly message: string; readonly context?: readonly unknown[] }[]) {
  const datetime = new Date(engineTimeMs()).toISOString()
  return {
    logs: entries.map(({ message, context = [] }) => ({
      datetime,
      channel: 'cuewire',
      level: infoLevel,
      message,
      context,
      extra: [],
      formatted: `[${datetime}] cuewire.INFO: ${message}`
    }))
  }
}

const clearCache = apiRoute('PUT', `${path}/clear-cache`, access, {
  id: 'clearCache',
  tag,
  summary: 'Read keys and settings from the database again; other servers do so within a second',
  response: schemaRef('ActionResult'),
  handle: (_, { keys, settings }) => {
    keys.forget(() => true)
    settings.forget()
    return actionReply('The caches of this server were cleared.')
  }
})

const queues = apiRoute('GET', `${path}/queues`, access, {
  id: 'listDebugQueues',
  tag,
  summary:
    'Number of waiting jobs: ends of songs (high priority) and deliveries of web hooks (normal priority)',
  response: arrayOf(
    exactObject({
      name: { ...string, enum: ['high_priority', 'normal_priority'] },
      count: int64,
      url: string
    })
  ),
  errors: [503],
  async handle(_, { scheduledPlays, deliveries, config }) {
    const url = (name: string) => `${config.BASE_URL}${path}/clear-queue/${name}`
    const [{ overdue: high }, normal] = await withDeadline(timeoutMs, 'reading the queues', () =>
      Promise.all([scheduledPlays.count(engineTimeMs()), deliveries.getJobCountByTypes('waiting', 'active')])
    ).catch(() => {
      throw new StoreOffline()
    })
    return jsonReply([
      { name: 'high_priority', count: high, url: url('high_priority') },
      { name: 'normal_priority', count: normal, url: url('normal_priority') }
    ])
  }
})

const stations = apiRoute('GET', `${path}/stations`, access, {
  id: 'listDebugStations',
  tag,
  summary: 'All stations with the URLs of the calls below',
  response: arrayOf(
    exactObject({
      id: int64,
      name: string,
      clearQueueUrl: string,
      getNextSongUrl: string,
      getNowPlayingUrl: string
    })
  ),
  async handle(_, { reads: sql, config }) {
    const rows = await sql<{ id: number; name: string }[]>`
      select id, name from stations where deleted_at is null order by name, id limit 10000`
    return jsonReply(
      rows.map(({ id, name }) => {
        const url = (action: string) => `${config.BASE_URL}${path}/station/${id}/${action}`
        return {
          id,
          name,
          clearQueueUrl: url('clearqueue'),
          getNextSongUrl: url('nextsong'),
          getNowPlayingUrl: url('nowplaying')
        }
      })
    )
  }
})

const clearStationQueue = stationActionRoute('PUT', `${stationPath}/clearqueue`, access, {
  id: 'clearStationQueue',
  tag,
  summary: 'Remove all songs of the queue; the AutoDJ refills it',
  response: logResult,
  prepare: request => async change => {
    await clearQueue(change)
    return {
      audit: [{ record: 'Queue', id: getRequestStation(request).id }],
      reply: jsonReply(renderLogs([{ message: 'The queue was cleared and planned again.' }]))
    }
  }
})

const nextSong = apiRoute('PUT', `${stationPath}/nextsong`, access, {
  id: 'explainNextSong',
  tag,
  summary: 'The next song of the queue, and why the AutoDJ chose it; nothing is changed',
  response: logResult,
  async handle(request, { reads: sql }) {
    const [next] = await sql<{ artist: string; title: string; log: unknown[] }[]>`
      select m.artist, m.title, q.log from queue q join media m on m.id = q.media_id
      where q.station_id = ${getRequestStation(request).id} and q.played_at_ms is null and q.skipped_at_ms is null
      order by q.is_sent desc, q.position limit 1`
    if (!next) return jsonReply(renderLogs([{ message: 'The queue is empty.' }]))
    const name = [next.artist, next.title].filter(part => part !== '').join(' - ')
    return jsonReply(renderLogs([{ message: `Next song: ${name}`, context: next.log }]))
  }
})

const nowPlaying = actionRoute('PUT', `${stationPath}/nowplaying`, access, {
  id: 'refreshNowPlaying',
  tag,
  summary: 'Publish the state of a station again, and poll its streaming servers now',
  response: logResult,
  prepare: (request, services) => async tx => {
    const { id } = getRequestStation(request)
    await resetPollsOfStation(tx, id)
    return {
      audit: [{ record: 'Station', id }],
      async reply() {
        await publishStation(services, id)
        return jsonReply(
          renderLogs([
            { message: 'The state of the station was published again.' },
            { message: 'Its streaming servers are polled now.' }
          ])
        )
      }
    }
  }
})

export const debugRoutes = [clearCache, queues, stations, clearStationQueue, nextSong, nowPlaying]
