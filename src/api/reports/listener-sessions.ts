import { renderSourceName } from '../../engine/listeners/flush-sessions.ts'
import { maxListenerSessionMs } from '../../engine/listeners/sessions.ts'
import type { SourceKind } from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { readStationCounting } from '../../stores/redis/listener-store.ts'
import { readOpenSessions } from '../../stores/redis/session-store.ts'
import type { ApiServices } from '../core/services.ts'
import type { ReportPeriod } from './report-period.ts'

/*
 * Sessions of listeners: those that ended are in Postgres, those of listeners who are still connected in Redis.
 */

/** A session that has not ended. Not an interface: those are no JSON values to the compiler. */
type OpenRow = {
  readonly startMs: number
  readonly endMs: number
  readonly family: string
  readonly client: string
  readonly country: string
  readonly source: SourceKind
  readonly stream: string
}

/** Sessions are cut after a day, and end at most some minutes after it. */
const longestMs = maxListenerSessionMs + 3_600_000
const maxOpen = 100_000

/** Reads the sessions of a station that have not ended, until now or until its servers last responded. */
export async function readOpenSessionRows(
  { reads: sql, redis }: Pick<ApiServices, 'reads' | 'redis'>,
  stationId: number,
  { endMs: periodEndMs }: ReportPeriod
): Promise<OpenRow[]> {
  const nowMs = engineTimeMs()
  if (periodEndMs < nowMs - longestMs) return []
  const [open, counting, [polled]] = await Promise.all([
    readOpenSessions(redis, stationId),
    readStationCounting(redis, stationId),
    sql<{ atMs: number | null }[]>`
      select max(answered_at_ms) as "atMs" from polls where station_id = ${stationId}`
  ])
  const endMs = Math.min(nowMs, polled?.atMs ?? nowMs)
  const rows: OpenRow[] = []
  for (const [key, sessions] of open) {
    const path = counting?.sources[key]?.path
    const source = sourceKinds.find(kind => key.startsWith(`${kind}:`))
    if (path === undefined || source === undefined) continue
    const stream = renderSourceName({ source, path })
    for (const { startMs, family, client, country } of sessions.values()) {
      if (rows.length === maxOpen) return rows
      rows.push({ startMs, endMs: Math.max(startMs, endMs), family, client, country, source, stream })
    }
  }
  return rows
}

const sourceKinds: readonly SourceKind[] = ['mount', 'remote', 'hls']

/**
 * SQL of the sessions of a station in a period: `from_ms` and `to_ms`, the part in the period; `length_ms`, the length
 * of the whole session; `family`, `client`, `country`, `source` and `stream`. `open`: those of `readOpenSessionRows`.
 */
export function listenerSessionsFragment(
  sql: Sql,
  stationId: number,
  { startMs, endMs }: ReportPeriod,
  open: readonly OpenRow[]
): Fragment {
  return sql`
    select greatest(started_at_ms, ${startMs}::bigint) as from_ms, least(ended_at_ms, ${endMs}::bigint) as to_ms,
      ended_at_ms - started_at_ms as length_ms, family, client, country, source, stream
    from (
      select started_at_ms, ended_at_ms, family, client, country, source, stream from listener_sessions
      where station_id = ${stationId} and started_at_ms > ${startMs - longestMs}::bigint
        and started_at_ms < ${endMs}::bigint
      union all
      select "startMs", "endMs", family, client, country, source, stream
      from jsonb_to_recordset(${sql.json([...open])}) as x ("startMs" bigint, "endMs" bigint, family text, client text,
        country text, source text, stream text)
    ) sessions
    where started_at_ms < ${endMs}::bigint and ended_at_ms > ${startMs}::bigint`
}

/** The sessions of one group. A session that is in several days counts in each. */
export interface SessionSums {
  readonly sessions: number
  readonly ms: number
}

/** SQL: the columns of `SessionSums`, of rows of `listenerSessionsFragment`. */
export const sessionSumsFragment = (sql: Sql): Fragment =>
  sql`count(*)::int as sessions, coalesce(sum(to_ms - from_ms), 0)::bigint as ms`

/** Names of the length of sessions, as clients of AzuraCast know them, with the most seconds of each. */
export const sessionLengthGroups = [
  [30, 'Less than Thirty Seconds'],
  [60, 'Thirty Seconds to One Minute'],
  [300, 'One Minute to Five Minutes'],
  [600, 'Five Minutes to Ten Minutes'],
  [1_800, 'Ten Minutes to Thirty Minutes'],
  [3_600, 'Thirty Minutes to One Hour'],
  [7_200, 'One Hour to Two Hours'],
  [Infinity, 'More than Two Hours']
] as const

/** SQL: the index in `sessionLengthGroups` of rows of `listenerSessionsFragment`. */
export const sessionLengthGroupFragment = (sql: Sql): Fragment => {
  const limits = sessionLengthGroups.slice(0, -1).map(([seconds]) => seconds * 1_000 + 1)
  return sql`width_bucket(length_ms, ${limits}::bigint[])`
}
