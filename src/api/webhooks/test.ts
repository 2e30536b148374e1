import { randomUUID } from 'node:crypto'

import type { Config } from '../../config.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError, TooManyRequests } from '../../runtime/errors.ts'
import type { AttemptResult } from '../../webhooks/deliveries/outcome.ts'
import { prepare } from '../../webhooks/deliveries/prepare.ts'
import { sendRequest, type SendDeps, openSendDeps } from '../../webhooks/deliveries/send.ts'
import { nowPlayingAt } from '../../webhooks/format/now-playing-body.ts'
import { messageId } from '../../webhooks/outbox.ts'
import { redactHeaders, redactSecrets } from '../../webhooks/redact.ts'
import { hookTypeOf, triggersFor } from '../../webhooks/types/hook-types.ts'
import type { HookRequest, Sending } from '../../webhooks/types/sending.ts'
import { recordAudit } from '../core/audit.ts'
import { type ApiRequest, type ApiRoute, json, stationOf } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { openTokenBuckets, type TokenBuckets } from '../core/token-buckets.ts'
import { type HookRow, readHook, refuseIdle } from './webhook-row.ts'

/** A hook may take 30 seconds for a request, and may make several. */
const testMs = 34_000
const bodyShown = 20_480

const words = { type: 'string' }
const whole = { type: 'integer', format: 'int64' }

/** The schema of what is answered. */
export const webhookTestSchema = exactly({
  success: { type: 'boolean', description: 'Whether it has arrived.' },
  message: words,
  formatted_message: { ...words, description: 'HTML' },
  sent: {
    type: 'array',
    items: exactly({
      method: { ...words, examples: ['POST'] },
      url: { ...words, description: 'Without query and secrets.' },
      headers: {
        type: 'object',
        additionalProperties: words,
        description: 'By name in lower case; … stands for values that may be secret.'
      },
      body: { ...words, description: `At most ${bodyShown} characters, without secrets.` }
    }),
    description: 'What was sent, in order; of a mail its subject and its text.'
  },
  received: exactly({
    status: { ...whole, description: 'The HTTP or SMTP status; 0: there was no answer.' },
    error: { ...words, description: 'One word for why it has not arrived; empty: it has.' },
    duration_ms: whole,
    response: { ...words, description: 'The beginning of the last answer, without secrets.' }
  })
})

const test: ApiRoute = {
  method: 'PUT',
  path: '/api/station/:station_id/webhook/:id/test',
  access: 'manage station web hooks',
  operation: {
    id: 'testWebhook',
    tag: 'Web hooks',
    summary:
      'Send the state of the station as it is now, also with a disabled web hook; it is not in the log',
    answer: { $ref: '#/components/schemas/WebhookTest' },
    errors: [503]
  },
  async handle(request, services) {
    const hook = await readHook(services.reads, request)
    refuseIdle(hook)
    const wait = services.webhookTests.tokens.take(String(request.caller?.key?.id))
    if (wait > 0) throw new TooManyRequests(wait)
    const message = messageOf(services, request, hook)
    await recordAudit(services.sql, request, { record: 'Webhook', id: hook.id })
    const { parts, underWay } = services.webhookTests
    return {
      later: answer => {
        const ending = new AbortController()
        const leave = () => ending.abort()
        if (underWay.has(hook.id)) {
          answer(() => {
            throw new ApiError('conflict', 'This web hook is being tested: try again later.')
          })
          return leave
        }
        underWay.add(hook.id)
        const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(testMs)])
        const tested = trySending(message, { ...parts, signal })
        const tell = () => {
          underWay.delete(hook.id)
          if (!ending.signal.aborted) answer(async () => json(await tested))
        }
        void tested.then(tell, tell)
        return leave
      }
    }
  }
}

interface Message {
  readonly id: string
  readonly sending: Sending
  readonly secrets: readonly string[]
}

/** What the hook would send now, on the first of its triggers for which there is something to send. */
function messageOf({ live, secrets, config }: ApiServices, request: ApiRequest, hook: HookRow): Message {
  const station = stationOf(request)
  const state = live.get(String(station.id))
  if (!state) throw new ApiError('unavailable', 'The state of the station is not known yet: try again later.')
  const nowMs = engineTimeMs()
  const event = {
    id: messageId({
      stationId: station.id,
      fact: `test:${randomUUID()}`,
      happenedAtMs: nowMs,
      webhookId: hook.id
    }),
    happenedAt: Math.floor(nowMs / 1000),
    nowPlaying: nowPlayingAt(state, nowMs, config.BASE_URL)
  }
  const prepared = triggersFor(hook, hookTypeOf(hook.type).triggers).map(trigger =>
    prepare(secrets, hook, { ...event, triggers: [trigger] }, nowMs)
  )
  const [first] = prepared
  if (!first) throw new Error(`web hook ${hook.id} has no triggers`)
  return { id: event.id, ...(prepared.find(({ sending }) => sending.kind !== 'nothing') ?? first) }
}

async function trySending({ id, sending, secrets }: Message, parts: SendDeps) {
  if (sending.kind === 'nothing')
    return resultOf([], { ...unanswered, fault: 'nothing', response: sending.reason })
  const made: HookRequest[] = []
  const startedAt = performance.now()
  const outcome = await sendRequest(sending, id, secrets, {
    ...parts,
    onRequest: request => made.push(request)
  }).catch((error: unknown) => {
    if (!parts.signal?.aborted) throw error
    const durationMs = Math.round(performance.now() - startedAt)
    return { ...unanswered, durationMs, fault: 'timeout', response: 'The test took too long.' }
  })
  const mails = sending.kind === 'mail' && parts.mailer !== null ? [shownMail(sending)] : []
  return resultOf([...mails, ...made.map(each => shownRequest(each, secrets))], outcome)
}

const unanswered = { status: 0, durationMs: 0 }

interface Shown {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function resultOf(
  sent: readonly Shown[],
  {
    status,
    fault,
    durationMs,
    response
  }: Pick<AttemptResult, 'status' | 'durationMs' | 'response'> & { fault: string | null }
) {
  const message = fault === null ? 'The message has arrived.' : `The message has not arrived: ${fault}.`
  return {
    success: fault === null,
    message,
    formatted_message: message,
    sent,
    received: { status, error: fault ?? '', duration_ms: durationMs, response }
  }
}

function shownRequest(
  { method, redactedUrl: url, headers, body = '' }: HookRequest,
  secrets: readonly string[]
): Shown {
  return {
    method,
    url,
    headers: redactHeaders(headers),
    body: redactSecrets(body, secrets).slice(0, bodyShown)
  }
}

function shownMail({ mail }: Extract<Sending, { kind: 'mail' }>): Shown {
  const { to, subject, text } = mail
  return {
    method: 'MAIL',
    url: `mailto:${to.join(',')}`,
    headers: { subject },
    body: text.slice(0, bodyShown)
  }
}

export const webhookTestRoutes = [test]

/** What web hooks are tried out with. */
export interface WebhookTestParts {
  readonly parts: Pick<SendDeps, 'allowed' | 'mailer'>
  /** By key. */
  readonly tokens: TokenBuckets
  /** The hooks that this process is trying out: each once at a time. */
  readonly underWay: Set<number>
}

export function openWebhookTestParts(config: Config): WebhookTestParts {
  return { parts: openSendDeps(config), tokens: openTokenBuckets(2, 5), underWay: new Set() }
}
