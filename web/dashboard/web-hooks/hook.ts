import * as v from 'valibot'

import type { Chip } from '../ui/controls.ts'

/** The web hooks of a station, `api/station/{id}/webhooks`. */
export const hooksSchema = v.array(
  v.pipe(
    v.object({
      id: v.number(),
      name: v.string(),
      type: v.string(),
      is_enabled: v.boolean(),
      triggers: v.array(v.string()),
      metadata: v.array(
        v.object({ key: v.string(), value: v.nullable(v.union([v.string(), v.number(), v.boolean()])) })
      )
    }),
    v.transform(({ metadata, ...hook }) => {
      const values = new Map(metadata.map(({ key, value }) => [key, value]))
      return {
        ...hook,
        state: String(values.get('state') ?? ''),
        lastSentAt: Number(values.get('last_message_sent') ?? 0),
        failures: Number(values.get('consecutive_failures') ?? 0),
        pending: Number(values.get('pending') ?? 0)
      }
    })
  )
)
export type WebHook = v.InferOutput<typeof hooksSchema>[number]

/** The response to an attempt. `status` is 0 if there was none; `error` is '' if the attempt succeeded. */
const attemptSchema = v.object({
  status: v.number(),
  error: v.string(),
  duration_ms: v.number(),
  response: v.string()
})
type Attempt = Omit<v.InferOutput<typeof attemptSchema>, 'response'>

/** Deliveries of a hook, each with its last attempt; newest first. */
export const deliveriesSchema = v.object({
  total: v.number(),
  rows: v.array(
    v.object({
      ...attemptSchema.entries,
      id: v.number(),
      happened_at: v.number(),
      triggers: v.array(v.string()),
      state: v.string(),
      attempts: v.number(),
      attempted_at: v.number(),
      next_attempt: v.number()
    })
  )
})
export type Delivery = v.InferOutput<typeof deliveriesSchema>['rows'][number]

export const testResultSchema = v.object({
  success: v.boolean(),
  message: v.string(),
  sent: v.array(v.object({ method: v.string(), url: v.string(), body: v.string() })),
  received: attemptSchema
})
export type TestResult = v.InferOutput<typeof testResultSchema>

/** The last page, which ends with the oldest of `count` deliveries. */
export const lastPage = (count: number, perPage: number): number => Math.max(1, Math.ceil(count / perPage))

/** Finds the delivery with the latest attempt; null if none was attempted. */
export function findLastAttempted(found: readonly Delivery[]): Delivery | null {
  const attempted = found.filter(({ attempted_at: at }) => at > 0)
  return attempted.toSorted((one, other) => other.attempted_at - one.attempted_at)[0] ?? null
}

/** `lastDeliveryState` is the state of the delivery that was attempted last; null if unknown. */
export function hookChip(
  hook: Pick<WebHook, 'is_enabled' | 'state' | 'failures' | 'lastSentAt'>,
  lastDeliveryState: string | null
): Chip {
  const { is_enabled: isEnabled, state, failures, lastSentAt } = hook
  if (state === 'auto_disabled') return { text: 'Disabled after failures', tone: 'bad' }
  if (state === 'retired') return { text: 'Service discontinued', tone: 'neutral' }
  if (state === 'draft') return { text: 'Draft', tone: 'neutral' }
  if (!isEnabled) return { text: 'Disabled', tone: 'neutral' }
  if (failures > 0) return { text: failures === 1 ? 'Failed' : `Failed ${failures} times`, tone: 'bad' }
  const isDelivering = lastSentAt !== 0 && (lastDeliveryState ?? 'delivered') === 'delivered'
  return isDelivering ? { text: 'Working', tone: 'good' } : { text: 'Ready', tone: 'neutral' }
}

const deliveryChips: Readonly<Record<string, Chip>> = {
  pending: { text: 'Pending', tone: 'warning' },
  delivered: { text: 'Delivered', tone: 'good' },
  failed: { text: 'Failed', tone: 'bad' },
  merged: { text: 'Merged with a later event', tone: 'neutral' },
  superseded: { text: 'Superseded', tone: 'neutral' },
  expired: { text: 'Expired', tone: 'bad' },
  cancelled: { text: 'Cancelled', tone: 'neutral' }
}

export function deliveryChip({ state, attempts }: Pick<Delivery, 'state' | 'attempts'>): Chip {
  if (state === 'pending' && attempts > 0) return { text: 'Failed, retrying', tone: 'bad' }
  return deliveryChips[state] ?? { text: state, tone: 'neutral' }
}

const triggerTexts: Readonly<Record<string, string>> = {
  song_changed: 'song changes',
  song_changed_live: 'song changes while live',
  listener_gained: 'listener gained',
  listener_lost: 'listener lost',
  live_connect: 'DJ connects',
  live_disconnect: 'DJ disconnects',
  station_offline: 'station goes offline',
  station_online: 'station comes online'
}

/** `Song changes, DJ connects` */
export function formatTriggers(triggers: readonly string[]): string {
  const text = triggers.map(trigger => triggerTexts[trigger] ?? trigger).join(', ')
  return text === '' ? 'All events' : capitalize(text)
}

/** `200, 12 ms`, `connection refused`; '' if there was no attempt. */
export function formatResponse({ status, error, duration_ms: ms }: Attempt): string {
  const result = status === 0 ? (errorTexts[error] ?? error) : String(status)
  return result === '' || ms === 0 ? result : `${result}, ${ms} ms`
}

/** Describes a failed attempt in a sentence: `The server responded with 410.` */
export function describeFailure({ status, error, duration_ms: ms }: Attempt): string {
  if (error === 'timeout') return `No response within ${Math.max(1, Math.round(ms / 1_000))} s.`
  if (status > 0) return `The server responded with ${status}.`
  return `${capitalize(errorTexts[error] ?? error)}.`
}

const errorTexts: Readonly<Record<string, string>> = {
  timeout: 'timed out',
  dns: 'host name not found',
  tls: 'TLS handshake failed',
  refused: 'connection refused',
  blocked: 'address not allowed by WEBHOOK_ALLOWED_NETWORKS',
  http: 'rejected',
  nothing: 'nothing to send'
}

const capitalize = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
