import type { BlockList } from 'node:net'

import { type GuardedAnswer, guardedFetch } from '../outbound/guarded-fetch.ts'
import { AnswerFault } from './loose-json.ts'
import type { Stream } from './stream.ts'

/** A server that is asked for its streams. */
export interface StreamingServer {
  readonly kind: 'icecast' | 'shoutcast2'
  /** Its pages are found below this address. */
  readonly url: string
  /** Of the user `admin`; empty: there is none, and listeners are not told apart. */
  readonly password: string
  /** Private networks that it may be in. */
  readonly allowed: BlockList
}

/** What a server said of all its streams. */
export interface ServerAnswer {
  readonly streams: readonly Stream[]
  /** Whether it also tells who listens to them. */
  readonly knowsListeners: boolean
  /** One sentence on what it did not say though it should; empty: nothing. */
  readonly problem: string
}

/** What it said of one of them and those who listen to it. */
export interface ListenersAnswer {
  readonly stream: Stream
  readonly problem: string
}

/** The longest answer that is read. A list of ten thousand listeners is as long. */
const maxBytes = 2_097_152

/** Shoutcast shows its statistics to what looks like a browser only. */
const userAgent = 'Mozilla/5.0 (compatible; Cuewire)'

/**
 * Asks for a page below the server's address, as its admin or as anybody. Gives the answer whatever its
 * status, but for a redirect; throws a `FetchFault` where there is none.
 */
export function askPage(
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

/** The body of an answer that is one. */
export function bodyOf({ status, body }: GuardedAnswer): Buffer {
  if (status !== 200) throw new AnswerFault(`The server answered ${status}.`)
  return body
}

/** What is said where the admin's pages are refused: statuses are those of HTTP. */
export function refusalOf(status: number): string {
  const why =
    status === 401 || status === 403 ? 'does not accept the password' : `answered ${status} to its admin`
  return `The server ${why}: listeners are counted, but not told apart.`
}
