import { lastPlay } from './due.ts'
import { isPlayable, type Library } from './library.ts'
import { isGivenUp } from './patience.ts'
import { nextHourlyTarget, nextOpening } from './schedule.ts'

const lookAheadMs = 32 * 86_400_000
/** A request that may not be played yet is looked at again after this time. */
const requestMs = 60_000

/** When a silent station may have something to play, null if only a change of its library can tell. Unix milliseconds. */
export function nextChance(library: Library, nowMs: number): number | null {
  const { playlists, requests, rules } = library
  const slot = { library, ahead: [], behind: [], atMs: nowMs, rejected: new Set<number>() }
  const times = requests
    .filter(request => !isGivenUp(request, slot))
    .map(({ dueAtMs }) => (dueAtMs > nowMs ? dueAtMs : nowMs + requestMs))
  for (const { id, schedule, type, everyMinutes, hourMinute } of playlists.filter(isPlayable)) {
    if (schedule.length > 0) times.push(nextOpening(rules.zone, schedule, nowMs, lookAheadMs) ?? Infinity)
    if (type === 'once_per_hour') times.push(nextHourlyTarget(rules.zone, hourMinute, nowMs))
    const last = type === 'once_per_x_minutes' && everyMinutes > 0 ? lastPlay(slot, id) : null
    if (last) times.push(last.startsAtMs + everyMinutes * 60_000)
  }
  const next = Math.min(...times.filter(time => time > nowMs))
  return Number.isFinite(next) ? next : null
}
