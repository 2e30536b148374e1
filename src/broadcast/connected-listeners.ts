import { createHmac, randomBytes } from 'node:crypto'

import pLimit from 'p-limit'

import type { Sql } from '../db/sql.ts'
import { FetchFault } from '../outbound/guarded-fetch.ts'
import { withAbortTimeout } from '../runtime/deadline.ts'
import { ApiError, Overloaded } from '../runtime/errors.ts'
import type { Secrets } from '../security/secrets.ts'
import { type Agent, parseAgent } from './agent-family.ts'
import { selectStreams } from './polls/poll-findings.ts'
import { readStationServers } from './polls/poll-rows.ts'
import { allowedNetworks, openServer } from './polls/poll-servers.ts'
import { StreamingServerError } from './stream.ts'
import { fetchListeners } from './streaming-servers.ts'

/*
 * Who listens to a station now, as its streaming servers say. It is in memory for a few seconds, and never
 * stored or logged.
 */

export interface ConnectedListener {
  readonly address: string
  readonly userAgent: string
  readonly agent: Agent
  /** Of address and user agent, with a key of this process. */
  readonly hash: string
  readonly mount: string
  /** Whether it is connected to the station's own server. */
  readonly isLocal: boolean
  /** How long it has been connected. */
  readonly seconds: number
}

export interface ConnectedMount {
  readonly name: string
  readonly isLocal: boolean
  /** Includes listeners that are not listed. */
  readonly total: number
}

export interface ConnectedListeners {
  readonly atMs: number
  /** At most 10,000. */
  readonly listeners: readonly ConnectedListener[]
  readonly mounts: readonly ConnectedMount[]
  /** Sentences about servers that did not list their listeners; empty if all did. */
  readonly problem: string
}

interface ConnectedListenersDeps {
  readonly sql: Sql
  readonly secrets: Pick<Secrets, 'open'>
  /** `WEBHOOK_ALLOWED_NETWORKS` */
  readonly allowedNetworks: readonly string[]
}

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
 * The result throws 409 if the station has no streaming server that is polled, and 503 if none of its servers
 * responds or too many stations are being read.
 */
export function openConnectedListeners(deps: ConnectedListenersDeps): ReadConnectedListeners {
  const networks = allowedNetworks(deps.allowedNetworks)
  const hashKey = randomBytes(32)
  const limit = pLimit(maxInFlight)
  const cache = new Map<number, Promise<ConnectedListeners>>()

  async function readServer(server: StationServer, signal: AbortSignal) {
    const isLocal = server.remoteId === null
    const { streams, problem } = await fetchListeners(
      { kind: server.kind, ...openServer(server, deps.secrets) },
      found => selectStreams(server, found),
      { allowed: isLocal ? networks.station : networks.remote, signal }
    )
    const hasPassword = server.password !== ''
    return {
      problem: hasPassword ? problem : 'Without its admin password, a server does not list its listeners.',
      mounts: streams.map(({ path, total }) => ({ name: path, isLocal, total })),
      listeners: streams.flatMap(({ path, connections }) =>
        connections.slice(0, maxListeners).map(({ address, userAgent, seconds }) => ({
          address,
          userAgent,
          agent: parseAgent(userAgent),
          hash: createHmac('sha256', hashKey).update(`${address}\n${userAgent}`).digest('hex').slice(0, 32),
          mount: path,
          isLocal,
          seconds
        }))
      )
    }
  }

  async function readServers(servers: readonly StationServer[]): Promise<ConnectedListeners> {
    const results = await withAbortTimeout(
      undefined,
      timeoutMs,
      signal => Promise.allSettled(servers.map(server => readServer(server, signal))),
      () => new FetchFault('timeout')
    )
    const answered = results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    const faults = results.flatMap(result =>
      result.status === 'rejected' ? [describeFault(result.reason)] : []
    )
    if (answered.length === 0) throw new Overloaded(retryAfterSeconds, faults.join(' '))
    return {
      atMs: Date.now(),
      listeners: answered.flatMap(({ listeners }) => listeners).slice(0, maxListeners),
      mounts: answered.flatMap(({ mounts }) => mounts),
      problem: [...new Set([...faults, ...answered.map(({ problem }) => problem)])].filter(Boolean).join(' ')
    }
  }

  async function read(stationId: number): Promise<ConnectedListeners> {
    if (limit.pendingCount >= maxWaiting)
      throw new Overloaded(retryAfterSeconds, 'The listeners of too many stations are being read.')
    const servers = await readStationServers(deps.sql, stationId)
    if (servers.length === 0)
      throw new ApiError('conflict', 'The station has no streaming server that is polled.')
    return limit(() => readServers(servers))
  }

  return stationId => {
    const cached = cache.get(stationId)
    if (cached) return cached
    const reading = read(stationId)
    cache.set(stationId, reading)
    const expire = () => setTimeout(() => cache.delete(stationId), cacheTtlMs).unref()
    void reading.then(expire, expire)
    return reading
  }
}

type StationServer = Awaited<ReturnType<typeof readStationServers>>[number]

/** The sentence of a failed request. Rethrows any other error. */
function describeFault(error: unknown): string {
  if (error instanceof StreamingServerError || error instanceof FetchFault)
    return `The streaming server did not list its listeners. ${error.message}`
  throw error
}
