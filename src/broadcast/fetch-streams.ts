import type { BlockList } from 'node:net'

import { fetchIcecastListeners, fetchIcecastStreams } from './icecast.ts'
import { fetchShoutcastListeners, fetchShoutcastStreams } from './shoutcast.ts'
import { type Stream, withListeners } from './stream.ts'
import type { ServerStreams, StreamingServer } from './streaming-server.ts'

/** Streams with their listeners, if the server lists them, and a sentence about what it refused. */
export interface FetchedStreams {
  readonly streams: readonly Stream[]
  readonly problem: string
}

/**
 * Fetches the selected streams of a server at this time (Unix milliseconds). Throws a `StreamingServerError`
 * or a `FetchFault`.
 */
export type FetchStreams = (
  server: Omit<StreamingServer, 'allowed'>,
  select: (streams: readonly Stream[]) => readonly Stream[],
  options: { readonly nowMs: number; readonly signal: AbortSignal }
) => Promise<FetchedStreams>

/** Stations on the same server are polled at nearly the same time and share one response. */
const cacheTtlMs = 2_000

const clients = {
  icecast: { fetchStreams: fetchIcecastStreams, fetchListeners: fetchIcecastListeners },
  shoutcast2: { fetchStreams: fetchShoutcastStreams, fetchListeners: fetchShoutcastListeners }
}

/** Creates a client for servers in the public internet or `allowed`. Streams are cached for two seconds. */
export function openStreamFetcher(allowed: BlockList): FetchStreams {
  /** Oldest first. */
  const cache = new Map<string, { readonly atMs: number; readonly response: Promise<ServerStreams> }>()

  function fetchCached(server: StreamingServer, nowMs: number, signal: AbortSignal): Promise<ServerStreams> {
    for (const [key, { atMs }] of cache) {
      if (nowMs - atMs < cacheTtlMs) break
      cache.delete(key)
    }
    const key = JSON.stringify([server.kind, server.url, server.password])
    const cached = cache.get(key)
    if (cached) return cached.response
    const entry = { atMs: nowMs, response: clients[server.kind].fetchStreams(server, signal) }
    cache.set(key, entry)
    entry.response.catch(() => {
      if (cache.get(key) === entry) cache.delete(key)
    })
    return entry.response
  }

  return async (place, select, { nowMs, signal }) => {
    const server = { ...place, allowed }
    const { streams: all, listsListeners, problem } = await fetchCached(server, nowMs, signal)
    const streams: Stream[] = []
    const problems = new Set([problem])
    for (const stream of select(all)) {
      if (!listsListeners) streams.push(stream)
      else if (stream.total === 0) streams.push(withListeners(stream, []))
      else {
        const fetched = await clients[server.kind].fetchListeners(server, stream, signal)
        streams.push(fetched.stream)
        problems.add(fetched.problem)
      }
    }
    return { streams, problem: [...problems].filter(text => text !== '').join(' ') }
  }
}
