import type { BlockList } from 'node:net'

import { type GuardedAnswer, guardedFetch } from '../outbound/guarded-fetch.ts'
import { type Stream, StreamingServerError } from './stream.ts'

export interface StreamingServer {
  readonly kind: 'icecast' | 'shoutcast2'
  /** Its pages are below this address. */
  readonly url: string
  /** The password of the user `admin`; empty if there is none, and listeners are then not identified. */
  readonly password: string
  /** Private networks that it may be in. */
  readonly allowed: BlockList
}

export interface ServerStreams {
  readonly streams: readonly Stream[]
  /** Whether the listeners of each stream can be fetched. */
  readonly listsListeners: boolean
  /** A sentence about what the server refused; empty if nothing. */
  readonly problem: string
}

/** A stream with its listeners, and what the server refused. */
export interface StreamListeners {
  readonly stream: Stream
  readonly problem: string
}

/** A list of ten thousand listeners fits. */
const maxBytes = 2_097_152

/** Shoutcast sends its statistics only to user agents that look like a browser. */
const userAgent = 'Mozilla/5.0 (compatible; Cuewire)'

/**
 * Requests a page below the server's address, as its admin or anonymously. Returns the response whatever its
 * status, except for redirects. Throws a `FetchFault`.
 */
export function fetchPage(
  server: StreamingServer,
  page: string,
  { asAdmin, signal }: { readonly asAdmin: boolean; readonly signal: AbortSignal }
): Promise<GuardedAnswer> {
  const base = new URL(server.url)
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  const credentials = Buffer.from(`admin:${server.password}`).toString('base64')
  return guardedFetch(new URL(page, base).href, {
    allowed: server.allowed,
    headers: { 'user-agent': userAgent, ...(asAdmin && { authorization: `Basic ${credentials}` }) },
    maxBytes,
    signal
  })
}

/** Returns the body of a response with status 200. Throws for any other. */
export function requireBody({ status, body }: GuardedAnswer): Buffer {
  if (status !== 200) throw new StreamingServerError(`The server responded with status ${status}.`)
  return body
}

/** Describes the response status of an admin page that could not be read. */
export function describeRefusal(status: number): string {
  const isDenied = status === 401 || status === 403
  const reason = isDenied ? 'rejected the admin password' : `responded with status ${status} to its admin`
  return `The server ${reason}: listeners are counted, but not identified.`
}
