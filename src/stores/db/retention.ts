import { batchLimitFragment, removeInBatches } from './batches.ts'
import { readInstallationSettings } from './installation-settings.ts'
import type { Fragment, Sql } from './sql.ts'

const dayMs = 86_400_000
const notificationsMs = 90 * dayMs
const queueMs = 7 * dayMs
const invitationsMs = 90 * dayMs
/** Of the plays since then, it is known why they were chosen. */
const reasonsMs = 30 * dayMs
const commandsMs = 60_000
const coverLookupsMs = 30 * dayMs
/** Their covers take about a gigabyte. */
const coverLookupsAtMost = 20_000

/** Retention in days; 0: forever. */
export interface RetentionDays {
  readonly HISTORY_RETENTION_DAYS: number
  readonly REQUEST_RETENTION_DAYS: number
  readonly DELIVERY_RETENTION_DAYS: number
  readonly AUDIT_RETENTION_DAYS: number
  readonly LISTENER_RETENTION_DAYS: number
  readonly AUDIENCE_RETENTION_DAYS: number
}

/** Older records are removed (Unix milliseconds); null if everything is kept. */
const endOf = (days: number, nowMs: number) => (days === 0 ? null : nowMs - days * dayMs)

/** Removes ended plays after the days of the settings, else of `HISTORY_RETENTION_DAYS`. Returns the number. */
export const removeOldPlays = (sql: Sql, nowMs: number, days: RetentionDays): Promise<number> =>
  removeEnded(sql, 'song_history', nowMs, days)

/** Removes ended broadcasts after the retention of plays. Returns the number. */
export const removeOldBroadcasts = (sql: Sql, nowMs: number, days: RetentionDays): Promise<number> =>
  removeEnded(sql, 'broadcasts', nowMs, days)

async function removeEnded(
  sql: Sql,
  table: 'song_history' | 'broadcasts',
  nowMs: number,
  { HISTORY_RETENTION_DAYS: configured }: RetentionDays
) {
  const { history_keep_days: days } = await readInstallationSettings(sql)
  const beforeMs = endOf(days ?? configured, nowMs)
  const where = sql`started_at_ms < ${beforeMs} and ended_at_ms < ${beforeMs}`
  return beforeMs === null ? 0 : removeOldest(sql, table, 'started_at_ms', where)
}

/** Removes covers that no song and no lookup refers to. Returns the number. */
export function removeUnusedCovers(sql: Sql): Promise<number> {
  return removed(
    () => sql`
      delete from artwork where ctid = any(array(
        select ctid from artwork a where not exists (select from media m where m.artwork_hash = a.hash)
          and not exists (select from cover_lookups c where c.artwork_hash = a.hash)
        ${batchLimitFragment(sql)} for update skip locked))`
  )
}

/**
 * Removes lookups of covers of songs that were not on air for 30 days after the lookup became due again, and the
 * oldest ones beyond 20,000. Returns the number.
 */
export async function removeOldCoverLookups(sql: Sql, nowMs: number): Promise<number> {
  const old = await removeOlder(sql, 'cover_lookups', 'due_at_ms', nowMs - coverLookupsMs)
  const excess = await removed(
    () => sql`
      delete from cover_lookups where ctid = any(array(
        select ctid from cover_lookups order by due_at_ms desc offset ${coverLookupsAtMost} ${batchLimitFragment(sql)}))`
  )
  return old + excess
}

/**
 * Removes played and removed rows of the queue after a week. Keeps why the songs were chosen, without the
 * obstacles of other playlists and songs, which take most of the space. Returns the number.
 */
export const removeOldQueueRows = (sql: Sql, nowMs: number): Promise<number> =>
  removed(
    () => sql`
      with gone as (
        delete from queue where ctid = any(array(
          select ctid from queue where coalesce(played_at_ms, skipped_at_ms) < ${nowMs - queueMs}
          order by coalesce(played_at_ms, skipped_at_ms) ${batchLimitFragment(sql)} for update skip locked))
        returning history_id, played_at_ms, log
      ), kept as (
        insert into play_reasons (history_id, played_at_ms, log)
        select play.id, gone.played_at_ms, reasons.log
        from gone
          -- Row by row: otherwise Postgres might go through the whole history.
          cross join lateral (
            select id from song_history where id = gone.history_id limit 1 for key share) play
          cross join lateral (
            select jsonb_agg(entry order by place) as log
            from jsonb_array_elements(case jsonb_typeof(gone.log) when 'array' then gone.log else '[]' end) with ordinality as entries (entry, place)
            where entry->>'step' not in ('playlist', 'tracks')) reasons
        where gone.played_at_ms is not null and reasons.log is not null
        on conflict do nothing
      )
      select from gone`
  )

/** Removes why songs were chosen after 30 days. Returns the number. */
export const removeOldPlayReasons = (sql: Sql, nowMs: number): Promise<number> =>
  removeOlder(sql, 'play_reasons', 'played_at_ms', nowMs - reasonsMs)

