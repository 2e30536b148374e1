import type { Config } from '../config.ts'
import { batchLimit, removeInBatches } from './batches.ts'
import type { Sql } from './sql.ts'

const dayMs = 86_400_000
const notificationsMs = 90 * dayMs
const queueMs = 7 * dayMs
const listenersMs = dayMs
const commandsMs = 60_000

/** Days that records are kept; 0: forever. */
export type RetentionDays = Pick<
  Config,
  | 'HISTORY_RETENTION_DAYS'
  | 'REQUEST_RETENTION_DAYS'
  | 'DELIVERY_RETENTION_DAYS'
  | 'AUDIT_RETENTION_DAYS'
  | 'LISTENER_RETENTION_DAYS'
>

/** The end of what is removed, in Unix milliseconds; null if everything is kept. */
const endOf = (days: number, nowMs: number) => (days === 0 ? null : nowMs - days * dayMs)

/** Plays that ended are kept for `HISTORY_RETENTION_DAYS`. Returns how many were removed. */
export const removeOldPlays = (sql: Sql, nowMs: number, days: RetentionDays): Promise<number> =>
  removeEnded(sql, 'song_history', endOf(days.HISTORY_RETENTION_DAYS, nowMs))

/** Broadcasts that ended are kept as long as plays. Returns how many were removed. */
export const removeOldBroadcasts = (sql: Sql, nowMs: number, days: RetentionDays): Promise<number> =>
  removeEnded(sql, 'broadcasts', endOf(days.HISTORY_RETENTION_DAYS, nowMs))

async function removeEnded(sql: Sql, table: 'song_history' | 'broadcasts', beforeMs: number | null) {
  if (beforeMs === null) return 0
  return removed(
    () => sql`
      delete from ${sql(table)} where ctid = any(array(
        select ctid from ${sql(table)} where started_at_ms < ${beforeMs} and ended_at_ms < ${beforeMs}
        order by started_at_ms ${batchLimit(sql)} for update skip locked))`
  )
}

/** Covers that no song has any more. Returns how many were removed. */
export function removeUnusedArtwork(sql: Sql): Promise<number> {
  return removed(
    () => sql`
      delete from artwork where ctid = any(array(
        select ctid from artwork a where not exists (select from media m where m.artwork_hash = a.hash)
        ${batchLimit(sql)} for update skip locked))`
  )
}

/** Played and removed rows of the queue can be read for a week. Returns how many were removed. */
export function removeOldQueueRows(sql: Sql, nowMs: number): Promise<number> {
  return removed(
    () => sql`
      delete from queue where ctid = any(array(
        select ctid from queue where coalesce(played_at_ms, skipped_at_ms) < ${nowMs - queueMs}
        order by coalesce(played_at_ms, skipped_at_ms) ${batchLimit(sql)} for update skip locked))`
  )
}

/** Notifications are kept for 90 days. Returns how many were removed. */
export function removeOldNotifications(sql: Sql, nowMs: number): Promise<number> {
  return removed(
    () => sql`
      delete from notifications where ctid = any(array(
        select ctid from notifications where created_at < ${new Date(nowMs - notificationsMs)}
        order by created_at ${batchLimit(sql)}))`
  )
}

/** Entries of the audit log are kept for `AUDIT_RETENTION_DAYS`. Returns how many were removed. */
export async function removeOldAudit(sql: Sql, nowMs: number, days: RetentionDays): Promise<number> {
  const beforeMs = endOf(days.AUDIT_RETENTION_DAYS, nowMs)
  if (beforeMs === null) return 0
  return removed(
    () => sql`
      delete from audit_log where ctid = any(array(
        select ctid from audit_log where at < ${new Date(beforeMs)} order by at ${batchLimit(sql)}))`
  )
}

/**
 * Requests that were played, cancelled or expired are kept for `REQUEST_RETENTION_DAYS`. Returns how many
 * were removed.
 */
