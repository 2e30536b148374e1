import type { PendingRequest, Slot } from './library.ts'

/** A request that is due for so long is not played any more. Milliseconds. */
export const patienceMs = 180 * 60_000

/** Whether nobody waits for a request any more when its slot comes. */
export function isGivenUp(
  { dueAtMs }: Pick<PendingRequest, 'dueAtMs'>,
  { atMs }: Pick<Slot, 'atMs'>
): boolean {
  return atMs - dueAtMs >= patienceMs
}
