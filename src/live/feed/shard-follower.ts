import { isStaleIdentity, type StationIdentity, type StationState } from '../../model/station/state.ts'
import type { Trigger } from '../../model/station/triggers.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { RedisClient } from '../../stores/redis/connection.ts'
import {
  isPositionOfNewerRelease,
  parsePosition,
  type StationMessage,
  type StoredPosition
} from '../../stores/redis/state-schema.ts'
import {
  readPositionsChangedSince,
  readShardPositions,
  readStationStates
} from '../../stores/redis/station-store.ts'
import type { LiveStation } from './live-station.ts'
import type { StationCatalogue } from './station-catalogue.ts'

/** Reads the identities of stations from Postgres; those that it does not know are left out. */
export type ReadStationIdentities = (
  stationIds: readonly number[]
) => Promise<ReadonlyMap<number, StationIdentity>>

interface ShardFollowerOptions {
  readonly shard: number
  readonly redis: RedisClient
  readonly catalogue: StationCatalogue
  readonly readIdentities: ReadStationIdentities
  /** Reads the number of the newest change of a shard. */
  readonly readSequence: (shard: number) => Promise<number>
  /** Called for every change that was applied. */
  readonly notify: (station: LiveStation, triggers: readonly Trigger[]) => void
  /** Called after every read of Redis, with the error or null. */
  readonly onOutcome: (error: unknown) => void
  /** Called if Redis has a lower offset than was shown. */
  readonly onSetBack: (shown: LiveStation) => void
  /** Called with the error of a station whose state cannot be shown, and with null once it can. */
  readonly onStation: (stationId: number, error: unknown) => void
  /** Called if identities could not be read; new stations and epochs are applied later. */
  readonly onUnknownIdentities: (error: unknown) => void
}

/** Stations per read. */
const chunk = 500

/**
 * Keeps the stations of one shard as they are in Redis. On a cluster each shard may be on another node; one
 * that is unavailable does not delay the others.
 */
