import { randomBytes } from 'node:crypto'

import { readFacts, type StationFacts } from '../db/facts.ts'
import { type AdvancePayload, scheduleAdvances } from '../jobs.ts'
import { commitState, readStates } from '../redis/station-store.ts'
import type { StationEvent } from '../station/event.ts'
import { reduce, type Step } from '../station/reduce.ts'
import { emptyState, newestRevision, type StationState } from '../station/state.ts'
import type { Trigger } from '../station/triggers.ts'
import type { PlayoutServices } from './services.ts'

const attempts = 10

/**
 * Brings a station's live state up to the facts in Postgres and schedules its next step. Whatever changed the facts
 * calls this afterwards; whoever is late, doubled or restarted calls it again, and nothing happens twice. A missing
 * state, or one that knows more than Postgres (which was restored from a backup), is rebuilt under a new epoch.
 * Returns the newest state, null if there is no such station. Throws if a store is away: then the sweep repairs.
 */
export async function publish(services: PlayoutServices, stationId: number): Promise<StationState | null> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    // The state first: facts read after it can only be newer.
    const [state = null] = await readStates(services.redis, [stationId])
    const [facts] = await readFacts(services.sql, [stationId])
    if (!facts) return null
    const result = await applyFacts(services, state, facts)
    await scheduleAdvances(services.advances, result.advances)
    if (result.isCommitted) return result.state
  }
  throw new Error(`station ${stationId} changed ${attempts} times while it was being published`)
}

/**
 * Publishes after facts were committed. A store that is away is no failure of the caller's: the facts are safe, and
 * the sweep shows them once it is back.
 */
export async function publishEventually(
  services: PlayoutServices,
  stationId: number
): Promise<StationState | null> {
  if (services.redis.status === 'reconnecting') return null
  try {
    return await publish(services, stationId)
  } catch (error) {
    services.log.warn({ err: error, station: stationId }, 'live state not updated yet')
    return null
  }
}

/** The same for many stations in few round trips; a conflict is left to the next sweep. Returns how many changed. */
export async function publishMany(services: PlayoutServices, stationIds: readonly number[]): Promise<number> {
  const states = await readStates(services.redis, stationIds)
  const stateOf = new Map(stationIds.map((id, index) => [id, states[index] ?? null]))
  const facts = await readFacts(services.sql, stationIds)
  const results = await Promise.all(
    facts.map(each => applyFacts(services, stateOf.get(each.stationId) ?? null, each))
  )
  await scheduleAdvances(
    services.advances,
    results.flatMap(result => result.advances)
  )
  return results.filter(result => result.isCommitted).length
}

interface Applied {
  readonly isCommitted: boolean
  readonly state: StationState
  readonly advances: readonly AdvancePayload[]
}

function applyFacts(
  services: PlayoutServices,
  stored: StationState | null,
  facts: StationFacts
): Promise<Applied> {
  const isBehind = stored !== null && newestRevision(stored) > Math.max(...Object.values(facts.revisions))
  if (stored === null || isBehind) return commitFresh(services, stored, facts)
  return commitChanges(services, stored, facts)
}

/** A new state is told once, whole. */
async function commitFresh(
  services: PlayoutServices,
  stored: StationState | null,
  facts: StationFacts
): Promise<Applied> {
  const advances: AdvancePayload[] = []
  let state = emptyState(facts.stationId, randomBytes(6).toString('base64url'))
  for (const event of eventsOf(facts)) {
    const step = reduce(state, event)
    state = step.state
    advances.push(...advancesOf(step))
  }
  return { isCommitted: await commitState(services.redis, stored, state, []), state, advances }
}

/** Each change is told by itself. */
async function commitChanges(
  services: PlayoutServices,
  stored: StationState,
  facts: StationFacts
): Promise<Applied> {
  const advances: AdvancePayload[] = []
  let state = stored
  for (const event of eventsOf(facts)) {
    const step = reduce(state, event)
    if (step.state === state) continue
    const isCommitted = await commitState(services.redis, state, step.state, triggersIn(step))
    if (!isCommitted) return { isCommitted, state, advances }
    state = step.state
    advances.push(...advancesOf(step))
  }
  return { isCommitted: true, state, advances }
}

/** The events that led to these facts; those a state has seen already change nothing. */
export function eventsOf(facts: StationFacts): StationEvent[] {
  const { revisions, profile, listeners, current, shown, history, next } = facts
  return [
    { type: 'station-changed', revision: revisions.station, profile },
    { type: 'listeners-counted', revision: revisions.listeners, listeners },
    current === null
      ? { type: 'went-offline', revision: revisions.playback, history, next }
      : { type: 'track-started', revision: revisions.playback, current, shown, history, next },
    { type: 'queue-changed', revision: revisions.queue, next }
  ]
}

function advancesOf(step: Step): AdvancePayload[] {
  return step.effects.flatMap(effect =>
    effect.type === 'schedule-advance'
      ? [{ stationId: step.state.stationId, shId: effect.shId, dueAtMs: effect.atMs }]
      : []
  )
}

function triggersIn(step: Step): readonly Trigger[] {
  return step.effects.flatMap(effect => (effect.type === 'publish' ? effect.triggers : []))
}
