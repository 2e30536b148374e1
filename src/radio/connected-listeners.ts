import { createHmac, randomBytes } from 'node:crypto'

import { readHlsConnections } from '../engine/listeners/hls-connections.ts'
import { readIdentifiedSources } from '../engine/listeners/identities.ts'
import type { EngineServices } from '../engine/services.ts'
import { FetchFault } from '../platform/outbound/guarded-fetch.ts'
import { openCache } from '../platform/runtime/cache.ts'
import { withAbortTimeout } from '../platform/runtime/deadline.ts'
import { ApiError, Overloaded } from '../platform/runtime/errors.ts'
import { openFairSemaphore } from '../platform/runtime/fair-semaphore.ts'
import type { Sql } from '../stores/db/sql.ts'
import type { Secrets } from '../stores/secrets/secrets.ts'
import { mapVariantsToStreams } from './hls/hls-streams.ts'
import { readStationServers } from './polls/poll-rows.ts'
import { allowedServerNetworks, fetchFromServer } from './polls/poll-servers.ts'
import { StreamingServerError } from './server-stream.ts'
import { fetchListeners } from './streaming-servers.ts'
import { type AgentDetails, parseUserAgent } from './user-agent.ts'

/*
 * Who listens to a station now, as its streaming servers and the access log of its HLS streams say. It is in
 * memory, that of the log in Redis, for a few seconds, and never stored or logged.
 */

export interface ConnectedListener {
  readonly address: string
  readonly userAgent: string
  readonly agent: AgentDetails
  /** Of address and user agent, with a key of this process. */
  readonly hash: string
  /** `/radio.mp3`; of an HLS stream `/radio.mp3 (HLS)`. */
  readonly source: string
  /** Whether it is connected to the station's own server. */
  readonly isLocal: boolean
  /** How long it has been connected. */
  readonly seconds: number
}

interface ConnectedSource {
  readonly name: string
  readonly isLocal: boolean
  /** Includes listeners that are not listed. */
  readonly total: number
}

export interface ConnectedListeners {
  readonly atMs: number
  /** At most 10,000. */
  readonly listeners: readonly ConnectedListener[]
  readonly sources: readonly ConnectedSource[]
  /** Sentences about servers that did not list their listeners; empty if all did. */
  readonly problem: string
}

interface ConnectedListenersDeps {
  readonly sql: Sql
  readonly redis: EngineServices['redis']
  readonly secrets: Pick<Secrets, 'open'>
  /** `WEBHOOK_ALLOWED_NETWORKS` */
  readonly allowedNetworks: readonly string[]
}

type Settled = readonly [PromiseSettledResult<ConnectedListeners>]

const maxListeners = 10_000
/** For all requests to the servers of a station together. */
const timeoutMs = 8_000
const cacheTtlMs = 5_000
const maxInFlight = 4
const maxWaiting = 50
const retryAfterSeconds = 5

/** Reads who listens now. A station is read once at a time, and cached for five seconds. */
export type ReadConnectedListeners = (stationId: number) => Promise<ConnectedListeners>

/**
 * The result throws 409 if the station has neither a streaming server that is polled nor HLS listeners, and 503
 * if none of its servers responds or too many stations are being read.
 */
