import { getTimeZone } from '../../model/autodj/time-zone.ts'
import { choiceField, integerField } from '../../model/fields/field.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { renderCsvLine, renderCsvReply } from '../core/csv.ts'
import type { HeavyRead } from '../core/heavy-reads.ts'
import { momentStartMsFragment, formatLocalIsoTime, parseMoment, momentSchema } from '../core/moments.ts'
import { openQueryFilters } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation, type PathStation } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'

/** The counts of one step: at its end, and the highest and lowest within. `index` counts steps from 0. */
export interface StepCounts {
  readonly index: number
  readonly total: number
  readonly unique: number
  readonly most: number
  readonly fewest: number
}

/** A range of time in Unix minutes, both included, and the step of its points. */
type SeriesRange = ReturnType<typeof computeSeriesRange>

export const maxSeriesPoints = 1_500

const dayMinutes = 1_440
const roundSteps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, dayMinutes]

/**
 * Returns the span between two times (Unix milliseconds), both included. Without `stepSeconds` it has the
 * shortest round step that needs at most `maxSeriesPoints`. Throws 400 for a step that needs more.
 */
export function computeSeriesRange(startMs: number, endMs: number, stepSeconds: number | null) {
  const firstMinute = Math.floor(startMs / 60_000)
  const lastMinute = Math.floor(endMs / 60_000)
  const leastMinutes = Math.max(0, lastMinute - firstMinute + 1) / maxSeriesPoints
  if (stepSeconds !== null && stepSeconds / 60 < leastMinutes) {
    const least = Math.ceil(leastMinutes) * 60
    refuseField('step', 'out_of_range', `must be at least ${least}: there may be ${maxSeriesPoints} points.`)
  }
  const roundStep =
    roundSteps.find(step => step >= leastMinutes) ?? Math.ceil(leastMinutes / dayMinutes) * dayMinutes
  return { firstMinute, lastMinute, stepMinutes: stepSeconds === null ? roundStep : stepSeconds / 60 }
}

/**
 * Returns the points of a span. `before` are the counts at its start, and `changes` are in order. A step
 * without changes keeps the counts of the one before.
 */
export function computeSeriesPoints(
  { firstMinute, lastMinute, stepMinutes }: SeriesRange,
  before: { readonly total: number; readonly unique: number },
  changes: readonly StepCounts[]
) {
  const byIndex = new Map(changes.map(({ index, ...counts }) => [index, counts]))
  const points: (Omit<StepCounts, 'index'> & { readonly at: number })[] = []
  let { total, unique } = before
  for (let minute = firstMinute; minute <= lastMinute; minute += stepMinutes) {
    const counts = byIndex.get(points.length) ?? { total, unique, most: total, fewest: total }
    points.push({ at: minute * 60, ...counts })
    total = counts.total
    unique = counts.unique
  }
  return points
}

const dayMs = 86_400_000
const maxDays = 1_100

const options = openQueryFilters({
  step: integerField({
    min: 60,
    max: 366 * 86_400,
    about: `Seconds from one point to the next, a multiple of 60. The default needs at most ${maxSeriesPoints} points.`
  }),
  format: choiceField(['json', 'csv'], { about: 'csv: the points as a file. Default: json.' })
})

export const listenerSeriesRoute = apiRoute(
  'GET',
  '/api/station/:station_id/listeners/series',
  'view station reports',
  {
    id: 'getListenerSeries',
    tag: 'Listeners',
    summary: 'Listener counts over time',
    query: {
      start: momentSchema(`The start, at most ${maxDays} days before the end. Default: 24 hours before it.`),
      end: momentSchema('The end; a day is included. Default and maximum: now.'),
      ...options.schemas
    },
    response: schemaRef('ListenerSeries'),
    hasCsv: true,
    async handle(request, { reads: sql, heavyReads }) {
      const station = getRequestStation(request)
      const { step = null, format = 'json' } = options.parse(request.query)
      if (step !== null && step % 60 !== 0) refuseField('step', 'invalid', 'must be a multiple of 60.')
      const { startMs, endMs, timezone } = await readBounds(sql, station, request.query)
      const range = computeSeriesRange(startMs, endMs, step)
      if (endMs - startMs > maxDays * dayMs)
        refuseField('start', 'out_of_range', `must be at most ${maxDays} days before the end.`)
      const points = await heavyReads.run(request, { isLight: false, rows: maxSeriesPoints }, read =>
        readPoints(sql, read, station.id, range)
      )
      if (format === 'json') return jsonReply({ step: range.stepMinutes * 60, points })
      const zone = getTimeZone(timezone)
      const lines = points.map(({ at, total, unique, most, fewest }) =>
        renderCsvLine([formatLocalIsoTime(zone, at * 1_000), total, unique, most, fewest])
      )
      const header = renderCsvLine(['at', 'total', 'unique', 'most', 'fewest'])
      return renderCsvReply(`${station.shortName}-listeners`, header + lines.join(''))
    }
  }
)

/** Reads the requested range in Unix milliseconds, within the time for which counts are known. */
async function readBounds(sql: Sql, station: PathStation, query: URLSearchParams) {
  const start = parseMoment(query, 'start')
  const end = parseMoment(query, 'end')
  const [row] = await sql<
    { startMs: number | null; endMs: number | null; timezone: string; knownMs: number }[]
  >`
    select ${start ? momentStartMsFragment(sql, station, start, 0) : sql`null::bigint`} as "startMs",
      ${end ? momentStartMsFragment(sql, station, end, 1) : sql`null::bigint`} as "endMs", timezone,
      least((extract(epoch from created_at) * 1000)::bigint,
        (select min(minute) * 60000::bigint from listener_minutes m where m.station_id = stations.id)) as "knownMs"
    from stations where id = ${station.id}`
  if (!row) throw new ApiError('not-found')
  const nowMs = engineTimeMs()
  // The end in the row is exclusive.
  const endMs = row.endMs === null ? nowMs : Math.min(nowMs, row.endMs - 1)
  const startMs = Math.max(row.startMs ?? endMs - dayMs, row.knownMs)
  return { startMs, endMs, timezone: row.timezone }
}

async function readPoints(sql: Sql, read: HeavyRead, stationId: number, range: SeriesRange) {
  const { firstMinute, lastMinute, stepMinutes } = range
  if (lastMinute < firstMinute) return []
  // If no minute is stored, the counts have never changed.
  const [before] = await read.rows<{ total: number; unique: number }>(sql`
      select coalesce(last.total, case when known.found then 0 else s.listeners_total end) as total,
        coalesce(last.unique, case when known.found then 0 else s.listeners_unique end) as unique
      from stations s
        cross join lateral (
          select exists (select from listener_minutes m where m.station_id = s.id) as found) known
        left join lateral (
          select m.total, m."unique" from listener_minutes m
          where m.station_id = s.id and m.minute < ${firstMinute} order by m.minute desc limit 1) last on true
      where s.id = ${stationId}`)
  const changes = await read.rows<StepCounts>(sql`
      select x.index, m.total, m."unique" as unique, x.most, x.fewest
      from (
        select (minute - ${firstMinute}::int) / ${stepMinutes}::int as index, max(minute) as last,
          max(most) as most, min(fewest) as fewest
        from listener_minutes
        where station_id = ${stationId} and minute between ${firstMinute}::int and ${lastMinute}::int
        group by 1
      ) x join listener_minutes m on m.station_id = ${stationId} and m.minute = x.last
      order by x.index`)
  return computeSeriesPoints(range, before ?? { total: 0, unique: 0 }, changes)
}