/** Removes notifications after 90 days. Returns the number. */
export const removeOldNotifications = (sql: Sql, nowMs: number): Promise<number> =>
  removeOlder(sql, 'notifications', 'created_at', new Date(nowMs - notificationsMs))

/** Removes sessions that have expired. Returns the number. */
export const removeExpiredSessions = (sql: Sql, nowMs: number): Promise<number> =>
  removeOlder(sql, 'sessions', 'expires_at', new Date(nowMs))

/** Removes invitations 90 days after they have expired. Returns the number. */
export const removeOldInvitations = (sql: Sql, nowMs: number): Promise<number> =>
  removeOlder(sql, 'invitations', 'expires_at', new Date(nowMs - invitationsMs))

/** Removes audit entries after `AUDIT_RETENTION_DAYS`. Returns the number. */
export async function removeOldAudit(sql: Sql, nowMs: number, days: RetentionDays): Promise<number> {
  const beforeMs = endOf(days.AUDIT_RETENTION_DAYS, nowMs)
  return beforeMs === null ? 0 : removeOlder(sql, 'audit_log', 'at', new Date(beforeMs))
}

/** Removes played, cancelled and expired requests after `REQUEST_RETENTION_DAYS`. Returns the number. */
export async function removeOldRequests(sql: Sql, nowMs: number, days: RetentionDays): Promise<number> {
  const beforeMs = endOf(days.REQUEST_RETENTION_DAYS, nowMs)
  return beforeMs === null ? 0 : removeOlder(sql, 'requests', 'ended_at_ms', beforeMs)
}

/** Removes ended deliveries after `DELIVERY_RETENTION_DAYS`, with their event if none is pending. */
export async function removeOldDeliveries(sql: Sql, nowMs: number, days: RetentionDays): Promise<number> {
  const beforeMs = endOf(days.DELIVERY_RETENTION_DAYS, nowMs)
  if (beforeMs === null) return 0
  // Deliveries and attempts are removed with their event.
  const removeEvents = () => sql`
    delete from webhook_events where ctid = any(array(
      select e.ctid from webhook_events e
      where e.happened_at_ms < ${beforeMs}
        and not exists (select from webhook_deliveries d where d.event_id = e.id and d.state = 'pending')
      order by e.happened_at_ms ${batchLimitFragment(sql)}))`
  const removeDeliveries = () => sql`
    delete from webhook_deliveries where state <> 'pending' and ctid = any(array(
      select d.ctid from webhook_events e join webhook_deliveries d on d.event_id = e.id
      where e.happened_at_ms < ${beforeMs} and d.state <> 'pending'
      order by e.happened_at_ms ${batchLimitFragment(sql)}))`
  return (await removed(removeEvents)) + (await removed(removeDeliveries))
}

/** Removes old listener minutes except the last one, with which the series starts. */
export async function removeOldListenerMinutes(sql: Sql, nowMs: number, days: RetentionDays) {
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
            order by m.station_id, m.minute ${batchLimitFragment(sql)}) old
        ${batchLimitFragment(sql)}))`
  )
}

/** Removes sessions of listeners after `AUDIENCE_RETENTION_DAYS`. Returns the number. */
export async function removeOldListenerSessions(sql: Sql, nowMs: number, days: RetentionDays) {
  const beforeMs = endOf(days.AUDIENCE_RETENTION_DAYS, nowMs)
  if (beforeMs === null) return 0
  return removed(
    () => sql`
      delete from listener_sessions where ctid = any(array(
        select old.ctid
        from stations s
          cross join lateral (
            select x.ctid from listener_sessions x
            where x.station_id between s.id and s.id and x.started_at_ms < ${beforeMs}
            order by x.station_id, x.started_at_ms ${batchLimitFragment(sql)}) old
        ${batchLimitFragment(sql)}))`
  )
}

/** Removes commands for playouts, which expire after a minute. Returns the number. */
export const removeOldCommands = (sql: Sql, nowMs: number): Promise<number> =>
  removeOlder(sql, 'playout_commands', 'created_at_ms', nowMs - commandsMs)

/** Removes rows whose `column`, which has an index, is less than `before`. */
const removeOlder = (sql: Sql, table: string, column: string, before: number | Date) =>
  removeOldest(sql, table, column, sql`${sql.unsafe(column)} < ${before}`)

/** Removes rows in batches, in the order of an indexed `column`. Locked rows are left to the next run. */
const removeOldest = (sql: Sql, table: string, column: string, where: Fragment) =>
  removed(
    () => sql`
      delete from ${sql(table)} where ctid = any(array(
        select ctid from ${sql(table)} where ${where}
        order by ${sql.unsafe(column)} ${batchLimitFragment(sql)} for update skip locked))`
  )

async function removed(remove: () => PromiseLike<{ readonly count: number }>): Promise<number> {
  const { rows } = await removeInBatches(remove)
  return rows
}
