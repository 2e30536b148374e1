/*
 * A queue of attempts, in the order in which their clients began to try. A client that was refused keeps its place in
 * the queue for a while, and goes to its end once it was admitted. So nobody who comes later can overtake a client
 * that retries, from however many networks: it waits only for those who came before.
 */

/** An attempt that waits to be admitted. */
export interface FairQueueEntry {
  readonly account: string
  /**
   * What it is counted by, from coarse to fine: `192.0.2.0/24`, then `192.0.2.1`. Each group gets one place in the
   * queue.
   */
  readonly groups: readonly string[]
}

interface Place {
  readonly sinceMs: number
  readonly untilMs: number
}

/** A place is kept for this time after the last attempt. */
const placeMs = 5 * 60_000
/** Attempts that wait for the same account. */
const maxWaiting = 32
/** Of all accounts. Beyond, half of them are dropped by chance: no order of arrival lets others push a place out. */
const maxPlaces = 100_000

/** Opens the queues of all accounts. `now` returns milliseconds, `random` numbers from 0 to 1. */
export function openFairQueue<Attempt extends FairQueueEntry>(
  now: () => number = () => performance.now(),
  random: () => number = Math.random
) {
  const places = new Map<string, Place>()
  /** By account; never empty. */
  const waiting = new Map<string, Set<Attempt>>()

  const waitingFor = (account: string): ReadonlySet<Attempt> => waiting.get(account) ?? new Set()

  /** The names of the places of an attempt. A fine group is one within its coarse group. */
  const placesOf = ({ account, groups }: FairQueueEntry) =>
    groups.map((_, depth) => [account, ...groups.slice(0, depth + 1)].join('\n'))

  function keepPlaces(attempt: Attempt): void {
    const nowMs = now()
    for (const name of placesOf(attempt)) {
      const known = places.get(name)
      const sinceMs = known && known.untilMs > nowMs ? known.sinceMs : nowMs
      places.set(name, { sinceMs, untilMs: nowMs + placeMs })
    }
    if (places.size > maxPlaces) dropPlaces(nowMs)
  }

  function dropPlaces(nowMs: number): void {
    for (const [name, { untilMs }] of places) if (untilMs <= nowMs) places.delete(name)
    if (places.size <= maxPlaces / 2) return
    for (const name of places.keys()) if (random() < 0.5) places.delete(name)
  }

  const shuffle = (attempts: readonly Attempt[]) =>
    attempts
      .map(attempt => ({ attempt, chance: random() }))
      .toSorted((a, b) => a.chance - b.chance)
      .map(({ attempt }) => attempt)

  /**
   * The queue: one attempt of each group, those who came first in front, then the second one of each, and so on; by
   * chance within a client.
   */
  function lineUp(attempts: readonly Attempt[], depth = 0): Attempt[] {
    const groups = new Map<string, Attempt[]>()
    for (const attempt of attempts) {
      const name = placesOf(attempt)[depth]
      if (name === undefined) return shuffle(attempts)
      groups.set(name, [...(groups.get(name) ?? []), attempt])
    }
    const lines = [...groups]
      .map(([name, members]) => ({ sinceMs: places.get(name)?.sinceMs ?? now(), members }))
      .toSorted((a, b) => a.sinceMs - b.sinceMs)
      .map(({ members }) => (members.length > 1 ? lineUp(members, depth + 1) : members))
    const longest = Math.max(0, ...lines.map(({ length }) => length))
    return Array.from({ length: longest }, (_, index) => lines.flatMap(line => line[index] ?? [])).flat()
  }

  function leave(attempt: Attempt): boolean {
    const others = waiting.get(attempt.account)
    if (!others?.delete(attempt)) return false
    if (others.size === 0) waiting.delete(attempt.account)
    return true
  }

  return {
    /** Whether attempts wait for an account. */
    isWaiting: (account: string): boolean => waiting.has(account),
    /**
     * Adds an attempt. Returns the one that has to leave, the last of the queue, if too many wait; it keeps its place.
     */
    join: (attempt: Attempt): Attempt | null => {
      keepPlaces(attempt)
      const others = waiting.get(attempt.account) ?? new Set()
      waiting.set(attempt.account, others.add(attempt))
      const last = others.size > maxWaiting ? lineUp([...others]).at(-1) : undefined
      if (last) leave(last)
      return last ?? null
    },
    /** Removes an attempt that timed out; it keeps its place. Returns false if it does not wait any more. */
    leave,
    /**
     * Removes and returns the first attempt of an account, whose groups go to the end of the queue; null if none waits.
     */
    dequeue: (account: string): Attempt | null => {
      const [first] = lineUp([...waitingFor(account)])
      if (first === undefined) return null
      leave(first)
      for (const name of placesOf(first)) places.delete(name)
      for (const other of waitingFor(account)) keepPlaces(other)
      return first
    }
  }
}
