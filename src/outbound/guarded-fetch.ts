import type { LookupAddress } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import { type BlockList, isIP, type Socket } from 'node:net'

import { version } from '../runtime/version.ts'
import { addressesOf, checkUrl, hostOf, isForbiddenAddress } from './guard.ts'

export interface GuardedRequest {
  /** Private networks that may be reached all the same. */
  readonly allowed: BlockList
  readonly method?: string
  /** Other names than `Host` and `Accept-Encoding`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /**
   * For all of it, from the name to the last byte; 10 seconds unless told. A connection must be there after
   * three.
   */
  readonly timeoutMs?: number
  /** The longest body that is read; 1 MiB unless told. */
  readonly maxBytes?: number
  /** Whether a longer one is refused, or cut off there. */
  readonly whenLonger?: 'refuse' | 'cut'
  readonly signal?: AbortSignal
}

export interface GuardedAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

const maxBytesAsARule = 1_048_576
/** On the connection a body in chunks of one byte takes six for each. */
const bytesPerByte = 6
/** Headers, early answers, and what comes faster than the body is read. */
const mostAround = 262_144
const connectMs = 3_000
/**
 * Node's 250 ms would give up addresses on the other side of the world. A lost greeting is repeated after a
 * second.
 */
const perAddressMs = 1_400

/**
 * Sends a request to an address that an operator gave, and to no host that `checkUrl` and the guard forbid:
 * the name is looked up once, all its addresses are judged, and only these are connected to. Redirects are
 * not followed, and no proxy is used. Gives the answer whatever its status, but for a redirect; throws a
 * `FetchFault` where there is none, and the signal's own reason once that is aborted.
 */
export async function guardedFetch(url: string, request: GuardedRequest): Promise<GuardedAnswer> {
  const { allowed, timeoutMs = 10_000, signal } = request
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new FetchFault('timeout')), timeoutMs)
  const stop = () => ending.abort(signal?.reason)
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const addresses = await judgedAddresses(url, allowed, ending.signal)
    return await exchange(url, addresses, request, ending.signal)
  } catch (error) {
    ending.signal.throwIfAborted()
    throw faultOf(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

async function judgedAddresses(
  url: string,
  allowed: BlockList,
  signal: AbortSignal
): Promise<LookupAddress[]> {
  const problem = checkUrl(url, allowed)
  if (problem) throw new FetchFault('blocked', { message: `The address ${problem.sentence}` })
  const host = hostOf(url)
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const addresses = await addressesOf(host, signal)
  // Without any, Node throws where nobody can catch it.
  if (addresses.length === 0) throw new FetchFault('dns')
  if (addresses.some(({ address }) => isForbiddenAddress(address, allowed))) throw new FetchFault('blocked')
  return addresses
}

function exchange(
  url: string,
  addresses: readonly LookupAddress[],
  request: GuardedRequest,
  signal: AbortSignal
): Promise<GuardedAnswer> {
  const { protocol, host } = new URL(url)
  const name = hostOf(url)
  const { Agent, request: ask } = protocol === 'https:' ? https : http
  const agent = new Agent({
    // What was judged, so that nothing is asked for a second time.
    lookup: (_name, { all }, give) => {
      const [first] = addresses
      if (all) process.nextTick(give, null, [...addresses])
      else process.nextTick(give, null, first?.address ?? '', first?.family)
    },
    autoSelectFamilyAttemptTimeout: perAddressMs,
    servername: isIP(name) === 0 ? name : ''
  })
  const headers = {
    'user-agent': `Cuewire/${version}`,
    ...request.headers,
    'accept-encoding': 'identity',
    host
  }
  return new Promise((resolve, reject) => {
    const asked = ask(url, { method: request.method ?? 'GET', headers, agent, signal })
    asked.on('error', reject)
    asked.on('socket', socket => limitConnection(asked, socket, request))
    // Node gives up a request without an error when it is answered by a change of protocol.
    const refuse = () => reject(new FetchFault('http'))
    asked.on('close', refuse)
    asked.on('response', answer => {
      asked.off('close', refuse)
      void readAnswer(answer, request)
        .then(resolve, reject)
        .finally(() => asked.destroy())
    })
    asked.end(request.body)
  })
}

/**
 * Ends a request that is not connected in time, and one that is sent far more than its answer may be: early
 * answers (1xx) without an end, or chunks that are nearly nothing but marks.
 */
function limitConnection(
  asked: http.ClientRequest,
  socket: Socket,
  { maxBytes = maxBytesAsARule }: GuardedRequest
) {
  const timer = setTimeout(() => asked.destroy(new FetchFault('timeout')), connectMs)
  for (const end of ['connect', 'close']) socket.once(end, () => clearTimeout(timer))
  let bytes = 0
  socket.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > maxBytes * bytesPerByte + mostAround) asked.destroy(new FetchFault('too_large'))
  })
}

