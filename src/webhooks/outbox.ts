import { createHash } from 'node:crypto'

import {
  stationRevisionOf,
  pickVisibleState,
  type StationSnapshot,
  type StationState,
  type VisibleState
} from '../model/station/state.ts'
import {
  statusTriggers,
  type Trigger,
  triggersBetween,
  type TriggerState
} from '../model/station/triggers.ts'
import { currentTraceparent } from '../platform/tracing/tracing.ts'
import type { Tx } from '../stores/db/sql.ts'
import type { HookConfig } from './hook-config.ts'

/** An event of a station. */
export interface StationEvent {
  /** Identifies the event; message ids derive from it: `song:42`. */
  readonly fact: string
  readonly triggers: readonly Trigger[]
  readonly happenedAtMs: number
}

/** The part of a web hook that decides which events it gets. */
interface SubscribedHook {
  readonly id: number
  readonly type: string
  readonly triggers: readonly Trigger[]
  readonly config: HookConfig
}

interface StationHook extends SubscribedHook {
  readonly stationId: number
}

/** Returns the triggers of an event that a web hook gets. */
export type TriggerFilter = (hook: SubscribedHook, fired: readonly Trigger[]) => Trigger[]

/** A change of a station that may fire triggers. */
interface TriggeringChange {
  readonly stationId: number
  readonly before: TriggerState
  readonly happenedAtMs: number
}

export type Outbox = ReturnType<typeof openOutbox>

/** Writes events in the transactions of changes, with a delivery for each web hook that `filter` gives a trigger. */
export function openOutbox(filter: TriggerFilter) {
  return {
    /**
     * Sends what writes the events of changes, as the last statement of their transaction. `snapshots`: what the
     * stations show since. The deliveries are the ids of the web hooks that have some now; null: none.
     */
    sendEvents: async (
      tx: Tx,
      changes: readonly TriggeringChange[],
      snapshots: Promise<readonly StationSnapshot[]>
    ) => {
      const stationIds = changes.map(({ stationId }) => stationId)
      const [read, hooks] = await Promise.all([snapshots, readSubscribedHooks(tx, stationIds)])
      const snapshotOf = new Map(read.map(snapshot => [snapshot.stationId, snapshot]))
      const events = await Promise.all(
        changes.map(async ({ stationId, before, happenedAtMs }) => {
          const snapshot = snapshotOf.get(stationId)
          const event = snapshot && (await detectEvent(tx, before, snapshot, happenedAtMs))
          return snapshot && event ? [{ snapshot, event }] : []
        })
      )
      return { deliveries: eventsStatement(tx, events.flat(), hooks, filter)?.execute() ?? null }
    },
    /**
     * Writes an event. Returns the web hooks that get it; none if the event was written before. Waits for a web
     * hook that is being deleted.
     */
    writeEvent: async (tx: Tx, snapshot: VisibleState, event: StationEvent): Promise<number[]> => {
      const hooks = await readSubscribedHooks(tx, [snapshot.stationId])
      const rows = (await eventsStatement(tx, [{ snapshot, event }], hooks, filter)) ?? []
      return rows.map(({ id }) => id)
    }
  }
}

/** Returns the event of a change; null if no trigger fired. Going online or offline is only stored. */
async function detectEvent(
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
    : `state:${stationRevisionOf(snapshot)}:${happenedAtMs}`
  return { fact, triggers, happenedAtMs }
}

/** Stores that the station went online or offline. Going back before the event is written cancels both. */
async function noteStatus(tx: Tx, stationId: number, isOn: boolean, atMs: number): Promise<void> {
  await tx`
    update stations set
      turned_online = case when turned_online is null then ${isOn}::boolean end,
      turned_at_ms = case when turned_online is null then ${atMs}::bigint end
    where id = ${stationId} and turned_online is distinct from ${isOn}`
}

/** Reads the enabled web hooks of stations, and prevents their deletion until the transaction ends. */
async function readSubscribedHooks(tx: Tx, stationIds: readonly number[]): Promise<readonly StationHook[]> {
  return tx<StationHook[]>`
    select id, station_id as "stationId", type, triggers, config from webhooks
    where station_id = any(${[...stationIds]}::bigint[]) and is_enabled order by id for key share`
}

/** An event and what its station shows then. */
interface ShownEvent {
  readonly snapshot: VisibleState
  readonly event: StationEvent
}

/**
 * Returns the statement that writes events, at most one of each station. Its rows are the ids of the web hooks
 * that get one. Null if none does.
 */
function eventsStatement(
  tx: Tx,
  events: readonly ShownEvent[],
  hooks: readonly StationHook[],
  filter: TriggerFilter
) {
  const deliveries = events.flatMap(({ snapshot: { stationId }, event: { fact, triggers, happenedAtMs } }) =>
    hooks
      .filter(hook => hook.stationId === stationId)
      .map(hook => ({
        hook: hook.id,
        station: stationId,
        message: computeMessageId({ stationId, fact, happenedAtMs, webhookId: hook.id }),
        triggers: filter(hook, triggers)
      }))
      .filter(delivery => delivery.triggers.length > 0)
  )
  if (deliveries.length === 0) return null
  const stations = new Set(deliveries.map(({ station }) => station))
  const written = events.filter(({ snapshot }) => stations.has(snapshot.stationId))
  const states = written.map(({ snapshot }) =>
    JSON.stringify({ ...pickVisibleState(snapshot), offset: 0 } satisfies StationState)
  )
  return tx<{ id: number }[]>`
    with events as (
      insert into webhook_events (station_id, fact, happened_at_ms, state, trace_context)
      select x.station_id, x.fact, x.happened_at_ms, x.state::json, ${currentTraceparent()}::text
      from unnest(${written.map(({ snapshot }) => snapshot.stationId)}::bigint[],
        ${written.map(({ event }) => event.fact)}::text[], ${written.map(({ event }) => event.happenedAtMs)}::bigint[],
        ${states}::text[]) as x (station_id, fact, happened_at_ms, state)
      on conflict (station_id, fact) do nothing returning id, station_id, happened_at_ms
    )
    insert into webhook_deliveries (webhook_id, event_id, message_id, triggers, happened_at_ms, next_attempt_ms)
    select x.hook, e.id, x.message, array(select jsonb_array_elements_text(x.triggers)), e.happened_at_ms,
      e.happened_at_ms
    from events e join jsonb_to_recordset(${tx.json(deliveries)})
      as x (hook bigint, station bigint, message text, triggers jsonb) on x.station = e.station_id
    on conflict (webhook_id, message_id) do nothing returning webhook_id as id`
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const idLength = 26

/**
 * The `webhook-id` of an event for a web hook, the same in every attempt: `evt_` and 26 characters of base32
 * (RFC 4648, lower case), 130 bits of a hash. The time makes it unique if a database that was restored from a
 * backup repeats a `fact`.
 */
export function computeMessageId({
  stationId,
  fact,
  happenedAtMs,
  webhookId
}: Pick<StationEvent, 'fact' | 'happenedAtMs'> & {
  readonly stationId: number
  readonly webhookId: number
}): string {
  const hash = createHash('sha256').update(`${stationId}\n${fact}\n${happenedAtMs}\n${webhookId}`).digest()
  let bits = 0n
  for (const byte of hash.subarray(0, 17)) bits = bits * 256n + BigInt(byte)
  bits >>= 6n
  let text = ''
  for (let place = 0; place < idLength; place++, bits >>= 5n)
    text = alphabet.charAt(Number(bits & 31n)) + text
  return `evt_${text}`
}
