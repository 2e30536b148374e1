import { isStationOnline } from '../model/station/state.ts'
import { forEachStation } from '../platform/isolation/for-each-station.ts'
import { beginForStation } from '../stores/db/begin-for-station.ts'
import { readSnapshots } from '../stores/db/snapshots.ts'
import type { Tx } from '../stores/db/sql.ts'
import type { Outbox } from '../webhooks/outbox.ts'
import type { EngineServices } from './services.ts'
import { skipLockedFragment } from './station-facts.ts'

/** How long a station has to be online or offline before web hooks get the event. */
const statusDelayMs = 10_000

/** Writes events of stations online or offline for the delay. Returns web hooks with deliveries. */
export async function writeStatusEvents(
  services: Pick<EngineServices, 'sql' | 'outbox' | 'stationFaults'>,
  nowMs: number
): Promise<number[]> {
  const { sql, outbox } = services
  const paused = services.stationFaults.pausedIds('status')
  const due = await sql<{ stationId: number }[]>`
    select s.id as "stationId" from stations s
    where s.turned_at_ms <= ${nowMs - statusDelayMs} and s.id <> all(${paused}::bigint[]) order by s.turned_at_ms limit 500
    ${skipLockedFragment(sql)}`
  const webhookIds: number[] = []
  const write = async ({ stationId }: { stationId: number }) => {
    const event = (tx: Tx) => writeStatusEvent(tx, stationId, nowMs, outbox)
    webhookIds.push(...(await beginForStation(sql, stationId, event)))
  }
  await forEachStation(services, 'status', due, write, { concurrency: 1 })
  return webhookIds
}

async function writeStatusEvent(tx: Tx, stationId: number, nowMs: number, outbox: Outbox) {
  const [status] = await tx<{ isOnline: boolean | null; atMs: number }[]>`
    update stations s set turned_online = null, turned_at_ms = null
    from (select id, turned_online, turned_at_ms from stations where id = ${stationId} for no key update) before
    where s.id = before.id and before.turned_at_ms <= ${nowMs - statusDelayMs}
    returning before.turned_online as "isOnline", before.turned_at_ms as "atMs"`
  const [snapshot] = status ? await readSnapshots(tx, [stationId]) : []
  if (!status || !snapshot) return []
  // The status is stored only for stations with a web hook for it, so it may have changed since.
  if (isStationOnline(snapshot) !== status.isOnline) return []
  const trigger = status.isOnline ? 'station_online' : 'station_offline'
  const event = { fact: `${trigger}:${status.atMs}`, triggers: [trigger] as const, happenedAtMs: nowMs }
  return outbox.writeEvent(tx, snapshot, event)
}

/**
 * Writes the event that the streaming server of a station is away or back, unless nothing plays anyway. The relay
 * delivers it. `sinceMs`: since when the server was away.
 */
export async function writeStreamingServerEvent(
  tx: Tx,
  stationId: number,
  event: {
    readonly trigger: 'station_offline' | 'station_online'
    readonly sinceMs: number
    readonly nowMs: number
  },
  outbox: Outbox
): Promise<void> {
  const [snapshot] = await readSnapshots(tx, [stationId])
  if (!snapshot || !isStationOnline(snapshot)) return
  const { trigger, sinceMs, nowMs } = event
  const fact = `server:${trigger}:${sinceMs}`
  await outbox.writeEvent(tx, snapshot, { fact, triggers: [trigger], happenedAtMs: nowMs })
}