export function openConnectedListeners(deps: ConnectedListenersDeps): ReadConnectedListeners {
  const networks = allowedServerNetworks(deps.allowedNetworks)
  const hashKey = randomBytes(32)
  const reading = openFairSemaphore({ total: maxInFlight })
  const cache = openCache<number, Settled>({ maxEntries: 1_000, ttlMs: cacheTtlMs })

  const describeListener = (address: string, userAgent: string) => ({
    address,
    userAgent,
    agent: parseUserAgent(userAgent),
    hash: createHmac('sha256', hashKey).update(`${address}\n${userAgent}`).digest('hex').slice(0, 32)
  })

  /** The listeners of HLS streams; null if there are none. */
  async function readHls(stationId: number, signal: AbortSignal): Promise<ListenerSource | null> {
    const streams = await deps.sql<HlsCount[]>`
      select x.id, x.name, x.hls_listeners_total as total, s.short_name as "shortName"
      from hls_streams x join stations s on s.id = x.station_id
      where x.station_id = ${stationId} and x.hls_listeners_total > 0 order by x.id`
    const [first] = streams
    if (!first) return null
    const identified = await readIdentifiedSources(deps, stationId)
    // Listeners in reports are only counted.
    const isLogged = streams.some(({ id }) => identified.has(`hls:${id}`))
    const connections = isLogged ? await readHlsConnections(deps, first.shortName, signal) : null
    const idByVariant = mapVariantsToStreams(streams)
    const names = new Map(streams.map(({ id, name }) => [id, `${name} (HLS)`]))
    return {
      problem: connections === null ? 'The listeners of HLS streams are counted, but not listed.' : '',
      sources: streams.map(({ id, total }) => ({ name: names.get(id) ?? '', isLocal: true, total })),
      listeners: (connections ?? []).flatMap(({ address, userAgent, variant, seconds }) => {
        const source = names.get(idByVariant.get(variant) ?? 0)
        if (source === undefined) return []
        return { ...describeListener(address, userAgent), source, isLocal: true, seconds }
      })
    }
  }

  async function readServer(server: StationServer, signal: AbortSignal): Promise<ListenerSource> {
    const isLocal = server.remoteId === null
    const { streams, problem } = await fetchFromServer(server, deps.secrets, (opened, select) =>
      fetchListeners({ kind: server.kind, ...opened }, select, {
        allowed: isLocal ? networks.station : networks.remote,
        signal
      })
    )
    const hasPassword = server.password !== ''
    return {
      problem: hasPassword ? problem : 'Without its admin password, a server does not list its listeners.',
      sources: streams.map(({ path, total }) => ({ name: path, isLocal, total })),
      listeners: streams.flatMap(({ path, connections }) =>
        connections.slice(0, maxListeners).map(({ address, userAgent, seconds }) => ({
          ...describeListener(address, userAgent),
          source: path,
          isLocal,
          seconds
        }))
      )
    }
  }

  async function readSources(
    stationId: number,
    servers: readonly StationServer[]
  ): Promise<ConnectedListeners> {
    const [hls, ...results] = await withAbortTimeout(
      undefined,
      timeoutMs,
      signal =>
        Promise.allSettled([
          readHls(stationId, signal),
          ...servers.map(server => readServer(server, signal))
        ] as const),
      () => new FetchFault('timeout')
    )
    if (hls.status === 'rejected') throw hls.reason
    if (hls.value === null && servers.length === 0)
      throw new ApiError('conflict', 'The station has no streaming server that is polled.')
    const available = [
      ...results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : [])),
      ...(hls.value === null ? [] : [hls.value])
    ]
    const sentences = results.flatMap(result =>
      result.status === 'rejected' ? [describeFault(result.reason)] : []
    )
    const faults = [...new Set(sentences)]
    if (available.length === 0) throw new Overloaded(retryAfterSeconds, faults.join(' '))
    return {
      atMs: Date.now(),
      listeners: available.flatMap(({ listeners }) => listeners).slice(0, maxListeners),
      sources: available.flatMap(({ sources }) => sources),
      problem: [...new Set([...faults, ...available.map(({ problem }) => problem)])].filter(Boolean).join(' ')
    }
  }

  async function read(stationId: number): Promise<ConnectedListeners> {
    if (reading.waitingOf() >= maxWaiting)
      throw new Overloaded(retryAfterSeconds, 'The listeners of too many stations are being read.')
    const servers = await readStationServers(deps.sql, stationId)
    return reading.run(() => readSources(stationId, servers))
  }

  return async stationId => {
    // Failures are cached too.
    const [outcome] = await cache.load(stationId, () => Promise.allSettled([read(stationId)]))
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
}

/** What one streaming server, or the log of HLS, says. */
type ListenerSource = Pick<ConnectedListeners, 'problem' | 'sources' | 'listeners'>

interface HlsCount {
  readonly id: number
  readonly name: string
  readonly total: number
  readonly shortName: string
}

type StationServer = Awaited<ReturnType<typeof readStationServers>>[number]

/** The sentence of a failed request. Rethrows any other error. */
function describeFault(error: unknown): string {
  if (error instanceof StreamingServerError || error instanceof FetchFault)
    return `The streaming server did not list its listeners. ${error.message}`
  throw error
}
