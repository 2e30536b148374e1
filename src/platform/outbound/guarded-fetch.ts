import type { LookupAddress } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import { type BlockList, isIP, type Socket } from 'node:net'

import { version } from '../process/program-files.ts'
import { withAbortTimeout } from '../runtime/deadline.ts'
import { errorCodeOf } from '../runtime/errors.ts'
import {
  findUrlProblem,
  forbiddenAddressProblem,
  canonicalHostOf,
  isForbiddenAddress,
  resolveHostAddresses
} from './guard.ts'
import { findProxy, openTunnelAgent, ProxyFault } from './proxy.ts'

export interface GuardedRequest {
  /** Private networks that may be reached. */
  readonly allowed: BlockList
  readonly method?: string
  /** Without `Host` and `Accept-Encoding`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** From the DNS lookup to the last byte; 10 seconds by default. Connecting may take 3 seconds of it. */
  readonly timeoutMs?: number
  /** Maximum size of the body; 1 MiB by default. */
  readonly maxBytes?: number
  readonly whenTooLarge?: 'fail' | 'truncate'
  /** Redirects are never followed: by default they are a fault. */
  readonly whenRedirected?: 'fail' | 'return'
  readonly signal?: AbortSignal
}

export interface GuardedResponse {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

const defaultMaxBytes = 1_048_576
/** A body in chunks of one byte takes six bytes for each on the connection. */
const bytesPerByte = 6
/** For headers, informational responses, and data that arrives faster than the body is read. */
const overheadBytes = 262_144
const connectMs = 3_000
/** Node's default of 250 ms is too short for distant servers. A lost SYN is repeated after a second. */
const perAddressMs = 1_400

/**
 * Sends a request to a URL that an operator entered. Never contacts forbidden addresses: the name is resolved once, and
 * only its checked addresses are used, also by a proxy, which is given the address. Returns the response with any
 * status; a redirect only if requested. Throws a `FetchFault` without one, and the reason of the signal once it is
 * aborted.
 */
export async function guardedFetch(url: string, request: GuardedRequest): Promise<GuardedResponse> {
  const { allowed, timeoutMs = 10_000 } = request
  const run = async (signal: AbortSignal) => {
    try {
      return await send(url, await resolveAllowed(url, allowed, signal), request, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw toFetchFault(error)
    }
  }
  return withAbortTimeout(request.signal, timeoutMs, run, () => new FetchFault('timeout'))
}

async function resolveAllowed(
  url: string,
  allowed: BlockList,
  signal: AbortSignal
): Promise<LookupAddress[]> {
  const problem = findUrlProblem(url, allowed)
  if (problem) throw new FetchFault('blocked', { message: `The address ${problem.sentence}` })
  const host = canonicalHostOf(url)
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const addresses = await resolveHostAddresses(host, signal)
  // With an empty list, Node throws an error that cannot be caught.
  if (addresses.length === 0) throw new FetchFault('dns')
  if (addresses.some(({ address }) => isForbiddenAddress(address, allowed))) throw new FetchFault('blocked')
  return addresses
}

function send(
  url: string,
  addresses: readonly LookupAddress[],
  request: GuardedRequest,
  signal: AbortSignal
): Promise<GuardedResponse> {
  const { protocol, host } = new URL(url)
  const { request: openRequest } = protocol === 'https:' ? https : http
  const agent = openAgent(url, addresses)
  const headers = {
    'user-agent': `Cuewire/${version}`,
    ...request.headers,
    'accept-encoding': 'identity',
    host
  }
  return new Promise((resolve, reject) => {
    const sent = openRequest(url, { method: request.method ?? 'GET', headers, agent, signal })
    sent.on('error', reject)
    sent.on('socket', socket => limitConnection(sent, socket, request))
    // When the server switches protocols, Node closes the request without an error.
    const onClose = () => reject(new FetchFault('http'))
    sent.on('close', onClose)
    sent.on('response', response => {
      sent.off('close', onClose)
      void readResponse(response, request)
        .then(resolve, reject)
        .finally(() => sent.destroy())
    })
    sent.end(request.body)
  })
}

/** Returns an agent that connects to the checked addresses, so that the name is not resolved again. */
function openAgent(url: string, addresses: readonly LookupAddress[]): http.Agent {
  const { protocol } = new URL(url)
  const name = canonicalHostOf(url)
  const servername = isIP(name) === 0 ? name : ''
  const proxy = findProxy(url)
  if (proxy !== null) {
    const chosen = addresses.find(({ family }) => family === 4) ?? addresses[0]
    return openTunnelAgent(proxy, protocol, { host: chosen?.address ?? '', servername })
  }
  const { Agent } = protocol === 'https:' ? https : http
  return new Agent({
    lookup: (_name, { all }, callback) => {
      const [first] = addresses
      if (all) process.nextTick(callback, null, [...addresses])
      else process.nextTick(callback, null, first?.address ?? '', first?.family)
    },
    autoSelectFamilyAttemptTimeout: perAddressMs,
    servername
  })
}

/** Ends a request that does not connect in time, or that receives endless 1xx responses or tiny chunks. */
function limitConnection(
  sent: http.ClientRequest,
  socket: Socket,
  { maxBytes = defaultMaxBytes }: GuardedRequest
): void {
  // A tunnel through a proxy is connected already.
  const timer = socket.connecting
    ? setTimeout(() => sent.destroy(new FetchFault('timeout')), connectMs)
    : undefined
  for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer))
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes * bytesPerByte + overheadBytes) sent.destroy(new FetchFault('too_large'))
  })
}