export async function removeOldRequests(sql: Sql, nowMs: number, days: RetentionDays): Promise<number> {
  const beforeMs = endOf(days.REQUEST_RETENTION_DAYS, nowMs)
  if (beforeMs === null) return 0
  return removed(
    () => sql`
      delete from requests where ctid = any(array(
        select ctid from requests where ended_at_ms < ${beforeMs} order by ended_at_ms ${batchLimit(sql)}))`
  )
}

/**
 * What web hooks were told is kept for `DELIVERY_RETENTION_DAYS`, with all attempts; pending deliveries and
 * their events stay. Returns how many events were removed, and how many deliveries of events that stay.
 */
export async function removeOldDeliveries(sql: Sql, nowMs: number, days: RetentionDays): Promise<number> {
  const beforeMs = endOf(days.DELIVERY_RETENTION_DAYS, nowMs)
  if (beforeMs === null) return 0
  // Deliveries and attempts go with their event.
  const removeEvents = () => sql`
    delete from webhook_events where ctid = any(array(
      select e.ctid from webhook_events e
      where e.happened_at_ms < ${beforeMs}
        and not exists (select from webhook_deliveries d where d.event_id = e.id and d.state = 'pending')
      order by e.happened_at_ms ${batchLimit(sql)}))`
  const removeDeliveries = () => sql`
    delete from webhook_deliveries where state <> 'pending' and ctid = any(array(
      select d.ctid from webhook_events e join webhook_deliveries d on d.event_id = e.id
      where e.happened_at_ms < ${beforeMs} and d.state <> 'pending'
      order by e.happened_at_ms ${batchLimit(sql)}))`
  return (await removed(removeEvents)) + (await removed(removeDeliveries))
}

/**
 * Who has left is known for a day, as long as a play may have begun before that; who listens to something
 * that is not there any more goes as well. Gives how many went.
 */
export async function removeOldListeners(sql: Sql, nowMs: number): Promise<number> {
  const { count } = await sql`
    delete from listeners l where left_at_ms is null
      and not exists (select from hls_streams x
        where x.station_id = l.station_id and l.source in ('mount:' || x.id, 'hls:' || x.id))
      and not exists (select from remotes x where x.station_id = l.station_id and l.source = 'remote:' || x.id)`
  // A row that is held is that of somebody who comes back.
  const removeLeft = () => sql`
    delete from listeners where ctid = any(array(
      select ctid from listeners where left_at_ms < ${nowMs - listenersMs}
      order by left_at_ms ${batchLimit(sql)} for update skip locked))`
  return count + (await removed(removeLeft))
}

/**
 * The series of listeners is kept for `LISTENER_RETENTION_DAYS`. The last change before that stays, since the
 * series begins with it. Returns how many minutes were removed.
 */
export async function removeOldListenerMinutes(
  sql: Sql,
  nowMs: number,
  days: RetentionDays
): Promise<number> {
  const beforeMs = endOf(days.LISTENER_RETENTION_DAYS, nowMs)
  if (beforeMs === null) return 0
  const firstMinute = Math.floor(beforeMs / 60_000)
  return removed(
    () => sql`
      delete from listener_minutes where ctid = any(array(
        select old.ctid
        from stations s
          cross join lateral (
            select max(minute) as minute from listener_minutes
            where station_id = s.id and minute <= ${firstMinute}) last
          cross join lateral (
            select m.ctid from listener_minutes m
            where m.station_id between s.id and s.id and m.minute < last.minute
            order by m.station_id, m.minute ${batchLimit(sql)}) old
        ${batchLimit(sql)}))`
  )
}

/** What a playout was told to do is meant for a minute. Gives how many commands went. */
export function removeOldCommands(sql: Sql, nowMs: number): Promise<number> {
  return removed(
    () => sql`
      delete from playout_commands where ctid = any(array(
        select ctid from playout_commands where created_at_ms < ${nowMs - commandsMs}
        order by created_at_ms ${batchLimit(sql)}))`
  )
}

async function removed(remove: () => PromiseLike<{ readonly count: number }>): Promise<number> {
  const { rows } = await removeInBatches(remove)
  return rows
}
