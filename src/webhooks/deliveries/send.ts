import type { BlockList } from 'node:net'

import type { Config } from '../../config.ts'
import { FetchFault, type GuardedAnswer, guardedFetch } from '../../outbound/guarded-fetch.ts'
import { networkList } from '../../outbound/networks.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { secretHeaders, withoutSecrets } from '../redact.ts'
import { type Mailer, openMailer } from './mailer.ts'
import { type AttemptResult, type Fault, retryAfterMs } from './outcome.ts'
import type { HookRequest, Mail, Sending } from './sending.ts'

/** What sending needs. */
export interface SendParts {
  /** Private networks that hooks may reach all the same. */
  readonly allowed: BlockList
  /** null: no server for mails is configured. */
  readonly mailer: Mailer | null
  readonly signal?: AbortSignal
  /** Called with each request that is about to be made. */
  readonly onRequest?: (request: HookRequest) => void
}

/** What of an attempt the answer tells. */
type Answer = Pick<AttemptResult, 'status' | 'fault' | 'retryAfterMs' | 'response' | 'url'>

const unsendable = 'The request cannot be made of this config.'
const bytesRead = 65_536
const charactersKept = 1_024
const mailMs = 10_000

/**
 * Sends, and returns the result; errors of the receiver are part of the result. `id` is the event's;
 * `secrets` are removed from the stored answer. Rejects with the signal's reason once it is aborted.
 */
export async function sendRequest(
  sending: Exclude<Sending, { kind: 'nothing' }>,
  id: string,
  secrets: readonly string[],
  parts: SendParts
): Promise<AttemptResult> {
  const startedAtMs = engineTimeMs()
  const startedAt = performance.now()
  const answer =
    sending.kind === 'mail' ? await mail(sending.mail, id, parts) : await ask(sending, secrets, parts)
  const response = excerpt(answer.response)
  return { ...answer, response, startedAtMs, durationMs: Math.round(performance.now() - startedAt) }
}

async function ask(
  sending: Extract<Sending, { kind: 'requests' | 'session' }>,
  secrets: readonly string[],
  parts: SendParts
): Promise<Answer> {
  let answered: Answer = { status: 0, fault: null, retryAfterMs: null, response: '', url: '' }
  let requests: readonly HookRequest[] = []
  if (sending.kind === 'requests') requests = sending.requests
  else {
    const { answer, body } = await exchange(sending.open, secrets, parts)
    if (answer.fault !== null) return answer
    // The answer opens the account, so nothing of it is kept.
    answered = { ...answer, response: '' }
    try {
      requests = sending.requestsIn(body)
    } catch {
      return { ...answered, fault: 'http' }
    }
  }
  for (const request of requests) {
    answered = (await exchange(request, secrets, parts)).answer
    if (answered.fault !== null) return answered
  }
  return answered
}

async function exchange(
  request: HookRequest,
  secrets: readonly string[],
  { allowed, signal, onRequest }: SendParts
): Promise<{ answer: Answer; body: string }> {
  const { shownUrl: url } = request
  onRequest?.(request)
  try {
    const answer = await guardedFetch(request.url, {
      allowed,
      method: request.method,
      headers: request.headers,
      maxBytes: bytesRead,
      whenLonger: 'cut',
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
      ...(signal === undefined ? {} : { signal })
    })
    const body = answer.body.toString('utf8')
    const response = withoutSecrets(body, [...secrets, ...secretHeaders(request.headers)])
    return { answer: { ...judged(answer), response, url }, body }
  } catch (error) {
    signal?.throwIfAborted()
    // What nobody thought of must end in the log as well, and not stand in the way of what comes after it.
    if (!(error instanceof FetchFault))
      return {
        answer: { status: 0, fault: 'config', retryAfterMs: null, response: unsendable, url },
        body: ''
      }
    const { word: fault, status, message } = error
    // Which address a name leads to is nobody's business.
    const response = fault === 'blocked' ? '' : message
    return { answer: { status, fault, retryAfterMs: null, response, url }, body: '' }
  }
}

function judged({ status, headers }: GuardedAnswer): Omit<Answer, 'response' | 'url'> {
  return {
    status,
    fault: status >= 200 && status < 300 ? null : 'http',
    retryAfterMs: retryAfterMs(status, headers['retry-after'], engineTimeMs())
  }
}

/** The beginning of a text, without characters that Postgres cannot store: NUL and half a surrogate pair. */
const excerpt = (text: string) =>
  text
    .replaceAll('\0', '')
    .slice(0, charactersKept)
    .replace(/[\ud800-\udbff]$/, '')

async function mail(message: Mail, id: string, { mailer }: SendParts): Promise<Answer> {
  if (mailer === null) return mailed('config', 'No server for mails is configured: SMTP_URL is not set.')
  try {
    return mailed(null, await mailer.send(message, id, mailMs))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const reply = 'response' in error && typeof error.response === 'string' ? error.response : error.message
    return mailed('mail', reply)
  }
}

function mailed(fault: Fault | null, reply: string): Answer {
  return { status: statusIn(reply), fault, retryAfterMs: null, response: reply, url: 'mailto:' }
}

/** The receiver, for the limit of requests in flight. */
export function hostOfSending(sending: Exclude<Sending, { kind: 'nothing' }>): string {
  if (sending.kind === 'mail') return 'mail'
  const first = sending.kind === 'session' ? sending.open : sending.requests[0]
  return first ? new URL(first.url).host : ''
}

const statusIn = (reply: string) => Number(/^\d{3}/.exec(reply)?.[0] ?? 0)

/** What sending needs, from the configuration. */
export function sendPartsOf({
  WEBHOOK_ALLOWED_NETWORKS: networks,
  SMTP_URL: url,
  MAIL_FROM: from
}: Config): Pick<SendParts, 'allowed' | 'mailer'> {
  return { allowed: networkList(networks), mailer: url === undefined ? null : openMailer(url, from) }
}
