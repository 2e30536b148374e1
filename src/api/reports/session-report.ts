import type { Fragment, Sql } from '../../stores/db/sql.ts'
import type { HeavyRead } from '../core/heavy-reads.ts'
import { type ApiRequest, getRequestStation } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import {
  sessionLengthGroupFragment,
  sessionLengthGroups,
  readOpenSessionRows,
  listenerSessionsFragment,
  type SessionSums,
  sessionSumsFragment
} from './listener-sessions.ts'
import { type ReportPeriod, readReportPeriod } from './report-period.ts'

/** What a report about sessions reads. */
interface SessionQuery {
  readonly read: HeavyRead
  readonly sql: Sql
  readonly period: ReportPeriod
  /** The sessions in the period: see `listenerSessionsFragment`. */
  readonly sessions: Fragment
}

/** The number of groups that a report may have. */
const maxGroups = 1_000

export const noSessionSums: SessionSums = { sessions: 0, ms: 0 }

/**
 * Reads a report about the sessions of a station in the period of the query, of up to `rows` rows. Throws 400 for the
 * period.
 */
export async function readSessionReport<Result>(
  request: ApiRequest,
  services: ApiServices,
  rows: number,
  work: (report: SessionQuery) => Promise<Result>
): Promise<Result> {
  const { reads: sql, heavyReads } = services
  const station = getRequestStation(request)
  const period = await readReportPeriod(sql, station, request.query)
  return heavyReads.run(request, { isLight: false, rows }, async read => {
    const open = await readOpenSessionRows(services, station.id, period)
    return work({ read, sql, period, sessions: listenerSessionsFragment(sql, station.id, period, open) })
  })
}

interface GroupOptions<Name extends string> {
  /** SQL of what names a group, by the name in the result. */
  readonly columns: Readonly<Record<Name, string>>
  /** SQL of the sessions that count; all without it. */
  readonly where?: ((sql: Sql) => Fragment) | undefined
}

/** Reads the sums of groups of sessions, those with the most time first. */
export async function readSessionGroupSums<Name extends string>(
  request: ApiRequest,
  services: ApiServices,
  { columns, where = sql => sql`true` }: GroupOptions<Name>
): Promise<readonly (SessionSums & Readonly<Record<Name, string>>)[]> {
  const named = Object.entries(columns)
  return readSessionReport(request, services, maxGroups, ({ read, sql, sessions }) => {
    const selected = sql.unsafe(named.map(([name, column]) => `${String(column)} as "${name}"`).join(', '))
    const positions = sql.unsafe(named.map((_, index) => index + 1).join(', '))
    return read.rows<SessionSums & Readonly<Record<Name, string>>>(sql`
      select ${selected}, ${sessionSumsFragment(sql)} from (${sessions}) s where ${where(sql)}
      group by ${positions} order by ms desc, ${positions} limit ${maxGroups}`)
  })
}

/** Reads the sums of the sessions of each group of `sessionLengthGroups`. */
export async function readSessionLengthSums(
  request: ApiRequest,
  services: ApiServices
): Promise<readonly SessionSums[]> {
  const found = await readSessionReport(
    request,
    services,
    sessionLengthGroups.length,
    ({ read, sql, sessions }) =>
      read.rows<SessionSums & { index: number }>(sql`
      select ${sessionLengthGroupFragment(sql)} as index, ${sessionSumsFragment(sql)} from (${sessions}) s group by 1`)
  )
  return sessionLengthGroups.map((_, index) => found.find(row => row.index === index) ?? noSessionSums)
}
