/*
 * A key that may not see the reports of some stations will hardly see those of hundreds. As long as it was shown none, few
 * are asked for.
 */

const enough = 3
const refused = new Map<string, number>()

/** Whether reports are worth asking for with a key. */
export const isWorthAsking = (key: string): boolean => (refused.get(key) ?? 0) < enough

/** Notes how a key was answered. */
export function noteAnswer(key: string, isRefused: boolean): void {
  if (!isRefused) refused.set(key, -Infinity)
  else refused.set(key, (refused.get(key) ?? 0) + 1)
}