async function readResponse(
  response: http.IncomingMessage,
  { maxBytes = defaultMaxBytes, whenTooLarge = 'fail', whenRedirected = 'fail' }: GuardedRequest
): Promise<GuardedResponse> {
  const { statusCode: status = 0, headers } = response
  if (status < 200) throw new FetchFault('http', { status })
  if (status >= 300 && status < 400 && whenRedirected === 'fail') throw new FetchFault('redirect', { status })
  const checkSize = (bytes: number) => {
    if (whenTooLarge === 'fail' && bytes > maxBytes) throw new FetchFault('too_large', { status })
  }
  checkSize(Number(headers['content-length'] ?? 0))
  const chunks: Buffer[] = []
  let bytes = 0
  const stream: AsyncIterable<Buffer> = response
  for await (const chunk of stream) {
    bytes += chunk.length
    checkSize(bytes)
    chunks.push(chunk)
    if (bytes >= maxBytes && whenTooLarge === 'truncate') break
  }
  return { status, headers, body: Buffer.concat(chunks).subarray(0, maxBytes) }
}

const sentences = {
  blocked: `The address ${forbiddenAddressProblem.sentence}`,
  dns: 'The name of the server is not known.',
  refused: 'The connection failed.',
  tls: 'The certificate of the server is not trusted.',
  timeout: 'The server did not answer in time.',
  http: 'The answer is not HTTP.',
  redirect: 'The server answers with a redirect, which is not followed.',
  too_large: 'The answer is too large.'
} as const

export type FetchFaultReason = keyof typeof sentences

/** A request has no usable response. The message is for the operator and quotes nothing of the request. */
export class FetchFault extends Error {
  readonly word: FetchFaultReason
  /** The status of the response; 0 without one. */
  readonly status: number

  constructor(word: FetchFaultReason, { message, status = 0 }: { message?: string; status?: number } = {}) {
    super(message ?? sentences[word])
    this.word = word
    this.status = status
  }
}

/** Patterns for the error codes of Node. The first match counts. */
const words: readonly (readonly [RegExp, FetchFaultReason])[] = [
  [/^(ENOTFOUND|EAI_)/, 'dns'],
  [/CERT|SIGNATURE|HOSTNAME|_CA$|_CRL|_PUBLIC_KEY$/, 'tls'],
  [/^(ERR_O?SSL_|ERR_TLS_|PATH_LENGTH_)|^(EPROTO|INVALID_PURPOSE|UNSPECIFIED)$/, 'tls'],
  [/^HPE_/, 'http'],
  [/^E[A-Z]+$/, 'refused']
]

/** Converts the error of a request to a `FetchFault`. Other errors are returned unchanged. */
export function toFetchFault(error: unknown): unknown {
  if (error instanceof ProxyFault) return new FetchFault('refused', { message: error.message })
  const code = errorCodeOf(error)
  const word = words.find(([pattern]) => pattern.test(code))?.[1]
  if (word === undefined) return error
  return new FetchFault(word, { message: `${sentences[word].slice(0, -1)} (${code}).` })
}
