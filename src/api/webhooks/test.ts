import { randomUUID } from 'node:crypto'

import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, TooManyRequests } from '../../platform/runtime/errors.ts'
import type { AttemptResult } from '../../webhooks/deliveries/outcome.ts'
import { renderDelivery } from '../../webhooks/deliveries/render-delivery.ts'
import { sendDelivery, type SendDeps, openSendDeps } from '../../webhooks/deliveries/send.ts'
import { renderEventNowPlaying } from '../../webhooks/format/now-playing-body.ts'
import { computeMessageId } from '../../webhooks/outbox.ts'
import { redactHeaders, redactSecrets } from '../../webhooks/redact.ts'
import type { HookRequest, HookMail } from '../../webhooks/types/delivery-content.ts'
import { getHookType, filterHookTriggers } from '../../webhooks/types/hook-types.ts'
import { callerRateLimitName } from '../auth/key-checker.ts'
import { recordAudit } from '../core/audit.ts'
import { actionResultFields, type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { actionResultSchema, exactObject, int64, namedSchema, string } from '../core/schemas.ts'
import type { ApiServices, WebhookTestDeps } from '../core/services.ts'
import type { ApiSettings } from '../core/settings.ts'
import { openTokenBuckets } from '../core/token-buckets.ts'
import { storeWebhookTestLog } from './test-log.ts'
import {
  webhookAccess,
  type WebhookRow,
  webhookPath,
  readWebhook,
  assertWebhookCanSend,
  webhookTag
} from './webhook-row.ts'

/** A hook may wait 30 seconds for a response, and may send several requests. */
const testTimeoutMs = 34_000
const maxBodyLength = 20_480

const webhookTestSchema = namedSchema(
  'WebhookTest',
  'What a web hook was sent as a test, and what it answered.',
  actionResultSchema({
    success: { type: 'boolean', description: 'Whether the message was delivered.' },
    sent: {
      type: 'array',
      items: exactObject({
        method: { ...string, examples: ['POST'] },
        url: { ...string, description: 'Without query and secrets.' },
        headers: {
          type: 'object',
          additionalProperties: string,
          description: 'By name in lower case; … replaces values that may be secret.'
        },
        body: { ...string, description: `At most ${maxBodyLength} characters, without secrets.` }
      }),
      description: 'The requests in order; for mail, the subject and the text.'
    },
    received: exactObject({
      status: { ...int64, description: 'The HTTP or SMTP status; 0: no response.' },
      error: { ...string, description: 'Why it was not delivered, as in the delivery log; else empty.' },
      duration_ms: int64,
      response: { ...string, description: 'The start of the last response, without secrets.' }
    })
  })
)

export const webhookTestRoute = apiRoute('PUT', `${webhookPath}/test`, webhookAccess, {
  id: 'testWebhook',
  tag: webhookTag,
  summary: 'Send the current state of the station, even if the web hook is disabled; this is not logged',
  response: webhookTestSchema,
  errors: [503],
  async handle(request, services) {
    const hook = await readWebhook(services.reads, request)
    assertWebhookCanSend(hook)
    const key = request.caller?.key
    const wait = services.webhookTests.tokens.take(key ? callerRateLimitName(key) : '')
    if (wait > 0) throw new TooManyRequests(wait)
    const message = prepareMessage(services, request, hook)
    await recordAudit(services.sql, request, { record: 'Webhook', id: hook.id, name: hook.name })
    const { parts, inFlight } = services.webhookTests
    return {
      later: respond => {
        const canceled = new AbortController()
        const cancel = () => canceled.abort()
        if (inFlight.has(hook.id)) {
          respond(() => {
            throw new ApiError('conflict', 'This web hook is being tested: try again later.')
          })
          return cancel
        }
        inFlight.add(hook.id)
        const signal = AbortSignal.any([canceled.signal, AbortSignal.timeout(testTimeoutMs)])
        const result = sendTest(message, { ...parts, signal })
        const stored = result.then(tested => storeWebhookTestLog(services, hook.id, tested))
        const finish = () => {
          inFlight.delete(hook.id)
          if (!canceled.signal.aborted) respond(async () => jsonReply(await result))
        }
        void stored.then(finish, finish)
        return cancel
      }
    }
  }
})

/** Prepares the current state for the first of the hook's triggers that has something to send. */
function prepareMessage({ live, secrets, renderer }: ApiServices, request: ApiRequest, hook: WebhookRow) {
  const { id: stationId } = getRequestStation(request)
  const state = live.findState(stationId)
  if (!state)
    throw new ApiError('unavailable', 'The state of the station is not available yet: try again later.')
  const nowMs = engineTimeMs()
  const event = {
    id: computeMessageId({
      stationId,
      fact: `test:${randomUUID()}`,
      happenedAtMs: nowMs,
      webhookId: hook.id
    }),
    happenedAt: Math.floor(nowMs / 1000),
    nowPlaying: renderEventNowPlaying(state, nowMs, renderer)
  }
  const prepared = filterHookTriggers(hook, getHookType(hook.type).triggers).map(trigger =>
    renderDelivery(secrets, hook, { ...event, triggers: [trigger] }, nowMs)
  )
  const [first] = prepared
  if (!first) throw new Error(`web hook ${hook.id} has no triggers`)
  return { id: event.id, ...(prepared.find(({ sending }) => sending.kind !== 'nothing') ?? first) }
}

/** Sends the message. Returns the body of the response; failures are part of it. */
async function sendTest({ id, sending, secrets }: ReturnType<typeof prepareMessage>, parts: SendDeps) {
  const noResponse = { status: 0, durationMs: 0 }
  if (sending.kind === 'nothing')
    return renderResult([], { ...noResponse, fault: 'nothing', response: sending.reason })
  const requests: HookRequest[] = []
  const startedAt = performance.now()
  const onRequest = (request: HookRequest) => requests.push(request)
  const result = await sendDelivery(sending, id, secrets, { ...parts, onRequest }).catch((error: unknown) => {
    if (!parts.signal?.aborted) throw error
    const durationMs = Math.round(performance.now() - startedAt)
    return { ...noResponse, durationMs, fault: 'timeout', response: 'The test timed out.' }
  })
  const mails = sending.kind === 'mail' && parts.mailer !== null ? [renderMail(sending.mail)] : []
  return renderResult([...mails, ...requests.map(each => renderRequest(each, secrets))], result)
}

interface Result extends Pick<AttemptResult, 'status' | 'durationMs' | 'response'> {
  readonly fault: string | null
}

function renderResult(sent: readonly object[], { status, fault, durationMs, response }: Result) {
  const message = fault === null ? 'The message was delivered.' : `The message was not delivered: ${fault}.`
  return {
    ...actionResultFields(message),
    success: fault === null,
    sent,
    received: { status, error: fault ?? '', duration_ms: durationMs, response }
  }
}

function renderRequest({ method, redactedUrl, headers, body = '' }: HookRequest, secrets: readonly string[]) {
  const redactedBody = redactSecrets(body, secrets).slice(0, maxBodyLength)
  return { method, url: redactedUrl, headers: redactHeaders(headers), body: redactedBody }
}

function renderMail({ to, subject, text: body }: HookMail) {
  return {
    method: 'MAIL',
    url: `mailto:${to.join(',')}`,
    headers: { subject },
    body: body.slice(0, maxBodyLength)
  }
}

export function openWebhookTests(config: ApiSettings): WebhookTestDeps {
  return { parts: openSendDeps(config), tokens: openTokenBuckets(2, 5), inFlight: new Set() }
}
