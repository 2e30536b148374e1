import type { Webhook, WebhookDelivery } from '../api/responses.ts'
import type { Chip } from '../ui/controls.ts'

/** A web hook with the values of its metadata. */
export interface WebHook extends Omit<Webhook, 'metadata'> {
  readonly state: string
  readonly lastSentAt: number
  readonly failures: number
  readonly pending: number
}

export function toWebHook({ metadata, ...hook }: Webhook): WebHook {
  const values = new Map(metadata.map(({ key, value }) => [key, value]))
  return {
    ...hook,
    state: String(values.get('state') ?? ''),
    lastSentAt: Number(values.get('last_message_sent') ?? 0),
    failures: Number(values.get('consecutive_failures') ?? 0),
    pending: Number(values.get('pending') ?? 0)
  }
}

/** An attempt. `status` is 0 if there was no response; `error` is '' if the attempt succeeded. */
type Attempt = Pick<WebhookDelivery, 'status' | 'error' | 'duration_ms'>

/** The last page, which ends with the oldest of `count` deliveries. */
export const lastPage = (count: number, perPage: number): number => Math.max(1, Math.ceil(count / perPage))

/** Finds the delivery with the latest attempt; null if none was attempted. */
export function findLastAttempt(found: readonly WebhookDelivery[]): WebhookDelivery | null {
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

/** A newer server may have more states. */
export function deliveryChip({
  state,
  attempts
}: Pick<WebhookDelivery, 'attempts'> & { readonly state: string }): Chip {
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
