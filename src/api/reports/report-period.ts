import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { momentSchema, parseMoment, momentStartMsFragment } from '../core/moments.ts'
import type { PathStation } from '../core/route.ts'

const dayMs = 86_400_000
const defaultDays = 14
const maxDays = 1_100

/** The query parameters of the period of a report. */
export const reportPeriodParameters = {
  start: momentSchema(
    `The start, at most ${maxDays} days before the end. Default: ${defaultDays} days before it.`
  ),
  end: momentSchema('The end; a day is included. Default and maximum: now.')
}

/** The period of a report in Unix milliseconds; the end is exclusive. */
export interface ReportPeriod {
  readonly startMs: number
  readonly endMs: number
}

/** Reads the period that a query names. Throws 400 with the name of the parameter. */
export async function readReportPeriod(
  sql: Sql,
  station: PathStation,
  query: URLSearchParams
): Promise<ReportPeriod> {
  const start = parseMoment(query, 'start')
  const end = parseMoment(query, 'end')
  const [row] = await sql<{ startMs: number | null; endMs: number | null }[]>`
    select ${start ? momentStartMsFragment(sql, station, start, 0) : sql`null::bigint`} as "startMs",
      ${end ? momentStartMsFragment(sql, station, end, 1) : sql`null::bigint`} as "endMs"`
  if (!row) throw new ApiError('not-found')
  if (row.startMs !== null && row.endMs !== null && row.startMs >= row.endMs)
    refuseField('end', 'out_of_range', 'must not be before start.')
  const endMs = Math.min(engineTimeMs() + 1, row.endMs ?? Infinity)
  const startMs = row.startMs ?? endMs - defaultDays * dayMs
  if (endMs - startMs > maxDays * dayMs)
    refuseField('start', 'out_of_range', `must be at most ${maxDays} days before the end.`)
  return { startMs, endMs }
}
