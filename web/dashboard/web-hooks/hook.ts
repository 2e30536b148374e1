import * as v from 'valibot'

const named = v.object({ key: v.string(), value: v.union([v.string(), v.number(), v.boolean(), v.null()]) })

/** What of a web hook is shown, `api/station/{id}/webhooks`. */
export const hooks = v.array(
  v.pipe(
    v.object({
      id: v.number(),
      name: v.string(),
      type: v.string(),
      is_enabled: v.boolean(),
      triggers: v.array(v.string()),
      metadata: v.array(named)
    }),
    v.transform(({ metadata, ...hook }) => {
      const values = new Map(metadata.map(({ key, value }) => [key, value]))
      const count = (key: string) => Number(values.get(key) ?? 0)
      return {
        ...hook,
        state: String(values.get('state') ?? ''),
        lastSentAt: count('last_message_sent'),
        failures: count('consecutive_failures'),
        pending: count('pending')
      }
    })
  )
)

export type Hook = v.InferOutput<typeof hooks>[number]

/** A delivery of a hook with its last attempt. */
export const deliveries = v.object({
  total: v.number(),
  rows: v.array(
    v.object({
      id: v.number(),
      happened_at: v.number(),
      triggers: v.array(v.string()),
      state: v.string(),
      attempts: v.number(),
      attempted_at: v.number(),
      status: v.number(),
      error: v.string(),
      duration_ms: v.number(),
      response: v.string(),
      next_attempt: v.number()
    })
  )
})

export type Delivery = v.InferOutput<typeof deliveries>['rows'][number]

/** The page that ends with the oldest of so many, which are told newest first. */
export const oldestPage = (count: number, rows: number): number => Math.max(1, Math.ceil(count / rows))

/** The one that was tried last; null where none was. */
export function lastAttempted(found: readonly Delivery[]): Delivery | null {
  const tried = found.filter(({ attempted_at: at }) => at > 0)
  return tried.toSorted((one, other) => other.attempted_at - one.attempted_at)[0] ?? null
}

/** What came of a test. */
export const testResult = v.object({
  success: v.boolean(),
  message: v.string(),
  sent: v.array(v.object({ method: v.string(), url: v.string(), body: v.string() })),
  received: v.object({
    status: v.number(),
    error: v.string(),
    duration_ms: v.number(),
    response: v.string()
  })
})

export type TestResult = v.InferOutput<typeof testResult>

/** How good or bad something is: `quiet` neither. */
type Mood = 'good' | 'bad' | 'doubt' | 'quiet'

/** A state in words, and how it looks. */
export interface Chip {
  readonly text: string
  readonly mood: Mood
}

/** What of a hook says how it is. */
interface HookStanding {
  readonly is_enabled: boolean
  readonly state: string
  readonly failures: number
  readonly lastSentAt: number
}

/**
 * How a hook is, all in all. `lastState`: what became of the delivery that was tried last; null where that is
 * not known.
 */
export function hookChip(
  { is_enabled: isEnabled, state, failures, lastSentAt }: HookStanding,
  lastState: string | null
): Chip {
  if (state === 'auto_disabled') return { text: 'Switched off after failures', mood: 'bad' }
  if (state === 'retired') return { text: 'Service is gone', mood: 'quiet' }
  if (state === 'draft') return { text: 'Draft', mood: 'quiet' }
  if (!isEnabled) return { text: 'Switched off', mood: 'quiet' }
  if (failures > 0) return { text: failures === 1 ? 'Failed' : `Failed ${failures} times`, mood: 'bad' }
  const hasArrived = lastSentAt !== 0 && (lastState === null || lastState === 'delivered')
  return hasArrived ? { text: 'Arriving', mood: 'good' } : { text: 'Ready', mood: 'quiet' }
}

const states: Readonly<Record<string, Chip>> = {
  pending: { text: 'Waiting', mood: 'doubt' },
  delivered: { text: 'Arrived', mood: 'good' },
  failed: { text: 'Failed', mood: 'bad' },
  merged: { text: 'Sent with a later one', mood: 'quiet' },
  superseded: { text: 'Overtaken by newer', mood: 'quiet' },
  expired: { text: 'Too old', mood: 'bad' },
  cancelled: { text: 'Cancelled', mood: 'quiet' }
}

/** What became of a delivery. One that failed and is tried again waits. */
export function deliveryChip(state: string, attempts: number): Chip {
  const chip = states[state] ?? { text: state, mood: 'quiet' as const }
  return state === 'pending' && attempts > 0 ? { text: 'Failed, tried again', mood: 'bad' } : chip
}

const triggerTexts: Readonly<Record<string, string>> = {
  song_changed: 'song changes',
  song_changed_live: 'song changes while live',
  listener_gained: 'more listeners',
  listener_lost: 'fewer listeners',
  live_connect: 'somebody goes live',
  live_disconnect: 'somebody ends a live show',
  station_offline: 'station goes silent',
  station_online: 'station is heard again'
}

/** Of what a hook is told. */
export function triggersText(triggers: readonly string[]): string {
  const text = triggers.map(trigger => triggerTexts[trigger] ?? trigger).join(', ')
  return text === '' ? 'Everything' : capital(text)
}

/** How an attempt was answered: `200, 12 ms`, `no answer in time`. */
export function answerText(status: number, error: string, durationMs: number): string {
  // That a status is no success goes without saying.
  const what = status === 0 ? (errors[error] ?? error) : String(status)
  if (what === '') return ''
  return durationMs === 0 ? what : `${what}, ${durationMs} ms`
}

/** What an attempt that failed came to, as a sentence: `The server answered 410.` */
export function attemptText({ status, error, duration_ms: ms }: Attempt): string {
  if (error === 'timeout') return `No answer within ${Math.max(1, Math.round(ms / 1_000))} s.`
  if (status > 0) return `The server answered ${status}.`
  return `${capital(errors[error] ?? error)}.`
}

interface Attempt {
  readonly status: number
  readonly error: string
  readonly duration_ms: number
}

const errors: Readonly<Record<string, string>> = {
  timeout: 'no answer in time',
  dns: 'no such name',
  tls: 'no secure connection',
  refused: 'connection refused',
  blocked: 'address not allowed',
  http: 'not accepted',
  nothing: 'nothing to send'
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
