import type { Trigger } from '../station/triggers.ts'
import type { Channel } from './channels.ts'
import type { LiveStation } from './feed/live-station.ts'

/** So many changes may wait in a channel; of more than that, the last ones are joined. */
const postponedAtMost = 256

/**
 * Takes a change of a delayed channel in, to be shown when its time has come. True: show it now, because what
 * was shown belongs to another epoch, or nothing was.
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

/** Shows every change whose time has come; gives the triggers of what is new, null if nothing is. */
export function showDue(channel: Channel, nowMs: number): ReadonlySet<Trigger> | null {
  const { postponed } = channel
  const count = postponed.findIndex(({ dueAtMs }) => dueAtMs > nowMs)
  const due = postponed.splice(0, count === -1 ? postponed.length : count)
  const newest = due.at(-1)
  if (newest === undefined) return null
  channel.shown = newest.station
  return new Set(due.flatMap(({ triggers }) => [...triggers]))
}

/** Work that is done piece by piece, so that others get their turn in between. */
interface Turns<Item> {
  /** Has the item worked on soon, after those that wait already; one that waits already keeps its place. */
  readonly add: (item: Item) => void
  readonly close: () => void
}

/** How long it may keep the event loop at a time; at least one item is worked on. */
const turnMs = 1

export function openTimeSlices<Item>(work: (item: Item) => void): Turns<Item> {
  const waiting = new Set<Item>()
  let isScheduled = false

  function run(): void {
    isScheduled = false
    const until = performance.now() + turnMs
    for (const item of waiting) {
      waiting.delete(item)
      work(item)
      if (performance.now() >= until) break
    }
    if (waiting.size > 0) schedule()
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(run)
  }

  return {
    add: item => {
      waiting.add(item)
      schedule()
    },
    close: () => waiting.clear()
  }
}
