import { requestJson } from '../api/call-api.ts'
import type { QueueItem } from '../api/responses.ts'
import { isolateBidi } from '../ui/text.ts'
import type { ZoneClock } from '../ui/time.ts'

/** Dispatched after a song was added to the queue. */
export const queueChangedEvent = 'cuewire-queue-changed'

export interface QueueAddition {
  /** The path of the station in the API. */
  readonly path: string
  readonly clock: ZoneClock
  /** What the server adds: a song, or the request of a listener. */
  readonly body: Readonly<Record<string, number | boolean>>
  readonly title: string
  /** Whether it plays right after the songs already sent to the playout, else after other added songs. */
  readonly playsNext: boolean
}

/** Adds a song to the queue, and notifies the page. Returns a message that says when it plays. */
export async function requestQueueAddition(
  element: EventTarget,
  { path, clock, body, title, playsNext }: QueueAddition
): Promise<string> {
  // For one song, the answer is one row.
  const row = await requestJson<QueueItem>('POST', `${path}/queue`, {
    body: { ...body, ...(playsNext ? { position: 1 } : {}) }
  })
  element.dispatchEvent(new Event(queueChangedEvent, { bubbles: true }))
  return `“${isolateBidi(title)}” plays at ${clock.formatTime(row.played_at)}.`
}
