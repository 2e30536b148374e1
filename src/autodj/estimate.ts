import type { PendingRequest, Slot } from './library.ts'

/** Stands in for a length that is not known. */
export const unknownDurationMs = 180_000

const shortestMs = 1_000

/** How long a track holds the air: its length, at least a second, three minutes if unknown. Milliseconds. */
export function airtimeMs(durationMs: number): number {
  return durationMs === 0 ? unknownDurationMs : Math.max(shortestMs, durationMs)
}

/**
 * When the track after this one begins. A track that is shorter than the overlap is not faded into the next.
 * Milliseconds.
 */
export function nextStartMs(startMs: number, durationMs: number, overlapMs: number): number {
  const airMs = airtimeMs(durationMs)
  return startMs + (airMs >= overlapMs ? Math.max(shortestMs, airMs - overlapMs) : airMs)
}

/** A request that is due for so long is not played any more. Milliseconds. */
export const requestTtlMs = 180 * 60_000

/** Whether nobody waits for a request any more when its slot comes. */
export function isExpiredRequest(
  { dueAtMs }: Pick<PendingRequest, 'dueAtMs'>,
  { atMs }: Pick<Slot, 'atMs'>
): boolean {
  return atMs - dueAtMs >= requestTtlMs
}