async function readAnswer(answer: http.IncomingMessage, request: GuardedRequest): Promise<GuardedAnswer> {
  const { maxBytes = maxBytesAsARule, whenLonger = 'refuse' } = request
  const { statusCode: status = 0, headers } = answer
  if (status < 200) throw new FetchFault('http', { status })
  if (status >= 300 && status < 400) throw new FetchFault('redirect', { status })
  const refuseLonger = (bytes: number) => {
    if (whenLonger === 'refuse' && bytes > maxBytes) throw new FetchFault('too_large', { status })
  }
  refuseLonger(Number(headers['content-length'] ?? 0))
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of bytesOf(answer)) {
    bytes += chunk.length
    refuseLonger(bytes)
    chunks.push(chunk)
    if (bytes >= maxBytes && whenLonger === 'cut') break
  }
  return { status, headers, body: Buffer.concat(chunks).subarray(0, maxBytes) }
}

/** A stream without an encoding gives buffers. */
const bytesOf = (stream: http.IncomingMessage): AsyncIterable<Buffer> => stream

const sentences = {
  blocked: 'The address must not lead to a private or special address.',
  dns: 'The name of the server is not known.',
  refused: 'The connection failed.',
  tls: 'The server shows no certificate that can be trusted.',
  timeout: 'The server did not answer in time.',
  http: 'The answer is not HTTP.',
  redirect: 'The server sends its callers to another address, which is not followed.',
  too_large: 'The answer is too large.'
} as const

/** One word for why there is no answer, or none that may be used. */
export type FetchFaultWord = keyof typeof sentences

/**
 * Why a request to an operator's address has no answer that may be used. The message is a sentence for the
 * operator: no address, and nothing of what was sent, is in it.
 */
export class FetchFault extends Error {
  readonly word: FetchFaultWord
  /** What the server answered; 0 where it did not come to that. */
  readonly status: number

  constructor(word: FetchFaultWord, { message, status = 0 }: { message?: string; status?: number } = {}) {
    super(message ?? sentences[word])
    this.word = word
    this.status = status
  }
}

/** Of the codes that Node gives its errors; the first pattern that fits counts. */
const words: readonly (readonly [RegExp, FetchFaultWord])[] = [
  [/^(ENOTFOUND|EAI_)/, 'dns'],
  [/CERT|SIGNATURE|HOSTNAME|_CA$|_CRL|_PUBLIC_KEY$/, 'tls'],
  [/^(ERR_O?SSL_|ERR_TLS_|PATH_LENGTH_)|^(EPROTO|INVALID_PURPOSE|UNSPECIFIED)$/, 'tls'],
  [/^HPE_/, 'http'],
  [/^E[A-Z]+$/, 'refused']
]

/** What a failed request threw, as a fault; anything that is a mistake of ours stays what it is. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  const word = words.find(([pattern]) => pattern.test(code))?.[1]
  if (word === undefined) return error
  return new FetchFault(word, { message: `${sentences[word].slice(0, -1)} (${code}).` })
}
