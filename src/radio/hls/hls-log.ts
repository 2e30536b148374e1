import { recordSourceCounts } from '../../engine/listeners/count-listeners.ts'
import { writeHlsConnections } from '../../engine/listeners/hls-connections.ts'
import { readIdentifiedSources } from '../../engine/listeners/identities.ts'
import type { ListenerSessionReport } from '../../engine/listeners/sessions.ts'
import type { EngineServices } from '../../engine/services.ts'
import { forEachStation } from '../../platform/isolation/for-each-station.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { DescribeListener } from '../listener-details.ts'
import { isStreamingServerAgent } from '../user-agent.ts'
import { parseAccessLogLine, parseHlsFetch } from './access-log-line.ts'
import { openFileTail } from './file-tail.ts'
import { openHlsListeners, type SeenListener, type ListenersByVariant } from './hls-listeners.ts'
import { groupListenersByStream, type HlsStream } from './hls-streams.ts'

export interface HlsLogOptions {
  readonly path: string
  /** A client that fetched a playlist within twice the segment length is a listener. */
  readonly segmentMs: number
  readonly describeListener: DescribeListener
}

/** Lines that differ more from the current time are old, or their clock is wrong. */
const maxTimeDifferenceMs = 5 * 60_000
/** Stations that are counted concurrently. */
const concurrency = 8
/** How often to look for stations whose counts are stale, after a restart or a change of the short name. */
const staleCheckMs = 60_000
/** How often stations are counted without changes, so that Redis keeps their sessions. */
const recountMs = 3_600_000

/**
 * Counts the listeners of HLS streams from an access log. `update` reads new lines and stores changed counts.
 * Counts are kept until the log has been followed for a whole window, so a restart or failure lowers none.
 */
export function openHlsLog(services: EngineServices, { path, segmentMs, describeListener }: HlsLogOptions) {
  const windowMs = 2 * segmentMs
  const tail = openFileTail(path)
  const listeners = openHlsListeners(windowMs)
  let followedSinceMs: number | null = null
  let staleCheckAtMs = 0
  let recountAtMs = 0

  /** Returns whether the log has been followed for a whole window. */
  async function readLog(nowMs: number): Promise<boolean> {
    try {
      const exists = await tail.readLines(line => {
        const entry = parseAccessLogLine(line)
        const fetch = entry && Math.abs(entry.atMs - nowMs) < maxTimeDifferenceMs && parseHlsFetch(entry)
        if (fetch && !isStreamingServerAgent(fetch.agent)) listeners.recordFetch(fetch, nowMs)
      })
      followedSinceMs = exists ? (followedSinceMs ?? nowMs) : null
    } catch (error) {
      followedSinceMs = null
      throw error
    }
    return followedSinceMs !== null && nowMs - followedSinceMs > windowMs
  }

  return {
    async update(nowMs: number): Promise<void> {
      const isComplete = await readLog(nowMs)
      const changed = new Set(listeners.expire(nowMs))
      if (!isComplete) return
      if (nowMs >= staleCheckAtMs) {
        for (const shortName of await findCountedStations(services.sql)) {
          if (listeners.listVariants(shortName).size === 0) changed.add(shortName)
        }
        staleCheckAtMs = nowMs + staleCheckMs
      }
      if (nowMs >= recountAtMs) {
        for (const shortName of listeners.listStations()) changed.add(shortName)
        recountAtMs = nowMs + recountMs
      }
      // A listener who left did so after the last fetch.
      const times = { atMs: nowMs, previousMs: nowMs - windowMs, describe: describeListener }
      const names = [...changed]
      const stations = await findStations(services.sql, names)
      const count = async ({ stationId, shortName }: LoggedStation) => {
        await countStation(services, stationId, listeners.listVariants(shortName), times)
        listeners.markCounted(shortName)
      }
      await forEachStation(services, 'hls', stations, count, { concurrency })
      const known = new Set(stations.map(({ shortName }) => shortName))
      for (const shortName of names) if (!known.has(shortName)) listeners.markCounted(shortName)
      await writeHlsConnections(services, listeners, nowMs)
    },
    close: () => tail.close()
  }
}

interface LoggedStation {
  readonly stationId: number
  readonly shortName: string
}

async function findStations(sql: Sql, shortNames: readonly string[]): Promise<LoggedStation[]> {
  if (shortNames.length === 0) return []
  return sql<LoggedStation[]>`
    select id as "stationId", short_name as "shortName" from stations where short_name = any(${[...shortNames]}::text[])`
}

async function findCountedStations(sql: Sql): Promise<string[]> {
  const rows = await sql<{ shortName: string }[]>`
    select distinct s.short_name as "shortName" from hls_streams x join stations s on s.id = x.station_id
    where x.hls_listeners_total > 0`
  return rows.map(({ shortName }) => shortName)
}

/** Stores the listeners of a station's streams. Streams that had listeners from a log and lost them get 0. */
async function countStation(
  services: EngineServices,
  stationId: number,
  variants: ListenersByVariant,
  report: ListenerSessionReport
): Promise<void> {
  const { sql } = services
  const streams = await sql<HlsStream[]>`
    select id, name from hls_streams where station_id = ${stationId} order by id`
  const identified = await readIdentifiedSources(services, stationId)
  const listeners = groupListenersByStream(streams, variants)
  const hls = streams.flatMap(({ id }) => {
    const seen = listeners.get(id) ?? new Map<string, SeenListener>()
    // Listeners in reports have no identities.
    if (seen.size === 0 && !identified.has(`hls:${id}`)) return []
    const connections = Array.from(seen.values(), ({ address, agent, sinceMs }) => {
      const seconds = Math.max(0, Math.floor((report.atMs - sinceMs) / 1_000))
      return { address, userAgent: agent, seconds }
    })
    return [{ id, total: seen.size, unique: seen.size, identities: [...seen.keys()], connections }]
  })
  await recordSourceCounts(services, stationId, { mounts: [], remotes: [], hls }, report)
}
