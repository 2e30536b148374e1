import type { BlockList } from 'node:net'

import type { ListenerConnection } from '../engine/listeners/sessions.ts'
import { FetchFault, type GuardedResponse, guardedFetch } from '../platform/outbound/guarded-fetch.ts'
import { findCharset } from '../platform/text/foreign-text.ts'
import { parseIcecastListeners, parseIcecastStats, parseIcecastStatus } from './icecast.ts'
import { type ServerStream, StreamingServerError, withStreamListeners } from './server-stream.ts'
import { parseShoutcastListeners, parseShoutcastStatistics } from './shoutcast.ts'

export interface StreamingServer {
  readonly kind: 'icecast' | 'shoutcast2'
  /** Its pages are below this address. */
  readonly url: string
  /** The password of the user `admin`; empty if there is none, and listeners are then not identified. */
  readonly password: string
}

export interface FetchedStreams {
  readonly streams: readonly ServerStream[]
  /** A sentence about what the server refused; empty if nothing. */
  readonly problem: string
}

/** Fetches streams, with listeners if they are listed. Throws `StreamingServerError` or `FetchFault`. */
export type FetchStreams = (
  server: StreamingServer,
  select: (streams: readonly ServerStream[]) => readonly ServerStream[],
  options: { readonly nowMs: number; readonly signal: AbortSignal }
) => Promise<FetchedStreams>

/** Stations on the same server are polled at nearly the same time and share one response. */
const cacheTtlMs = 2_000

/** Creates a client for servers in the public internet or `allowed`. Streams are cached for two seconds. */
export function openStreamFetcher(allowed: BlockList): FetchStreams {
  /** Oldest first. */
  const cache = new Map<string, { readonly atMs: number; readonly response: Promise<AllStreams> }>()

  function fetchCached(server: StreamingServer, nowMs: number, fetchPage: FetchPage): Promise<AllStreams> {
    for (const [key, { atMs }] of cache) {
      if (nowMs - atMs < cacheTtlMs) break
      cache.delete(key)
    }
    const key = JSON.stringify([server.kind, server.url, server.password])
    const cached = cache.get(key)
    if (cached) return cached.response
    const hasPassword = server.password !== ''
    const entry = { atMs: nowMs, response: clients[server.kind].fetchAll(fetchPage, hasPassword) }
    cache.set(key, entry)
    entry.response.catch(() => {
      if (cache.get(key) === entry) cache.delete(key)
    })
    return entry.response
  }

  return async (server, select, { nowMs, signal }) => {
    const fetchPage = openPageFetcher(server, allowed, signal)
    const { streams: all, listsListeners, problem } = await fetchCached(server, nowMs, fetchPage)
    const streams: ServerStream[] = []
    const problems = new Set([problem])
    for (const stream of select(all)) {
      if (!listsListeners) streams.push(stream)
      else if (stream.total === 0) streams.push(withStreamListeners(stream, []))
      else {
        const { connections, problem: refusal } = await fetchConnections(server.kind, fetchPage, stream)
        if (connections === null) streams.push(refusal === '' ? disconnected(stream) : stream)
        else streams.push(withStreamListeners(stream, connections))
        problems.add(refusal)
      }
    }
    return { streams, problem: joinProblems(problems) }
  }
}

const disconnected = (stream: ServerStream): ServerStream => ({
  ...withStreamListeners(stream, []),
  isConnected: false
})

const joinProblems = (problems: ReadonlySet<string>) => [...problems].filter(text => text !== '').join(' ')

/** The listeners of a stream. `total` counts also those that are not listed. */
interface ListedStream {
  readonly path: string
  readonly total: number
  readonly connections: readonly ListenerConnection[]
}

export interface ListedListeners {
  readonly streams: readonly ListedStream[]
  /** A sentence about what the server refused; empty if nothing. */
  readonly problem: string
}

/**
 * Fetches who listens to streams of a server in the public internet or `allowed`. Throws
 * `StreamingServerError` or `FetchFault`.
 */
export async function fetchListeners(
  server: StreamingServer,
  select: (streams: readonly ServerStream[]) => readonly ServerStream[],
  { allowed, signal }: { readonly allowed: BlockList; readonly signal: AbortSignal }
): Promise<ListedListeners> {
  const fetchPage = openPageFetcher(server, allowed, signal)
  const found = await clients[server.kind].fetchAll(fetchPage, server.password !== '')
  const problems = new Set([found.problem])
  const streams: ListedStream[] = []
  for (const stream of new Set(select(found.streams))) {
    const { path, total } = stream
    if (!found.listsListeners || total === 0) streams.push({ path, total, connections: [] })
    else {
      const { connections, problem } = await fetchConnections(server.kind, fetchPage, stream)
      problems.add(problem)
      streams.push({
        path,
        total: problem === '' ? (connections?.length ?? 0) : total,
        connections: connections ?? []
      })
    }
  }
  return { streams, problem: joinProblems(problems) }
}

