import { randomBytes } from 'node:crypto'

import { readFacts, type StationFacts } from '../db/facts.ts'
import { type AdvancePayload, scheduleAdvances } from '../jobs.ts'
import {
  commitOver,
  forgetStation,
  parsePosition,
  readStored,
  repairPosition,
  type Stored
} from '../redis/station-store.ts'
import type { StationEvent } from '../station/event.ts'
import { reduce } from '../station/reduce.ts'
import { emptyState, newestRevision, type StationState } from '../station/state.ts'
import type { Trigger } from '../station/triggers.ts'
import type { PlayoutServices } from './services.ts'

const attempts = 10
const nothing: Stored = { position: '', state: null }

/**
 * Brings a station's live state up to the facts in Postgres and schedules its next step. Whatever changed the facts
 * calls this afterwards; whoever is late, doubled or restarted calls it again, and nothing happens twice. A missing
 * state, or one that knows more than Postgres (which was restored from a backup), is rebuilt under a new epoch.
 * Returns the newest state; null if the station is gone, and then its live state is gone as well. Throws if a store is
 * away: then the sweep repairs.
 */
export async function publish(services: PlayoutServices, stationId: number): Promise<StationState | null> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    // The state first: facts read after it can only be newer.
    const [stored = nothing] = await readStored(services.redis, [stationId])
    const [facts] = await readFacts(services.sql, [stationId])
    if (!facts) {
      await forgetStation(services.redis, stationId)
      return null
    }
    const result = await applyFacts(services, stored, facts)
    await scheduleAdvances(services.advances, result.advances)
    if (result.isCommitted) return result.state
  }
  throw new Error(`station ${stationId} changed ${attempts} times while it was being published`)
}

/**
 * Makes a station's live state anew under another epoch, where the stored one has gone back behind what was shown: a lower
 * version of the same epoch. Nothing happens where that is not so, or is not so any more. Throws if a store is away.
 */
export async function renewState(
  services: PlayoutServices,
  shown: Pick<StationState, 'stationId' | 'epoch' | 'version'>
): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const [stored = nothing] = await readStored(services.redis, [shown.stationId])
    const { epoch, version } = parsePosition(stored.position)
    if (epoch !== shown.epoch || version >= shown.version) return
    const [facts] = await readFacts(services.sql, [shown.stationId])
    if (!facts) return
    const result = await applyFacts(services, { ...stored, state: null }, facts)
    await scheduleAdvances(services.advances, result.advances)
    if (result.isCommitted) return
  }
}

/**
 * Publishes after facts were committed. A store that is away is no failure of the caller's: the facts are safe, and
 * the sweep shows them once it is back.
 */
export async function publishEventually(
  services: PlayoutServices,
  stationId: number
): Promise<StationState | null> {
  if (services.redis.status === 'reconnecting' || services.redis.status === 'end') return null
  try {
    return await publishShared(services, stationId)
  } catch (error) {
    services.log.warn({ err: error, station: stationId }, 'live state not updated yet')
    return null
  }
}

interface Shared {
  running: Promise<unknown>
  next: Promise<StationState | null> | null
}

/** What is being published, by station. */
const shared = new WeakMap<PlayoutServices['redis'], Map<number, Shared>>()

/**
 * Many writes to one station at once share what they have in common: whoever comes while a publish is under way waits
 * for one more, which starts after it and so sees the facts of all who wait for it.
 */
async function publishShared(services: PlayoutServices, stationId: number): Promise<StationState | null> {
  const stations = shared.get(services.redis) ?? new Map<number, Shared>()
  shared.set(services.redis, stations)
  const known = stations.get(stationId)
  if (known) {
    known.next ??= known.running.then(
      () => publishNow(),
      () => publishNow()
    )
    return known.next
  }
  return publishNow()

  async function publishNow(): Promise<StationState | null> {
    const running = publish(services, stationId)
    const entry: Shared = { running, next: null }
    stations.set(stationId, entry)
    try {
      return await running
    } finally {
      if (stations.get(stationId) === entry && entry.next === null) stations.delete(stationId)
    }
  }
}

/**
 * The same for many stations in few round trips, whose entry among the positions may be lost as well; a conflict is
 * left to the next sweep. Returns how many changed.
 */
export async function publishMany(services: PlayoutServices, stationIds: readonly number[]): Promise<number> {
  const stored = await readStored(services.redis, stationIds)
  const storedOf = new Map(stationIds.map((id, index) => [id, stored[index] ?? nothing]))
  const facts = await readFacts(services.sql, stationIds)
  const results = await Promise.all(
    facts.map(each => applyFacts(services, storedOf.get(each.stationId) ?? nothing, each))
  )
  await scheduleAdvances(
    services.advances,
    results.flatMap(result => result.advances)
  )
  const unchanged = results.filter(({ state }) => state === storedOf.get(state.stationId)?.state)
  await Promise.all(unchanged.map(({ state }) => repairPosition(services.redis, state)))
  return results.filter(result => result.isCommitted).length - unchanged.length
}

interface Applied {
  /** False: somebody was faster, and nothing was changed. True also where nothing had to be. */
  readonly isCommitted: boolean
  readonly state: StationState
  readonly advances: readonly AdvancePayload[]
}

/**
 * One commit, however many events: a stored state is complete up to its revision, so the sweep can tell by that alone
 * whether it lacks anything.
 */
async function applyFacts(services: PlayoutServices, stored: Stored, facts: StationFacts): Promise<Applied> {
  const known = stored.state
  const isFresh = known === null || newestRevision(known) > Math.max(...Object.values(facts.revisions))
  const before = isFresh ? emptyState(facts.stationId, randomBytes(6).toString('base64url')) : known
  let state = before
  const advances: AdvancePayload[] = []
  const triggers = new Set<Trigger>()
  for (const event of eventsOf(facts)) {
    const step = reduce(state, event)
    state = step.state
    for (const effect of step.effects) {
      if (effect.type === 'publish') effect.triggers.forEach(trigger => triggers.add(trigger))
      else advances.push({ stationId: state.stationId, shId: effect.shId, dueAtMs: effect.atMs })
    }
  }
  if (state === before) return { isCommitted: true, state, advances }
  // A state that is made anew crossed no edge that was not told before.
  const told = isFresh ? [] : [...triggers]
  return { isCommitted: await commitOver(services.redis, stored.position, state, told), state, advances }
}

/** The events that led to these facts; those a state has seen already change nothing. */
export function eventsOf(facts: StationFacts): StationEvent[] {
  const { revisions, profile, listeners, current, shown, history, next, live } = facts
  return [
    { type: 'station-changed', revision: revisions.station, profile },
    { type: 'listeners-counted', revision: revisions.listeners, listeners },
    // Before the track: a song that a streamer begins with is one that changed while live.
    live === null
      ? { type: 'live-ended', revision: revisions.live }
      : { type: 'live-started', revision: revisions.live, live },
    current === null
      ? { type: 'went-offline', revision: revisions.playback, history, next }
      : { type: 'track-started', revision: revisions.playback, current, shown, history, next },
    { type: 'queue-changed', revision: revisions.queue, next }
  ]
}
