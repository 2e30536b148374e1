import type { RedisClient } from '../redis/connection.ts'
import {
  type Change,
  parsePosition,
  readPositions,
  readStates,
  renderPosition
} from '../redis/station-store.ts'
import { newestRevision, type StationState } from '../station/state.ts'
import type { Trigger } from '../station/triggers.ts'
import type { Catalogue } from './catalogue.ts'
import type { LiveStation } from './live-station.ts'

export interface ShardFollowerOptions {
  readonly shard: number
  readonly redis: RedisClient
  readonly catalogue: Catalogue
  /** Called for every change that was taken in. */
  readonly tell: (station: LiveStation, triggers: readonly Trigger[]) => void
  /** Called whenever Redis could not be read, and whenever it could. */
  readonly onOutcome: (error: unknown) => void
  /** Called where Redis has gone back behind what was shown: what it has now would be taken for old news. */
  readonly onSetBack: (shown: StationState) => void
}

/**
 * Keeps the stations of one shard as Redis has them. On a cluster each shard may be on another node: one that is
 * away holds up no other.
 */
export interface ShardFollower {
  /** Takes in what a message tells. */
  readonly hear: (change: Change) => void
  /** Compares what is in memory with Redis, and reads what differs. Rejects if Redis does not answer. */
  readonly compare: () => Promise<void>
  /** The same; never rejects and never runs twice at once. */
  readonly check: () => Promise<void>
  /** Takes in a newer state of one station, if there is one. Never rejects. */
  readonly refresh: (stationId: number) => Promise<void>
  /** When the newest whole comparison began, in Unix milliseconds; 0 before the first. */
  readonly checkedAtMs: () => number
  readonly isAway: () => boolean
  readonly close: () => Promise<void>
}

/** How many stations are read in one go. */
const chunk = 500

export function followShard(options: ShardFollowerOptions): ShardFollower {
  const { shard, redis, catalogue, tell, onOutcome, onSetBack } = options
  /** Stations to read, with the triggers their listeners have to hear of. */
  const pending = new Map<number, Set<Trigger>>()
  /** Stations that were forgotten while a read was under way, which may have found them still there. */
  const forgotten = new Set<number>()
  let reading: Promise<void> | null = null
  let checking: Promise<void> | null = null
  let isAway = false
  let isClosed = false
  let checkedAtMs = 0

  function note(error: unknown): void {
    if (isClosed) return
    isAway = error !== null
    onOutcome(error)
  }

  function wish(stationId: number, triggers: Iterable<Trigger>): void {
    const wanted = pending.get(stationId) ?? new Set()
    for (const trigger of triggers) wanted.add(trigger)
    pending.set(stationId, wanted)
  }

  function forget(stationId: number): void {
    pending.delete(stationId)
    forgotten.add(stationId)
    catalogue.remove(stationId)
  }

  /** Reads what is wanted; what is wanted meanwhile is read after that, once per station. */
  function readPending(): Promise<void> {
    reading ??= readAll().finally(() => {
      reading = null
    })
    return reading
  }

  async function readAll(): Promise<void> {
    while (pending.size > 0) {
      const batch = [...pending].slice(0, chunk)
      for (const [stationId] of batch) pending.delete(stationId)
      forgotten.clear()
      const shown = batch.map(([stationId]) => catalogue.get(stationId)?.state)
      try {
        const states = await readStates(
          redis,
          batch.map(([stationId]) => stationId)
        )
        for (const [index, [stationId, triggers]] of batch.entries()) {
          const [state = null, before] = [states[index], shown[index]]
          // What was read after it was shown cannot be older, unless Redis is.
          if (state !== null && before !== undefined && isBehind(renderPosition(state), before))
            onSetBack(before)
          else take(stationId, state, triggers)
        }
        note(null)
      } catch (error) {
        note(error)
        if (isClosed) return
        // The next check tries again.
        for (const [stationId, triggers] of batch) wish(stationId, triggers)
        return
      }
    }
  }

  function take(stationId: number, state: StationState | null, triggers: ReadonlySet<Trigger>): void {
    if (forgotten.has(stationId)) return
    if (state !== null) return show(state, [...triggers])
    const station = catalogue.get(stationId)
    if (station !== undefined && triggers.size > 0) tell(station, [...triggers])
  }

  function show(state: StationState, triggers: readonly Trigger[]): void {
    const isNews = catalogue.put(state)
    const station = catalogue.get(state.stationId)
    if (station !== undefined && (isNews || triggers.length > 0)) tell(station, triggers)
  }

  async function compare(): Promise<void> {
    const startedMs = Date.now()
    for (const [stationId, position] of await readPositions(redis, shard)) {
      const known = catalogue.get(stationId)
      if (position === '') forget(stationId)
      else if (known === undefined || renderPosition(known.state) !== position) wish(stationId, [])
    }
    await readPending()
    // What could not be read is still wanted.
    if (pending.size === 0) checkedAtMs = startedMs
  }

  return {
    compare,
    hear: ({ stationId, position, triggers, state }) => {
      if (position === '') return forget(stationId)
      const known = catalogue.get(stationId)
      if (known !== undefined && isSetBack(position, known.state)) return onSetBack(known.state)
      // A check may have been faster than the message; then only its triggers are still news.
      if (known !== undefined && !pending.has(stationId) && isReached(known.state, position)) {
        if (triggers.length > 0) tell(known, triggers)
        return
      }
      // Another epoch has to be looked up: the message may be older than what a check found.
      if (state !== null && known?.state.epoch === state.epoch && !pending.has(stationId))
        return show(state, triggers)
      wish(stationId, triggers)
      void readPending()
    },
    check: () => {
      checking ??= compare()
        .then(() => note(null), note)
        .finally(() => {
          checking = null
        })
      return checking
    },
    refresh: stationId => {
      wish(stationId, [])
      return readPending()
    },
    checkedAtMs: () => checkedAtMs,
    isAway: () => isAway,
    close: async () => {
      isClosed = true
      pending.clear()
      await Promise.all([checking, reading])
    }
  }
}

/** Whether a position is an older one of the same epoch. */
function isBehind(position: string, shown: StationState): boolean {
  const { epoch, version } = parsePosition(position)
  return epoch === shown.epoch && version < shown.version
}

/** Whether a change of newer facts carries a version that has been shown for older ones. */
function isSetBack(position: string, shown: StationState): boolean {
  return isBehind(position, shown) && parsePosition(position).revision > newestRevision(shown)
}

function isReached(state: StationState, position: string): boolean {
  const { epoch, version } = parsePosition(position)
  return state.epoch === epoch && state.version >= version
}