export function followShard(options: ShardFollowerOptions) {
  const { shard, redis, catalogue, readIdentities, readSequence } = options
  const { notify, onOutcome, onSetBack, onStation, onUnknownIdentities } = options
  /** Stations to read, with the triggers for their listeners. */
  const pending = new Map<number, Set<Trigger>>()
  /** Stations that were removed during the read in flight, which may still have found them. */
  const removed = new Set<number>()
  let reading: Promise<void> | null = null
  let checking: Promise<void> | null = null
  let isAway = false
  let isClosed = false
  let checkedAtMs = 0
  /** The sequence number up to which nothing was missed; 0: compare everything. */
  let seenSequence = 0
  /** Stations whose states only a newer release can read. */
  const unreadable = new Set<number>()

  function reportOutcome(error: unknown): void {
    if (isClosed) return
    isAway = error !== null
    onOutcome(error)
  }

  function requestRead(stationId: number, triggers: Iterable<Trigger>): void {
    const all = pending.get(stationId) ?? new Set()
    for (const trigger of triggers) all.add(trigger)
    pending.set(stationId, all)
  }

  function remove(stationId: number): void {
    pending.delete(stationId)
    removed.add(stationId)
    unreadable.delete(stationId)
    catalogue.remove(stationId)
  }

  /** Reads the pending stations, also those that are added meanwhile. */
  function readPending(): Promise<void> {
    reading ??= readAll().finally(() => {
      reading = null
    })
    return reading
  }

  const isKnownEpoch = ({ stationId, epoch }: StationState) => catalogue.get(stationId)?.epoch === epoch

  /** Reads the identities of stations with another epoch than is shown. Null if Postgres does not answer. */
  async function readUnknownIdentities(states: readonly (StationState | null)[]) {
    const unknown = states.flatMap(state => (state === null || isKnownEpoch(state) ? [] : state.stationId))
    if (unknown.length === 0) return new Map<number, StationIdentity>()
    try {
      return await readIdentities(unknown)
    } catch (error) {
      onUnknownIdentities(error)
      return null
    }
  }

  async function readAll(): Promise<void> {
    const unresolved = new Map<number, ReadonlySet<Trigger>>()
    while (pending.size > 0) {
      const batch = [...pending].slice(0, chunk)
      for (const [stationId] of batch) pending.delete(stationId)
      removed.clear()
      const shown = batch.map(([stationId]) => catalogue.get(stationId))
      try {
        const ids = batch.map(([stationId]) => stationId)
        const states = await readStationStates(redis, ids)
        reportOutcome(null)
        const identities = await readUnknownIdentities(states)
        for (const [index, [stationId, triggers]] of batch.entries()) {
          const [state = null, before] = [states[index], shown[index]]
          if (identities === null && state !== null && !isKnownEpoch(state)) {
            unresolved.set(stationId, triggers)
            continue
          }
          // The state comes from an old dump of Redis. The sweep stores a new one.
          if (state !== null && isStaleIdentity(state, identities?.get(stationId))) continue
          const former = identities?.get(stationId)?.formerName
          if (former) catalogue.setFormerName(stationId, former)
          // A state that is read after it was shown can only be older if Redis went back.
          if (state !== null && before !== undefined && isBehind(state, before)) onSetBack(before)
          else isolateStation(stationId, () => take(stationId, state, triggers))
        }
      } catch (error) {
        reportOutcome(error)
        if (!isClosed) for (const [stationId, triggers] of batch) requestRead(stationId, triggers)
        break
      }
    }
    // The next check tries again.
    for (const [stationId, triggers] of unresolved) requestRead(stationId, triggers)
  }

  /** A state that cannot be shown, because of damage that decoding does not notice, affects no other station. */
  function isolateStation(stationId: number, work: () => void): void {
    try {
      work()
      onStation(stationId, null)
    } catch (error) {
      onStation(stationId, error)
    }
  }

  function take(stationId: number, state: StationState | null, triggers: ReadonlySet<Trigger>): void {
    if (removed.has(stationId)) return
    if (state !== null) return show(state, [...triggers])
    const station = catalogue.get(stationId)
    if (station !== undefined && triggers.size > 0) notify(station, [...triggers])
  }

  function show(state: StationState, triggers: readonly Trigger[]): void {
    const isNews = catalogue.put(state)
    const station = catalogue.get(state.stationId)
    if (station !== undefined && (isNews || triggers.length > 0)) notify(station, triggers)
  }

  /** Compares with Redis: everything, or what changed since the last comparison. */
  async function compare(): Promise<void> {
    const startedMs = engineTimeMs()
    const since = seenSequence
    const sequence = await readSequence(shard)
    // A lower number means that Redis was restored from a dump.
    const isContinued = since > 0 && sequence >= since
    if (!isContinued || sequence > since) {
      const read = isContinued
        ? readPositionsChangedSince(redis, shard, since)
        : readShardPositions(redis, shard)
      const positions = await read
      for (const [stationId, text] of positions) compareOne(stationId, text)
    }
    await readPending()
    // Some stations could not be read.
    if (pending.size > 0) return
    checkedAtMs = startedMs
    // `invalidate` may have been called meanwhile.
    if (seenSequence === since) seenSequence = sequence
  }

  /** Notes whether this release can read the state at a position, and returns it. */
  function noteReadable(stationId: number, position: StoredPosition): boolean {
    if (isPositionOfNewerRelease(position)) unreadable.add(stationId)
    else unreadable.delete(stationId)
    return !unreadable.has(stationId)
  }

  function compareOne(stationId: number, text: string): void {
    if (text === '') return remove(stationId)
    const position = parsePosition(text)
    const known = catalogue.get(stationId)
    if (!noteReadable(stationId, position)) return
    if (known?.epoch !== position.epoch || known.offset !== position.offset) requestRead(stationId, [])
  }

  function receive(message: StationMessage): void {
    if (message.type === 'removal') return remove(message.stationId)
    const { stationId, position, triggers } = message
    if (!noteReadable(stationId, position)) return
    const known = catalogue.get(stationId)
    // A check may have read the state before the message came; then only the triggers are new.
    if (known !== undefined && !pending.has(stationId) && isReached(known, position)) {
      if (triggers.length > 0) notify(known, triggers)
      return
    }
    // Another epoch is read from Redis: the message may be older than a state that a check found.
    if (known?.epoch === position.epoch && !pending.has(stationId)) {
      if (message.type === 'state' && message.state !== null) return show(message.state, triggers)
      // Counts of another revision belong to a state that was missed.
      if (message.type === 'counts' && known.revision === position.revision)
        return notify(
          catalogue.putCounts(known, { offset: position.offset, listeners: message.counts }),
          triggers
        )
    }
    requestRead(stationId, triggers)
    void readPending()
  }

  return {
    /** Compares all stations with Redis and reads those that differ. Rejects if Redis does not answer. */
    compareAll: () => {
      seenSequence = 0
      return compare()
    },
    /** Makes the next check compare everything, because messages may have been lost. */
    invalidate: () => {
      seenSequence = 0
    },
    /** Applies a message of the shard's channel. */
    receive: (message: StationMessage): void => isolateStation(message.stationId, () => receive(message)),
    /** Reads what changed since the last comparison. Never rejects; concurrent calls are coalesced. */
    check: () => {
      checking ??= compare()
        .then(() => reportOutcome(null), reportOutcome)
        .finally(() => {
          checking = null
        })
      return checking
    },
    /** Reads one station from Redis now. Never rejects. */
    catchUp: (stationId: number) => {
      requestRead(stationId, [])
      return readPending()
    },
    /** When the newest complete comparison began, in Unix milliseconds; 0 before the first. */
    checkedAtMs: () => checkedAtMs,
    isAway: () => isAway,
    /** Whether a newer release wrote states that this one cannot read; older ones are shown. */
    isOutdated: () => unreadable.size > 0,
    close: async () => {
      isClosed = true
      pending.clear()
      await Promise.all([checking, reading])
    }
  }
}

/** Whether a state is an older one of the same epoch. */
const isBehind = (state: StationState, shown: LiveStation) =>
  state.epoch === shown.epoch && state.offset < shown.offset

const isReached = (shown: LiveStation, { epoch, offset }: StoredPosition) =>
  shown.epoch === epoch && shown.offset >= offset
