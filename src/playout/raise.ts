import { readFacts } from '../db/facts.ts'
import type { Sql, Tx } from '../db/sql.ts'
import { beginForStation } from '../db/station-transaction.ts'
import { reduce } from '../station/reduce.ts'
import { emptyState, isOnline, type StationState } from '../station/state.ts'
import { type Observed, type Trigger, triggersOf } from '../station/triggers.ts'
import { writeEvent } from '../webhooks/outbox.ts'
import { eventsOf } from './publish.ts'
import { type LockedStation, type OpenPlay, skipLocked } from './rows.ts'

const turns: ReadonlySet<Trigger> = new Set(['station_online', 'station_offline'])

/** What of a station tells edges apart, before a step: nobody has seen what comes after it. */
export function observedBefore(station: LockedStation, play: OpenPlay | null): Observed {
  const current = play && { shId: play.id }
  const live = station.liveSinceMs === null ? null : { startedAtMs: station.liveSinceMs }
  return { current, shown: current, listeners: { total: station.listenersTotal }, live }
}

/**
 * Writes down what web hooks have to be told of a step, as part of its transaction: the reducer's triggers between the
 * state before and what the transaction has made of it. Gives the hooks that have to be told. Call it last.
 */
export async function raiseTriggers(
  tx: Tx,
  station: LockedStation,
  before: Observed,
  happenedAtMs: number
): Promise<number[]> {
  if (!station.hasHooks) return []
  const state = await readState(tx, station.id)
  if (!state) return []
  const raised = triggersOf(before, state)
  const turned = raised.find(trigger => turns.has(trigger))
  if (turned) await noteTurn(tx, station.id, turned === 'station_online', happenedAtMs)
  const triggers = raised.filter(trigger => !turns.has(trigger))
  if (triggers.length === 0) return []
  const fact = triggers.includes('song_changed')
    ? `song:${state.current?.shId}`
    : `state:${Math.max(...Object.values(state.revisions))}:${happenedAtMs}`
  return writeEvent(tx, state, { fact, triggers, happenedAtMs })
}

/** A station as the transaction sees it; null if it is gone. */
async function readState(tx: Tx, stationId: number): Promise<StationState | null> {
  const [facts] = await readFacts(tx, [stationId])
  if (!facts) return null
  let state = emptyState(stationId, '')
  for (const event of eventsOf(facts)) state = reduce(state, event).state
  return state
}

/** How long a station has to be on or off the air before anybody is told: it may come back in a moment. */
const lastingMs = 10_000

/** Notes that the station went on or off the air. Two turns within a moment are none. */
async function noteTurn(tx: Tx, stationId: number, isOn: boolean, atMs: number): Promise<void> {
  await tx`
    update stations set
      turned_online = case when turned_online is null then ${isOn}::boolean end,
      turned_at_ms = case when turned_online is null then ${atMs}::bigint end
    where id = ${stationId} and turned_online is distinct from ${isOn}`
}

/** Raises the triggers of stations that have been on or off the air for a while; gives the hooks that have to be told. */
export async function raiseTurns(sql: Sql, nowMs: number): Promise<number[]> {
  const due = await sql<{ id: number }[]>`
    select s.id from stations s where s.turned_at_ms <= ${nowMs - lastingMs} order by s.turned_at_ms limit 500
    ${skipLocked(sql)}`
  const hooks: number[] = []
  for (const { id } of due) hooks.push(...(await beginForStation(sql, id, tx => raiseTurn(tx, id, nowMs))))
  return hooks
}

async function raiseTurn(tx: Tx, stationId: number, nowMs: number): Promise<number[]> {
  const [turn] = await tx<{ isOnline: boolean; atMs: number }[]>`
    update stations s set turned_online = null, turned_at_ms = null
    from (select id, turned_online, turned_at_ms from stations where id = ${stationId} for no key update) before
    where s.id = before.id and before.turned_at_ms <= ${nowMs - lastingMs}
    returning before.turned_online as "isOnline", before.turned_at_ms as "atMs"`
  const state = turn && (await readState(tx, stationId))
  if (!state) return []
  // Turns that nobody noted while no hook was on may lie between.
  if (isOnline(state) !== turn.isOnline) return []
  const trigger = turn.isOnline ? 'station_online' : 'station_offline'
  return writeEvent(tx, state, { fact: `${trigger}:${turn.atMs}`, triggers: [trigger], happenedAtMs: nowMs })
}
