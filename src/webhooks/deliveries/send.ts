import type { BlockList } from 'node:net'

import { FetchFault, guardedFetch } from '../../platform/outbound/guarded-fetch.ts'
import { toNetworkList } from '../../platform/outbound/networks.ts'
import { parseRetryAfter } from '../../platform/outbound/retry-after.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { decodeForeignText, findCharset } from '../../platform/text/foreign-text.ts'
import { currentTraceparent } from '../../platform/tracing/tracing.ts'
import { redactSecrets, secretHeaderValues } from '../redact.ts'
import type { HookRequest, HookMail, DeliveryContent } from '../types/delivery-content.ts'
import { type Mailer, openMailer } from './mailer.ts'
import type { AttemptResult, DeliveryFaultReason } from './outcome.ts'

/** What sending needs. */
export interface SendDeps {
  /** Private networks that web hooks may reach. */
  readonly allowed: BlockList
  /** null if no mail server is configured. */
  readonly mailer: Mailer | null
  readonly signal?: AbortSignal
  /** Called with each request before it is made. */
  readonly onRequest?: (request: HookRequest) => void
}

/** The part of a result that depends on the answer. */
type SendResult = Pick<AttemptResult, 'status' | 'fault' | 'retryAfterMs' | 'response' | 'url'>

const maxBytesRead = 65_536
const maxCharactersStored = 1_024
const mailTimeoutMs = 10_000

/**
 * Sends, and returns the result; faults of the receiver are part of it. `id` is the id of the event;
 * `secrets` are redacted in the stored response. Rejects with the signal's reason if it is aborted.
 */
export async function sendDelivery(
  sending: Exclude<DeliveryContent, { kind: 'nothing' }>,
  id: string,
  secrets: readonly string[],
  deps: SendDeps
): Promise<AttemptResult> {
  const startedAtMs = engineTimeMs()
  const startedAt = performance.now()
  const result =
    sending.kind === 'mail'
      ? await sendMail(sending.mail, id, deps)
      : await sendRequests(sending, secrets, deps)
  const response = excerpt(result.response)
  return { ...result, response, startedAtMs, durationMs: Math.round(performance.now() - startedAt) }
}

async function sendRequests(
  sending: Extract<DeliveryContent, { kind: 'requests' | 'session' }>,
  secrets: readonly string[],
  deps: SendDeps
): Promise<SendResult> {
  let last: SendResult = { status: 0, fault: null, retryAfterMs: null, response: '', url: '' }
  let requests = sending.kind === 'requests' ? sending.requests : []
  if (sending.kind === 'session') {
    const { body, ...response } = await exchange(sending.open, secrets, deps)
    if (response.fault !== null) return response
    // The response contains credentials, so it is not stored.
    last = { ...response, response: '' }
    try {
      requests = sending.requestsIn(body)
    } catch {
      return { ...last, fault: 'http' }
    }
  }
  for (const request of requests) {
    const { body: _body, ...response } = await exchange(request, secrets, deps)
    if (response.fault !== null) return response
    last = response
  }
  return last
}

async function exchange(
  request: HookRequest,
  secrets: readonly string[],
  { allowed, signal, onRequest }: SendDeps
): Promise<SendResult & { readonly body: string }> {
  const { method, headers, redactedUrl: url } = request
  onRequest?.(request)
  const traceparent = currentTraceparent()
  try {
    const response = await guardedFetch(request.url, {
      allowed,
      method,
      // A receiver that exports spans continues the trace; a header of the operator has precedence.
      headers: traceparent === null ? headers : { traceparent, ...headers },
      maxBytes: maxBytesRead,
      whenTooLarge: 'truncate',
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
      ...(signal === undefined ? {} : { signal })
    })
    const { status } = response
    const body = decodeForeignText(response.body, findCharset(response.headers['content-type'] ?? ''))
    return {
      status,
      fault: status >= 200 && status < 300 ? null : 'http',
      retryAfterMs: parseRetryAfter(status, response.headers['retry-after'], engineTimeMs()),
      response: redactSecrets(body, [...secrets, ...secretHeaderValues(headers)]),
      url,
      body
    }
  } catch (error) {
    signal?.throwIfAborted()
    const failed = { retryAfterMs: null, url, body: '' }
    // An unexpected error is logged as an attempt as well, and must not block later deliveries.
    if (!(error instanceof FetchFault))
      return {
        ...failed,
        status: 0,
        fault: 'config',
        response: 'The request cannot be made with this config.'
      }
    const { word: fault, status, message } = error
    // The message may contain the address that a name resolves to.
    return { ...failed, status, fault, response: fault === 'blocked' ? '' : message }
  }
}

/** The beginning of a text, without what Postgres cannot store: NUL and lone surrogates at the end. */
const excerpt = (text: string) =>
  text
    .replaceAll('\0', '')
    .slice(0, maxCharactersStored)
    .replace(/[\ud800-\udbff]$/, '')

async function sendMail(message: HookMail, id: string, { mailer }: SendDeps): Promise<SendResult> {
  if (mailer === null) return mailResult('config', 'No mail server is configured: SMTP_URL is not set.')
  try {
    return mailResult(null, await mailer.send(message, id, mailTimeoutMs))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const reply = 'response' in error && typeof error.response === 'string' ? error.response : error.message
    return mailResult('mail', reply)
  }
}

function mailResult(fault: DeliveryFaultReason | null, response: string): SendResult {
  const status = Number(/^\d{3}/.exec(response)?.[0] ?? 0)
  return { status, fault, retryAfterMs: null, response, url: 'mailto:' }
}

/** The host that a sending goes to, for the limit of requests in flight. */
export function hostOfDelivery(sending: Exclude<DeliveryContent, { kind: 'nothing' }>): string {
  if (sending.kind === 'mail') return 'mail'
  const first = sending.kind === 'session' ? sending.open : sending.requests[0]
  return first ? new URL(first.url).host : ''
}

/** The variables that sending reads. */
export interface SendSettings {
  readonly WEBHOOK_ALLOWED_NETWORKS: readonly string[]
  readonly SMTP_URL?: string | undefined
  readonly MAIL_FROM: string
}

/** Opens what sending needs from the configuration. */
export function openSendDeps({
  WEBHOOK_ALLOWED_NETWORKS: networks,
  SMTP_URL: url,
  MAIL_FROM: from
}: SendSettings): Pick<SendDeps, 'allowed' | 'mailer'> {
  return { allowed: toNetworkList(networks), mailer: url === undefined ? null : openMailer(url, from) }
}
