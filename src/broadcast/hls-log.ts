import type { Sql } from '../db/sql.ts'
import { countAtSources } from '../playout/listeners.ts'
import type { PlayoutServices } from '../playout/services.ts'
import { parseAccessLine } from './access-log.ts'
import { hlsFetchOf } from './hls-fetch.ts'
import { openHlsListeners, type Variants } from './hls-listeners.ts'
import { type HlsStream, listenersOfStreams } from './hls-streams.ts'
import { openTail } from './tail.ts'

export interface HlsLogOptions {
  readonly path: string
  /** The length of the segments: who fetched a playlist within twice that listens. */
  readonly segmentMs: number
}

/** A line of so much earlier or later tells of the past, or comes from a clock that is wrong. */
const otherTimeMs = 5 * 60_000

/** How many stations are counted at once. */
const lanes = 8
/** How often stations are looked for whose listeners nobody sees any more: after a restart, or under another name. */
const strayMs = 60_000

/**
 * Counts the listeners of HLS streams by the access log of the web server that sends them. `look` reads what was added
 * and records what has changed; call it every second or two. Counts stay what they were until the log was followed for
 * as long as a listener may take to fetch again, so that neither a restart nor a fault brings any of them down.
 */
export function openHlsLog(services: PlayoutServices, { path, segmentMs }: HlsLogOptions) {
  const windowMs = 2 * segmentMs
  const tail = openTail(path)
  const listeners = openHlsListeners(windowMs)
  let followedSinceMs: number | null = null
  let straysAtMs = 0

  async function read(nowMs: number): Promise<boolean> {
    try {
      const isThere = await tail.look(line => {
        const entry = parseAccessLine(line)
        const fetch = entry && Math.abs(entry.atMs - nowMs) < otherTimeMs && hlsFetchOf(entry)
        if (fetch) listeners.see(fetch, nowMs)
      })
      followedSinceMs = isThere ? (followedSinceMs ?? nowMs) : null
    } catch (error) {
      followedSinceMs = null
      throw error
    }
    return followedSinceMs !== null && nowMs - followedSinceMs > windowMs
  }

  return {
    async look(nowMs: number): Promise<void> {
      const isComplete = await read(nowMs)
      const changed = new Set(listeners.changedAt(nowMs))
      if (!isComplete) return
      if (nowMs >= straysAtMs) {
        for (const shortName of await countedStations(services.sql)) {
          if (listeners.variantsOf(shortName).size === 0) changed.add(shortName)
        }
        straysAtMs = nowMs + strayMs
      }
      await inLanes([...changed], async shortName => {
        await countStation(services, shortName, listeners.variantsOf(shortName))
        listeners.settle(shortName)
      })
    },
    close: () => tail.close()
  }
}

/** One that fails does not keep the others waiting; throws what the first of them threw. */
async function inLanes(
  shortNames: readonly string[],
  work: (shortName: string) => Promise<void>
): Promise<void> {
  const next = shortNames.values()
  const lane = async () => {
    for (const shortName of next) await work(shortName)
  }
  const done = await Promise.allSettled(Array.from({ length: lanes }, lane))
  for (const each of done) if (each.status === 'rejected') throw each.reason
}

/** Its listeners were seen in a log: reports tell nobody apart. */
const isLogged = (sql: Sql) => sql`exists (
  select from listeners l
  where l.station_id = x.station_id and l.source = 'hls:' || x.id and l.left_at_ms is null)`

async function countedStations(sql: Sql): Promise<string[]> {
  const rows = await sql<{ shortName: string }[]>`
    select distinct s.short_name as "shortName" from hls_streams x join stations s on s.id = x.station_id
    where x.hls_listeners_total > 0 and ${isLogged(sql)}`
  return rows.map(({ shortName }) => shortName)
}

/** Records who listens to the streams of a station, and that nobody listens any more to others that were counted. */
async function countStation(services: PlayoutServices, shortName: string, variants: Variants): Promise<void> {
  const { sql } = services
  const [station] = await sql<{ id: number }[]>`select id from stations where short_name = ${shortName}`
  if (!station) return
  const streams = await sql<(HlsStream & { isLogged: boolean })[]>`
    select x.id, x.name, ${isLogged(sql)} as "isLogged"
    from hls_streams x where x.station_id = ${station.id} order by x.id`
  const listeners = listenersOfStreams(streams, variants)
  const hls = streams.flatMap(stream => {
    const identities = [...(listeners.get(stream.id) ?? [])]
    if (identities.length === 0 && !stream.isLogged) return []
    return [{ id: stream.id, total: identities.length, unique: identities.length, identities }]
  })
  await countAtSources(services, station.id, { mounts: [], remotes: [], hls })
}
