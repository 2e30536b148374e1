import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

import { readFacts, type StationFacts } from '../db/facts.ts'
import type { Sql } from '../db/sql.ts'
import { type AdvancePayload, scheduleAdvances } from '../jobs.ts'
import {
  commitState,
  forgetStation,
  isBeyondUs,
  parsePosition,
  readStored,
  repairPosition,
  type Stored
} from '../redis/station-store.ts'
import type { StationEvent } from '../station/event.ts'
import { reduce } from '../station/reduce.ts'
import { emptyState, type StationState } from '../station/state.ts'
import type { Trigger } from '../station/triggers.ts'
import type { PlayoutServices } from './services.ts'

const attempts = 10
/** How long somebody who lost a race waits for the one who won it. */
const politeMs = 100
const nothing: Stored = { position: '', state: null }

/**
 * Brings a station's live state up to the facts in Postgres and schedules its next step. Whatever changed the facts
 * calls this afterwards; whoever is late, doubled or restarted calls it again, and nothing happens twice. A missing
 * state, one of another epoch, and one that knows more than Postgres (which was restored from a backup) are rebuilt under a new epoch.
 * Returns the newest state; null if the station is gone, and then its live state is gone as well, or if a newer release writes it in a way
 * that this one cannot read: that release has to publish. Throws if a store is away: then the sweep repairs.
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
    const [result] = await applyFacts(services, [{ stored, facts }])
    if (result === undefined || result.outcome === 'beyond us') return null
    if (result.outcome !== 'overtaken') return result.state
    await wait(politeMs * Math.random())
  }
  throw new Error(`station ${stationId} changed ${attempts} times while it was being published`)
}

/**
 * Stores a station's live state, as the facts in Postgres have it by now, under a higher offset than the one that was shown, where Redis has
 * gone back behind that: a lower offset of the same epoch. A no-op otherwise, and for a station that is gone. Throws if a store is away.
 */
export async function renewState(
  services: PlayoutServices,
  shown: Pick<StationState, 'stationId' | 'epoch' | 'offset'>
): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const [stored = nothing] = await readStored(services.redis, [shown.stationId])
    const { epoch, offset } = parsePosition(stored.position)
    if (epoch !== shown.epoch || offset >= shown.offset || stored.state === null) return
    const [facts] = await readFacts(services.sql, [shown.stationId])
    if (!facts) return
    const [result] = await applyFacts(services, [{ stored, facts, sentOffset: shown.offset }])
    if (result?.outcome !== 'overtaken') return
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
  const results = await applyFacts(
    services,
    facts.map(each => ({ stored: storedOf.get(each.stationId) ?? nothing, facts: each }))
  )
  const unchanged = results.filter(({ outcome }) => outcome === 'unchanged')
  await Promise.all(
    unchanged.map(({ state: { stationId } }) =>
      repairPosition(services.redis, stationId, storedOf.get(stationId)?.position ?? '')
    )
  )
  return results.filter(({ outcome }) => outcome === 'stored').length
}

interface Publishing {
  readonly stored: Stored
  readonly facts: StationFacts
  /** An offset that was sent although Redis has a lower one: the state is stored even if it did not change. */
  readonly sentOffset?: number
}

interface Applied {
  /** `overtaken`: another process was faster, and nothing was changed. `beyond us`: only a newer release can read what is stored. */
  readonly outcome: 'stored' | 'unchanged' | 'overtaken' | 'beyond us'
  readonly state: StationState
}

/**
 * Stores the states of stations, one commit each, and schedules their next steps. A stored state is complete up to its revision, so
 * the sweep can tell by that alone whether it lacks anything.
 */
async function applyFacts(services: PlayoutServices, publishings: readonly Publishing[]): Promise<Applied[]> {
  const epochs = await beginEpochs(
    services.sql,
    publishings.filter(isEpochOver).map(({ facts }) => facts)
  )
  const advances: AdvancePayload[] = []
  const applied = await Promise.all(
    publishings.map(publishing =>
      applyOne(services, publishing, epochs.get(publishing.facts.stationId), advances)
    )
  )
  await scheduleAdvances(services.advances, advances)
  return applied
}

