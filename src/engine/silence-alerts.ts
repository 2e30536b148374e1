import { literalLimit } from '../stores/db/batches.ts'
import { formatUtcMinute, raiseAlert } from '../stores/db/notifications.ts'
import type { Sql } from '../stores/db/sql.ts'
import { alertsAfterStartMs, silenceAlertAfterMs, unseenAlertAfterMs } from './playouts/patience.ts'
import { openStationRoundRobin } from './station-round-robin.ts'

/** Maximum number of alerts per run. */
const maxAlerts = 500
/** A station that went silent has changed within this time before its alert is due. Runs are ten seconds apart. */
const changedMs = 30_000
const maxChanged = 50_000

const prefix = 'station-silent:'

/** The problems of a station, by the playout or the AutoDJ. */
const alerts = {
  silent: {
    title: 'A station went silent',
    body: (since: string) =>
      `It has played nothing since ${since}. Check that its playlists are enabled and contain songs.`
  },
  playoutSilent: {
    title: 'A station went silent',
    body: (since: string) =>
      `It has played nothing since ${since}. Check that Liquidsoap runs and can reach Cuewire.`
  },
  playoutUnseen: {
    title: 'A playout does not respond',
    body: (since: string) =>
      `Liquidsoap has not called since ${since}. Check that it runs and can reach Cuewire.`
  }
} as const

/**
 * Notifies operators once of each station that was on air and is silent, or whose playout does not call any more, and
 * resolves the alerts of those that play again. `upForMs`: how long this process has been running. `rotation` chooses
 * the stations that are checked. Returns the number of alerts.
 */
export async function raiseSilenceAlerts(
  sql: Sql,
  nowMs: number,
  upForMs: number,
  rotation = openStationRoundRobin()
): Promise<number> {
  const hasOpenPlay = sql`exists (select from song_history h where h.station_id = s.id and h.ended_at_ms is null)`
  const isUnseen = sql`s.backend = 'liquidsoap' and exists (
    select from playouts p where p.station_id = s.id and p.takes_commands and p.left_at_ms is null
      and p.seen_at_ms < ${nowMs - unseenAlertAfterMs})`
  const mayBeRaised = upForMs >= alertsAfterStartMs
  await sql`
    delete from open_facts f where starts_with(f.fact, ${prefix}) and not exists (
      select from stations s where f.fact = ${prefix} || s.id and s.is_enabled and s.backend <> 'none'
        and (not ${hasOpenPlay} or ${isUnseen}))`
  const { isChosen, complete } = await rotation.begin(
    sql,
    sql`(
      select id from stations
      where revision > (extract(epoch from statement_timestamp()) * 1000)::bigint - ${changedMs}::bigint
      order by revision desc ${literalLimit(sql, maxChanged)})`
  )
  const found = await sql<{ id: number; name: string; problem: keyof typeof alerts; sinceMs: number }[]>`
    select s.id, s.name, last.ended_at_ms as "sinceMs",
      case s.backend when 'liquidsoap' then 'playoutSilent' else 'silent' end as problem
    from stations s cross join lateral (
      select ended_at_ms from song_history h
      where h.station_id = s.id and h.ended_at_ms is not null order by ended_at_ms desc limit 1) last
    where ${isChosen} and s.is_enabled and s.backend <> 'none' and last.ended_at_ms < ${nowMs - silenceAlertAfterMs}
      and not ${hasOpenPlay} and not exists (select from open_facts f where f.fact = ${prefix} || s.id)
    union all
    select s.id, s.name, (select seen_at_ms from playouts p where p.station_id = s.id), 'playoutUnseen'
    from stations s
    where ${mayBeRaised} and s.is_enabled and ${isUnseen} and ${hasOpenPlay}
      and not exists (select from open_facts f where f.fact = ${prefix} || s.id)
    order by id limit ${maxAlerts}`
  let raised = 0
  for (const { id, name, problem, sinceMs } of found) {
    const { title, body } = alerts[problem]
    const isNew = await raiseAlert(sql, {
      key: `${prefix}${id}`,
      title: `${title}: ${name}`,
      body: body(formatUtcMinute(sinceMs)),
      type: 'danger',
      source: 'playout'
    })
    if (isNew) raised++
  }
  if (found.length < maxAlerts) complete()
  return raised
}
