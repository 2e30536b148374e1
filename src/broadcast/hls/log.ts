import type { Sql } from '../../db/sql.ts'
import { countAtSources } from '../../playout/listeners/count-listeners.ts'
import type { PlayoutServices } from '../../playout/services.ts'
import { listenerIdentity } from '../loose-json.ts'
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
/**
 * How often stations are looked for whose listeners nobody sees any more: after a restart, or under another
 * name.
 */
const strayMs = 60_000

/**
 * Counts the listeners of HLS streams by the access log of the web server that sends them. `look` reads what
 * was added and records what has changed; call it every second or two. Counts stay what they were until the
 * log was followed for as long as a listener may take to fetch again, so that neither a restart nor a fault
 * brings any of them down.
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

/**
 * Records who listens to the streams of a station, and that nobody listens any more to others that were
 * counted.
 */
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

/** An HLS stream of a station: `name` is the path it has as a mount. */
interface HlsStream {
  readonly id: number
  readonly name: string
}

/**
 * Who listens to each stream, by its id. A variant belongs to the stream of its name, without the slash in
 * front and with or without its extension: `radio` is `/radio.mp3`, unless there is `/radio`. Variants of no
 * stream are passed over.
 */
export function listenersOfStreams(
  streams: readonly HlsStream[],
  variants: Variants
): Map<number, ReadonlySet<string>> {
  const byVariant = new Map<string, number>()
  const remember = (variant: string, id: number) => {
    if (!byVariant.has(variant)) byVariant.set(variant, id)
  }
  for (const { id, name } of streams) remember(name.replace(/^\//, ''), id)
  for (const { id, name } of streams) remember(name.replace(/^\//, '').replace(/\.[^./]+$/, ''), id)
  const listeners = new Map<number, Set<string>>()
  for (const [variant, identities] of variants) {
    const id = byVariant.get(variant)
    if (id === undefined) continue
    listeners.set(id, new Set([...(listeners.get(id) ?? []), ...identities]))
  }
  return listeners
}

/** What a line of an access log says of a request. Texts are as the log escapes them. */
export interface AccessEntry {
  readonly address: string
  /** Unix milliseconds; NaN for a day that is in no calendar. */
  readonly atMs: number
  readonly method: string
  readonly target: string
  readonly status: number
  /** Empty in the common format, which does not tell it. */
  readonly agent: string
}

/**
 * The time and the quote after it: no quote comes before them, since web servers escape those of a user's
 * name.
 */
const time = /\[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d [+-]\d{4})\] "/
const request = /^([A-Z]{1,20}) (\S+)(?: HTTP\/[\d.]+)?$/
const result = /^ (\d{3}) (?:\d+|-)(?= |$)/

/**
 * Reads a line of the common or the combined format, as Apache, nginx and others write them; what comes after
 * is left alone. Null for any other line.
 */
export function parseAccessLine(line: string): AccessEntry | null {
  const address = line.slice(0, Math.max(0, line.indexOf(' ')))
  const at = time.exec(line)
  if (address === '' || at === null) return null
  const asked = quoted(line, at.index + at[0].length - 1)
  const [, method, target] = request.exec(asked?.text ?? '') ?? []
  if (!asked || method === undefined || target === undefined) return null
  const rest = line.slice(asked.end)
  const [answered, status] = result.exec(rest) ?? []
  if (answered === undefined) return null
  const referer = quoted(rest, answered.length + 1)
  const agent = referer && quoted(rest, referer.end + 1)
  const [, day, month, year, clock] = at
  const atMs = Date.parse(`${day} ${month} ${year} ${clock}`)
  return { address, atMs, method, target, status: Number(status), agent: agent?.text ?? '' }
}

/** The text in quotes that begins at an index, and where it ends. A backslash escapes what follows it. */
function quoted(line: string, start: number): { text: string; end: number } | null {
  if (line[start] !== '"') return null
  for (let index = start + 1; index < line.length; index++) {
    if (line[index] === '\\') index++
    else if (line[index] === '"') return { text: line.slice(start + 1, index), end: index + 1 }
  }
  return null
}

/** Who listens to a station, by variant. A variant that everybody has left is not among them. */
type Variants = ReadonlyMap<string, readonly string[]>

/** Who listens to HLS, by what was fetched lately. Instants are Unix milliseconds and never go back. */
interface HlsListeners {
  readonly see: (fetch: HlsFetch, atMs: number) => void
  /**
   * Forgets who has left. Gives the short names of stations where anybody came or left and nobody has taken
   * it over.
   */
  readonly changedAt: (atMs: number) => string[]
  readonly variantsOf: (shortName: string) => Variants
  /** The changes of a station are taken over. */
  readonly settle: (shortName: string) => void
}

/**
 * Who has fetched within `windowMs` listens. Only so many listeners are known at once; who comes beyond them
 * is not seen.
 */
export function openHlsListeners(windowMs: number, listenersAtMost = 200_000): HlsListeners {
  /** By station and variant: when each listener fetched last, the longest ago first. */
  const stations = new Map<string, Map<string, Map<string, number>>>()
  const changed = new Set<string>()
  let known = 0

  return {
    see({ shortName, variant, identity }, atMs) {
      const listeners = stations.get(shortName)?.get(variant)
      if (listeners?.delete(identity)) {
        listeners.set(identity, atMs)
        return
      }
      if (known >= listenersAtMost) return
      known++
      changed.add(shortName)
      if (listeners) {
        listeners.set(identity, atMs)
        return
      }
      const variants = stations.get(shortName) ?? new Map<string, Map<string, number>>()
      stations.set(shortName, variants.set(variant, new Map([[identity, atMs]])))
    },
    changedAt(atMs) {
      for (const [shortName, variants] of stations) {
        for (const [variant, listeners] of variants) {
          const left = forget(listeners, atMs - windowMs)
          known -= left
          if (left > 0) changed.add(shortName)
          if (listeners.size === 0) variants.delete(variant)
        }
        if (variants.size === 0) stations.delete(shortName)
      }
      return [...changed]
    },
    variantsOf: shortName =>
      new Map([...(stations.get(shortName) ?? [])].map(([variant, seen]) => [variant, [...seen.keys()]])),
    settle: shortName => void changed.delete(shortName)
  }
}

/** Removes who was seen last before a time; gives how many. */
function forget(listeners: Map<string, number>, beforeMs: number): number {
  let left = 0
  for (const [identity, seenMs] of listeners) {
    if (seenMs >= beforeMs) break
    listeners.delete(identity)
    left++
  }
  return left
}

/** A listener got the playlist of one variant of a station's HLS, as players do again and again. */
interface HlsFetch {
  readonly shortName: string
  /** The playlist's path below the station's folder, without `.m3u8`. */
  readonly variant: string
  readonly identity: string
}

/** The playlist of all variants: a player gets it once, and so does who only looks. */
const master = 'live'
const gotten: ReadonlySet<number> = new Set([200, 206, 304])
const place = /^\/hls\/([^/]{1,100})\/(.{1,255})\.m3u8$/

/**
 * Reads `/hls/{short name}/{variant}.m3u8` out of a request; null if it is for anything else, or was not
 * answered.
 */
export function hlsFetchOf({ address, method, target, status, agent }: AccessEntry): HlsFetch | null {
  if (method !== 'GET' || !gotten.has(status)) return null
  const [, shortName, variant] = place.exec(pathOf(target)) ?? []
  if (shortName === undefined || variant === undefined || variant === master) return null
  return { shortName, variant, identity: listenerIdentity(address, agent) }
}

/** The path of a request target, also of one that names the server as well; empty if it is none. */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}