/** A list of ten thousand listeners fits. */
const maxBytes = 2_097_152
/** Shoutcast sends its statistics only to user agents that look like a browser. */
const userAgent = 'Mozilla/5.0 (compatible; Cuewire)'

/** Requests a page. Returns the response whatever its status, except for redirects. */
type FetchPage = (page: string, as: 'admin' | 'anonymous') => Promise<GuardedResponse>

function openPageFetcher(
  { url, password }: StreamingServer,
  allowed: BlockList,
  signal: AbortSignal
): FetchPage {
  const base = new URL(url)
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
  return (page, as) => {
    const headers = { 'user-agent': userAgent, ...(as === 'admin' && { authorization }) }
    return guardedFetch(new URL(page, base).href, { allowed, headers, maxBytes, signal })
  }
}

/** The streams of a server, and whether it also lists their listeners. */
interface AllStreams extends FetchedStreams {
  readonly listsListeners: boolean
}

interface ServerClient {
  readonly fetchAll: (fetchPage: FetchPage, hasPassword: boolean) => Promise<AllStreams>
  readonly fetchConnections: (fetchPage: FetchPage, stream: ServerStream) => Promise<FetchedConnections>
}

/** The listeners of a stream: null if its source has disconnected, or with what the server refused. */
interface FetchedConnections {
  readonly connections: readonly ListenerConnection[] | null
  readonly problem: string
}

const charsetOf = ({ headers }: GuardedResponse) => findCharset(headers['content-type'] ?? '')

const icecast: ServerClient = {
  /** Uses the admin page if the server accepts the password, else the public status page. */
  async fetchAll(fetchPage, hasPassword) {
    let problem = ''
    if (hasPassword) {
      const response = await fetchPage('admin/stats', 'admin')
      const { status, body } = response
      if (status === 200)
        return { streams: parseIcecastStats(body, charsetOf(response)), listsListeners: true, problem }
      problem = describeRefusal(status)
    }
    const response = await fetchPage('status-json.xsl', 'anonymous')
    return {
      streams: parseIcecastStatus(requireBody(response), charsetOf(response)),
      listsListeners: false,
      problem
    }
  },
  async fetchConnections(fetchPage, { path }) {
    const response = await fetchPage(`admin/listclients?mount=${encodeURIComponent(path)}`, 'admin')
    // The source disconnected since the streams were listed.
    if (response.status === 400 || response.status === 404) return { connections: null, problem: '' }
    return { connections: parseIcecastListeners(requireBody(response), charsetOf(response)), problem: '' }
  }
}

const shoutcast2: ServerClient = {
  async fetchAll(fetchPage, hasPassword) {
    const response = await fetchPage('statistics?json=1', 'anonymous')
    return {
      streams: parseShoutcastStatistics(requireBody(response), charsetOf(response)),
      listsListeners: hasPassword,
      problem: ''
    }
  },
  async fetchConnections(fetchPage, { id }) {
    const response = await fetchPage(`admin.cgi?sid=${id}&mode=viewjson&page=3`, 'admin')
    const { status, body } = response
    if (status !== 200) return { connections: null, problem: describeRefusal(status) }
    return { connections: parseShoutcastListeners(body, charsetOf(response)), problem: '' }
  }
}

const clients = { icecast, shoutcast2 }

async function fetchConnections(
  kind: StreamingServer['kind'],
  fetchPage: FetchPage,
  stream: ServerStream
): Promise<FetchedConnections> {
  try {
    return await clients[kind].fetchConnections(fetchPage, stream)
  } catch (error) {
    if (!(error instanceof FetchFault && error.word === 'too_large')) throw error
    return { connections: null, problem: 'There are too many listeners to identify them.' }
  }
}

function requireBody({ status, body }: GuardedResponse): Buffer {
  if (status !== 200) throw new StreamingServerError(`The server responded with status ${status}.`)
  return body
}

/** Describes the response status of an admin page that could not be read. */
function describeRefusal(status: number): string {
  const isDenied = status === 401 || status === 403
  const reason = isDenied ? 'rejected the admin password' : `responded with status ${status} to its admin`
  return `The server ${reason}: listeners are counted, but not identified.`
}
