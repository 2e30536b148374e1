import type { RedisClient } from '../../redis/connection.ts'
import type { StationMessage } from '../../redis/messages.ts'
import { isOfNewerRelease, parsePosition, type StoredPosition } from '../../redis/positions.ts'
import { readChangedSince, readPositions, readSequence, readStates } from '../../redis/station-store.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { isStaleIdentity, type StationIdentity } from '../../station/identity.ts'
import type { StationState } from '../../station/state.ts'
import type { Trigger } from '../../station/triggers.ts'
import type { Catalogue } from './catalogue.ts'
import type { LiveStation } from './live-station.ts'

/** Reads the identities of stations from Postgres; those that it does not know are left out. */
export type ReadIdentities = (stationIds: readonly number[]) => Promise<ReadonlyMap<number, StationIdentity>>

export interface ShardFollowerOptions {
  readonly shard: number
  readonly redis: RedisClient
  readonly catalogue: Catalogue
  readonly readIdentities: ReadIdentities
  /** Called for every change that was taken in. */
  readonly tell: (station: LiveStation, triggers: readonly Trigger[]) => void
  /** Called whenever Redis could not be read, and whenever it could. */
  readonly onOutcome: (error: unknown) => void
  /** Called where Redis has gone back behind what was shown: what it has now would be taken for old news. */
  readonly onSetBack: (shown: StationState) => void
  /** Called where identities could not be read: new stations and epochs are taken in later. */
  readonly onUnknownIdentities: (error: unknown) => void
}

/**
 * Keeps the stations of one shard as Redis has them. On a cluster each shard may be on another node: one that
 * is away holds up no other.
 */
export interface ShardFollower {
  /** Applies a message of the shard's channel. */
  readonly receive: (message: StationMessage) => void
  /** Compares all that is in memory with Redis, and reads what differs. Rejects if Redis does not answer. */
  readonly compareAll: () => Promise<void>
  /** Reads what has changed since the comparison before; never rejects and never runs twice at once. */
  readonly check: () => Promise<void>
  /** The next check compares everything: messages and changes may have been lost. */
  readonly distrust: () => void
  /** Takes in what Redis has of one station now. Never rejects. */
  readonly catchUp: (stationId: number) => Promise<void>
  /** When the newest whole comparison began, in Unix milliseconds; 0 before the first. */
  readonly checkedAtMs: () => number
  readonly isAway: () => boolean
  /** Whether a newer release wrote states that this one cannot read: what is shown of them is old. */
  readonly isOutdated: () => boolean
  readonly close: () => Promise<void>
}

/** How many stations are read in one go. */
const chunk = 500

export function followShard(options: ShardFollowerOptions): ShardFollower {
  const { shard, redis, catalogue, readIdentities, tell, onOutcome, onSetBack, onUnknownIdentities } = options
  /** Stations to read, with the triggers their listeners have to hear of. */
  const pending = new Map<number, Set<Trigger>>()
  /** Stations that were forgotten while a read was under way, which may have found them still there. */
  const forgotten = new Set<number>()
  let reading: Promise<void> | null = null
  let checking: Promise<void> | null = null
  let isAway = false
  let isClosed = false
  let checkedAtMs = 0
  /** The sequence number up to which nothing was missed; 0: compare everything. */
  let seenSequence = 0
  /** Stations whose states only a newer release can read. */
  const beyondUs = new Set<number>()

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
    beyondUs.delete(stationId)
    catalogue.remove(stationId)
  }

  /** Reads what is wanted; what is wanted meanwhile is read after that, once per station. */
  function readPending(): Promise<void> {
    reading ??= readAll().finally(() => {
      reading = null
    })
    return reading
  }

  const isKnownEpoch = ({ stationId, epoch }: StationState) => catalogue.get(stationId)?.state.epoch === epoch

  /**
   * The identities of the stations whose states have another epoch than what is shown. Null: Postgres does
   * not answer.
   */
  async function identitiesOf(
    states: readonly (StationState | null)[]
  ): Promise<ReadonlyMap<number, StationIdentity> | null> {
    const unknown = states.flatMap(state => (state === null || isKnownEpoch(state) ? [] : state.stationId))
    if (unknown.length === 0) return new Map()
    try {
      return await readIdentities(unknown)
    } catch (error) {
      onUnknownIdentities(error)
      return null
    }
  }

  async function readAll(): Promise<void> {
    const unresolved = new Map<number, ReadonlySet<Trigger>>()
    await readBatches(unresolved)
    // The next check tries again.
    for (const [stationId, triggers] of unresolved) wish(stationId, triggers)
  }

  async function readBatches(unresolved: Map<number, ReadonlySet<Trigger>>): Promise<void> {
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
        note(null)
        const identities = await identitiesOf(states)
        for (const [index, [stationId, triggers]] of batch.entries()) {
          const [state = null, before] = [states[index], shown[index]]
          if (identities === null && state !== null && !isKnownEpoch(state)) {
            unresolved.set(stationId, triggers)
            continue
          }
          // An old dump of Redis may bring it back. The engine stores the state anew.
          if (state !== null && isStaleIdentity(state, identities?.get(stationId))) continue
          // What was read after it was shown cannot be older, unless Redis is.
          if (state !== null && before !== undefined && isBehind(state, before)) onSetBack(before)
          else take(stationId, state, triggers)
        }
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

  /** Takes in what Redis has, all or what has changed since the comparison before. */
  async function compare(): Promise<void> {
    const startedMs = engineTimeMs()
    const since = seenSequence
    const sequence = await readSequence(redis, shard)
    // A lower number means that Redis was restored from a backup.
    const isContinued = since > 0 && sequence >= since
    if (!isContinued || sequence > since) {
      const positions = await (isContinued
        ? readChangedSince(redis, shard, since)
        : readPositions(redis, shard))
      for (const [stationId, text] of positions) look(stationId, text)
    }
    await readPending()
    // What could not be read is still wanted.
    if (pending.size > 0) return
    checkedAtMs = startedMs
    // Something may have called for a whole comparison meanwhile.
    if (seenSequence === since) seenSequence = sequence
  }

  function look(stationId: number, text: string): void {
    if (text === '') return forget(stationId)
    const position = parsePosition(text)
    const known = catalogue.get(stationId)
    if (isOfNewerRelease(position)) {
      beyondUs.add(stationId)
      return
    }
    beyondUs.delete(stationId)
    if (known?.state.epoch !== position.epoch || known.state.offset !== position.offset) wish(stationId, [])
  }

  return {
    compareAll: () => {
      seenSequence = 0
      return compare()
    },
    distrust: () => {
      seenSequence = 0
    },
    receive: message => {
      if (message.type === 'removal') return forget(message.stationId)
      const { stationId, position, triggers, state } = message
      if (isOfNewerRelease(position)) {
        beyondUs.add(stationId)
        return
      }
      beyondUs.delete(stationId)
      const known = catalogue.get(stationId)
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
    catchUp: stationId => {
      wish(stationId, [])
      return readPending()
    },
    checkedAtMs: () => checkedAtMs,
    isAway: () => isAway,
    isOutdated: () => beyondUs.size > 0,
    close: async () => {
      isClosed = true
      pending.clear()
      await Promise.all([checking, reading])
    }
  }
}

/** Whether a state is an older one of the same epoch. */
function isBehind(state: StationState, shown: StationState): boolean {
  return state.epoch === shown.epoch && state.offset < shown.offset
}

function isReached(state: StationState, { epoch, offset }: StoredPosition): boolean {
  return state.epoch === epoch && state.offset >= offset
}