async function applyOne(
  services: PlayoutServices,
  { stored, facts, sentOffset = 0 }: Publishing,
  begun: string | undefined,
  advances: AdvancePayload[]
): Promise<Applied> {
  const position = parsePosition(stored.position)
  const isOver = isEpochOver({ stored, facts })
  // A state that cannot be read is made anew in its epoch.
  const before = (isOver ? null : stored.state) ?? emptyState(facts.stationId, begun ?? facts.epoch)
  if (isBeyondUs(position)) return { outcome: 'beyond us', state: before }
  if (isOver && begun === undefined) return { outcome: 'overtaken', state: before }
  let state = before
  const triggers = new Set<Trigger>()
  for (const event of eventsOf(facts)) {
    const step = reduce(state, event)
    state = step.state
    for (const effect of step.effects) {
      if (effect.type === 'publish') effect.triggers.forEach(trigger => triggers.add(trigger))
      else advances.push({ stationId: state.stationId, shId: effect.shId, dueAtMs: effect.atMs })
    }
  }
  if (state === before && sentOffset === 0) return { outcome: 'unchanged', state }
  // A state that is made or stored anew crossed no edge that was not told before.
  const fired = before === stored.state && sentOffset === 0 ? [...triggers] : []
  const schema = services.processes.schema()
  const commit = { state, over: stored.position, triggers: fired, schema, sentOffset }
  const committed = await commitState(services.redis, commit)
  return committed === null ? { outcome: 'overtaken', state } : { outcome: 'stored', state: committed }
}

/** Whether a station's state has to begin a new epoch: Redis lost it, or went back to an old backup, or Postgres did. */
function isEpochOver({ stored, facts }: Publishing): boolean {
  const { epoch, revision } = parsePosition(stored.position)
  return (
    epoch === '' || epoch !== facts.epoch || revision > newestFact(facts) || isPartAhead({ stored, facts })
  )
}

const newestFact = ({ revisions }: StationFacts) => Math.max(...Object.values(revisions))

/** Where Postgres went back and on from there, the parts that have not changed since are of another past. */
function isPartAhead({ stored: { state }, facts: { revisions } }: Publishing): boolean {
  if (state === null) return false
  const { station, playback, queue, listeners, live } = state.revisions
  return (
    station > revisions.station ||
    playback > revisions.playback ||
    // What plays speaks of the queue as well.
    queue > Math.max(revisions.queue, revisions.playback) ||
    listeners > revisions.listeners ||
    live > revisions.live
  )
}

/**
 * Gives stations new epochs, unless they have others than what was read. One that another process has just begun is left to that
 * process for a moment. Returns the new epochs by station.
 */
async function beginEpochs(
  sql: Sql,
  stations: readonly Pick<StationFacts, 'stationId' | 'epoch'>[]
): Promise<ReadonlyMap<number, string>> {
  if (stations.length === 0) return new Map()
  const ids = stations.map(({ stationId }) => stationId)
  const rows = await sql<{ id: number; epoch: string }[]>`
    update stations s set epoch = n.fresh, epoch_since = clock_timestamp()
    from (
      select t.id, r.fresh from stations t
        join unnest(${ids}::bigint[], ${stations.map(({ epoch }) => epoch)}::text[], ${stations.map(freshEpoch)}::text[])
          as r (id, epoch, fresh) on r.id = t.id and r.epoch = t.epoch
      where t.epoch_since not between clock_timestamp() - interval '300 milliseconds' and clock_timestamp()
      order by t.id for no key update of t skip locked
    ) n
    where s.id = n.id returning s.id, s.epoch`
  return new Map(rows.map(({ id, epoch }) => [id, epoch]))
}

const freshEpoch = () => randomBytes(6).toString('base64url')

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
