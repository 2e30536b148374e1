import type { Trigger } from '../station/triggers.ts'
import type { Channel } from './channels.ts'
import type { LiveStation } from './feed/live-station.ts'

/** Changes that may wait in a channel; beyond that, the newest replaces the last. */
const postponedAtMost = 256

/**
 * Adds a change to a delayed channel. Returns true if it has to be shown now, because the state that was
 * shown has another epoch, or there is none.
 */
export function delayPublication(
  channel: Channel,
  station: LiveStation,
  triggers: readonly Trigger[],
  nowMs: number
): boolean {
  const { postponed, shown } = channel
  if (shown === null || shown.state.epoch !== station.state.epoch) {
    postponed.length = 0
    channel.shown = station
    return true
  }
  const last = postponed.length >= postponedAtMost ? postponed.pop() : undefined
  postponed.push({
    station,
    triggers: new Set([...(last?.triggers ?? []), ...triggers]),
    dueAtMs: last?.dueAtMs ?? nowMs + channel.delayMs
  })
  return false
}

/** Applies every change that is due. Returns the triggers of the new state; null if nothing changed. */
export function applyDueChanges(channel: Channel, nowMs: number): ReadonlySet<Trigger> | null {
  const { postponed } = channel
  const count = postponed.findIndex(({ dueAtMs }) => dueAtMs > nowMs)
  const due = postponed.splice(0, count === -1 ? postponed.length : count)
  const newest = due.at(-1)
  if (newest === undefined) return null
  channel.shown = newest.station
  return new Set(due.flatMap(({ triggers }) => [...triggers]))
}
