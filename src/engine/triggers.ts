import { isOnline, newestRevision, type Revisions, type StationSnapshot } from '../model/station/state.ts'
import { type Trigger, triggersBetween, type TriggerState } from '../model/station/triggers.ts'
import { forEachStation } from '../platform/isolation/for-each-station.ts'
import { beginForStation } from '../stores/db/begin-for-station.ts'
import { readSnapshots } from '../stores/db/snapshots.ts'
import type { Tx } from '../stores/db/sql.ts'
import { type StationEvent, type TriggerFilter, writeEvent } from '../webhooks/outbox.ts'
import type { PlayoutServices } from './services.ts'
import { skipLocked, type StationFacts, type StationOnAir } from './station-facts.ts'

const statusTriggers: ReadonlySet<Trigger> = new Set(['station_online', 'station_offline'])

const triggersOfParts: Readonly<Record<keyof Revisions, readonly Trigger[]>> = {
  station: [],
  queue: [],
  playback: ['song_changed', 'song_changed_live', 'station_online', 'station_offline'],
  live: ['song_changed_live', 'live_connect', 'live_disconnect', 'station_online', 'station_offline'],
  listeners: ['listener_gained', 'listener_lost']
}

/** Whether a change of these parts may fire a trigger that a web hook of the station has. */
export function mayFireTriggers({ hookTriggers }: StationFacts, parts: ReadonlySet<keyof Revisions>) {
  const fired = new Set([...parts].flatMap(part => triggersOfParts[part]))
  // Of an unreadable web hook they may be anything.
  return hookTriggers
    .filter(Array.isArray)
    .some((triggers: readonly Trigger[]) =>
      triggers.length === 0 ? fired.size > 0 : triggers.some(trigger => fired.has(trigger))
    )
}

/** The values of a locked station that triggers depend on, before it is changed. */
export function triggerValues({ station, play }: StationOnAir): TriggerState {
  const current = play && { shId: play.id }
  const live = station.liveSinceMs === null ? null : { startedAtMs: station.liveSinceMs }
  return { current, shown: current, listeners: { total: station.listenersTotal }, live }
}

/** Returns the event of a change; null if no trigger fired. Going online or offline is only stored. */
export async function detectEvent(
  tx: Tx,
  before: TriggerState,
  snapshot: StationSnapshot,
  happenedAtMs: number
): Promise<StationEvent | null> {
  const fired = triggersBetween(before, snapshot)
  const status = fired.find(trigger => statusTriggers.has(trigger))
  if (status) await noteStatus(tx, snapshot.stationId, status === 'station_online', happenedAtMs)
  const triggers = fired.filter(trigger => !statusTriggers.has(trigger))
  if (triggers.length === 0) return null
  const fact = triggers.includes('song_changed')
    ? `song:${snapshot.current?.shId}`
    : `state:${newestRevision(snapshot)}:${happenedAtMs}`
  return { fact, triggers, happenedAtMs }
}

/** How long a station has to be online or offline before web hooks get the event. */
const statusDelayMs = 10_000

/** Stores that the station went online or offline. Going back within the delay cancels both. */
async function noteStatus(tx: Tx, stationId: number, isOn: boolean, atMs: number): Promise<void> {
  await tx`
    update stations set
      turned_online = case when turned_online is null then ${isOn}::boolean end,
      turned_at_ms = case when turned_online is null then ${atMs}::bigint end
    where id = ${stationId} and turned_online is distinct from ${isOn}`
}

/** Writes events of stations online or offline for the delay. Returns web hooks with deliveries. */
export async function writeStatusEvents(
  services: Pick<PlayoutServices, 'sql' | 'triggersFor' | 'stationFaults'>,
  nowMs: number
): Promise<number[]> {
  const { sql, triggersFor } = services
  const paused = services.stationFaults.pausedIds('status')
  const due = await sql<{ stationId: number }[]>`
    select s.id as "stationId" from stations s
    where s.turned_at_ms <= ${nowMs - statusDelayMs} and s.id <> all(${paused}::bigint[]) order by s.turned_at_ms limit 500
    ${skipLocked(sql)}`
  const webhookIds: number[] = []
  const write = async ({ stationId }: { stationId: number }) => {
    const event = (tx: Tx) => writeStatusEvent(tx, stationId, nowMs, triggersFor)
    webhookIds.push(...(await beginForStation(sql, stationId, event)))
  }
  await forEachStation(services, 'status', due, write, { concurrency: 1 })
  return webhookIds
}

async function writeStatusEvent(tx: Tx, stationId: number, nowMs: number, filter: TriggerFilter) {
  const [status] = await tx<{ isOnline: boolean | null; atMs: number }[]>`
    update stations s set turned_online = null, turned_at_ms = null
    from (select id, turned_online, turned_at_ms from stations where id = ${stationId} for no key update) before
    where s.id = before.id and before.turned_at_ms <= ${nowMs - statusDelayMs}
    returning before.turned_online as "isOnline", before.turned_at_ms as "atMs"`
  const [snapshot] = status ? await readSnapshots(tx, [stationId]) : []
  if (!status || !snapshot) return []
  // The status is stored only for stations with a web hook for it, so it may have changed since.
  if (isOnline(snapshot) !== status.isOnline) return []
  const trigger = status.isOnline ? 'station_online' : 'station_offline'
  const event = { fact: `${trigger}:${status.atMs}`, triggers: [trigger] as const, happenedAtMs: nowMs }
  return writeEvent(tx, snapshot, event, filter)
}

/**
 * Writes the event that the streaming server of a station is away or back, unless nothing plays anyway. The relay
 * delivers it. `sinceMs`: since when the server was away.
 */
export async function writeServerEvent(
  tx: Tx,
  stationId: number,
  event: {
    readonly trigger: 'station_offline' | 'station_online'
    readonly sinceMs: number
    readonly nowMs: number
  },
  filter: TriggerFilter
): Promise<void> {
  const [snapshot] = await readSnapshots(tx, [stationId])
  if (!snapshot || !isOnline(snapshot)) return
  const { trigger, sinceMs, nowMs } = event
  const fact = `server:${trigger}:${sinceMs}`
  await writeEvent(tx, snapshot, { fact, triggers: [trigger], happenedAtMs: nowMs }, filter)
}
