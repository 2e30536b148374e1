import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until `bytes` more may be received, or the signal aborts. */
export type Pace = (bytes: number, signal?: AbortSignal) => Promise<void>

/** What may be received at once after a pause. */
const burstMs = 1_000

/**
 * Returns a function that lets bytes pass at a rate, in the order of the calls, so that uploads leave the core of the event loop
 * to other requests. 0: no limit.
 */
export function openPace(bytesPerSecond: number): Pace {
  if (bytesPerSecond === 0) return async () => {}
  /** When all that has passed would have been received at the rate. */
  let receivedAtMs = 0
  return async (bytes, signal) => {
    const nowMs = performance.now()
    receivedAtMs = Math.max(receivedAtMs, nowMs - burstMs) + (bytes / bytesPerSecond) * 1_000
    if (receivedAtMs <= nowMs) return
    await sleep(receivedAtMs - nowMs, undefined, signal && { signal }).catch(() => {})
  }
}
