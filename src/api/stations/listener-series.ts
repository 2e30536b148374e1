import { openZone } from '../../autodj/zone.ts'
import type { Sql } from '../../db/sql.ts'
import { choice, integer } from '../../fields/field.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError } from '../../runtime/errors.ts'
import { csvLine, csvReply } from '../core/csv.ts'
import type { HeavyRead } from '../core/heavy-reads.ts'
import { instant, localTime, parseMoment, momentSchema } from '../core/moments.ts'
import { filtersOf } from '../core/parse.ts'
import { type ApiRoute, json, stationOf, type StationRow } from '../core/route.ts'

/** A point of a series: the count of a step of time at its end, and the most and the fewest within. */
interface Point {
  /** Unix seconds of the first minute of the step. */
  readonly at: number
  readonly total: number
  readonly unique: number
  readonly most: number
  readonly fewest: number
}

/** The changes of one step of a series, joined; `index` counts steps from the first. */
export interface Changes extends Omit<Point, 'at'> {
  readonly index: number
}

/** Which points are asked for, in Unix minutes. */
interface Span {
  readonly firstMinute: number
  readonly lastMinute: number
  readonly stepMinutes: number
}

export const pointsAtMost = 1_500

const dayMinutes = 1_440
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, dayMinutes]

/**
 * The span between two instants (Unix milliseconds), both included. `stepSeconds` null: the shortest handsome
 * step that needs no more points than there may be. Throws a 400 for a step that needs more.
 */
export function spanOf(startMs: number, endMs: number, stepSeconds: number | null): Span {
  const firstMinute = Math.floor(startMs / 60_000)
  const lastMinute = Math.floor(endMs / 60_000)
  const minutes = Math.max(0, lastMinute - firstMinute + 1)
  const least = minutes / pointsAtMost
  if (stepSeconds !== null && stepSeconds / 60 < least) {
    const message = `step must be at least ${Math.ceil(least) * 60}: there may be ${pointsAtMost} points.`
    throw ApiError.ofFields([{ field: 'step', code: 'out_of_range', message }])
  }
  const handsome = steps.find(step => step >= least) ?? Math.ceil(least / dayMinutes) * dayMinutes
  return { firstMinute, lastMinute, stepMinutes: stepSeconds === null ? handsome : stepSeconds / 60 }
}

/**
 * The points of a span. In a step without changes the count is what it was before. `before`: the count that
 * the first step finds; `changes` are in order.
 */
export function pointsOf(
  { firstMinute, lastMinute, stepMinutes }: Span,
  before: { readonly total: number; readonly unique: number },
  changes: readonly Changes[]
): Point[] {
  const byIndex = new Map(changes.map(change => [change.index, change]))
  let { total, unique } = before
  const points: Point[] = []
  for (let minute = firstMinute; minute <= lastMinute; minute += stepMinutes) {
    const { most, fewest, ...change } = byIndex.get(points.length) ?? {
      total,
      unique,
      most: total,
      fewest: total
    }
    total = change.total
    unique = change.unique
    points.push({ at: minute * 60, total, unique, most, fewest })
  }
  return points
}

const dayMs = 86_400_000
/** Every minute of the span may have to be read. */
const daysAtMost = 1_100

const shape = filtersOf({
  step: integer({
    min: 60,
    max: 366 * 86_400,
    about: `Seconds from one point to the next, a multiple of 60; unless told, as few as ${pointsAtMost} points allow.`
  }),
  format: choice(['json', 'csv'], { about: 'csv: the points as a file. json unless told.' })
})

const series: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/listeners/series',
  access: 'view station reports',
  operation: {
    id: 'getListenerSeries',
    tag: 'Listeners',
    summary: 'How many listened when',
    query: {
      start: momentSchema(
        `Where the points begin, at most ${daysAtMost} days before the end; 24 hours before it unless told.`
      ),
      end: momentSchema('Where they end; a day is meant whole. Now unless told, and never later.'),
      ...shape.schemas
    },
    answer: { $ref: '#/components/schemas/ListenerSeries' },
    hasCsv: true
  },
  async handle(request, { reads: sql, heavyReads }) {
    const station = stationOf(request)
    const { step = null, format = 'json' } = shape.parse(request.query)
    if (step !== null && step % 60 !== 0) {
      const message = 'step must be a multiple of 60.'
      throw ApiError.ofFields([{ field: 'step', code: 'invalid', message }])
    }
    const { startMs, endMs, timezone } = await boundsOf(sql, station, request.query)
    const span = spanOf(startMs, endMs, step)
    if (endMs - startMs > daysAtMost * dayMs) {
      const message = `start must be at most ${daysAtMost} days before the end.`
      throw ApiError.ofFields([{ field: 'start', code: 'out_of_range', message }])
    }
    const points = await heavyReads.run(request, { isLight: false, rows: pointsAtMost }, read =>
      readPoints(sql, read, station.id, span)
    )
    if (format === 'json') return json({ step: span.stepMinutes * 60, points })
    const zone = openZone(timezone)
    const lines = points.map(({ at, total, unique, most, fewest }) =>
      csvLine([localTime(zone, at * 1_000), total, unique, most, fewest])
    )
    const header = csvLine(['at', 'total', 'unique', 'most', 'fewest'])
    return csvReply(`${station.shortName}-listeners`, header + lines.join(''))
  }
}

/** What is asked for; nobody knows of later than now. */
async function boundsOf(sql: Sql, station: StationRow, query: URLSearchParams) {
  const start = parseMoment(query, 'start')
  const end = parseMoment(query, 'end')
  const [asked] = await sql<
    { startMs: number | null; endMs: number | null; timezone: string; knownMs: number }[]
  >`
    select ${start ? instant(sql, station, start, 0) : sql`null::bigint`} as "startMs",
      ${end ? instant(sql, station, end, 1) : sql`null::bigint`} as "endMs", timezone,
      least((extract(epoch from created_at) * 1000)::bigint,
        (select min(minute) * 60000::bigint from listener_minutes m where m.station_id = stations.id)) as "knownMs"
    from stations where id = ${station.id}`
  if (!asked) throw new ApiError('not-found')
  const nowMs = engineTimeMs()
  // The end is the first millisecond after what was asked for.
  const endMs = asked.endMs === null ? nowMs : Math.min(nowMs, asked.endMs - 1)
  // Before the station was made nobody counted.
  const startMs = Math.max(asked.startMs ?? endMs - dayMs, asked.knownMs)
  return { startMs, endMs, timezone: asked.timezone }
}

async function readPoints(sql: Sql, read: HeavyRead, stationId: number, span: Span) {
  const { firstMinute, lastMinute, stepMinutes } = span
  if (lastMinute < firstMinute) return []
  // Without any minute the count has never changed.
  const [before] = await read.rows<{ total: number; unique: number }>(sql`
      select coalesce(last.total, case when known.any then 0 else s.listeners_total end) as total,
        coalesce(last.unique, case when known.any then 0 else s.listeners_unique end) as unique
      from stations s
        cross join lateral (
          select exists (select from listener_minutes m where m.station_id = s.id) as any) known
        left join lateral (
          select m.total, m."unique" from listener_minutes m
          where m.station_id = s.id and m.minute < ${firstMinute} order by m.minute desc limit 1) last on true
      where s.id = ${stationId}`)
  const changes = await read.rows<Changes>(sql`
      select x.index, m.total, m."unique" as unique, x.most, x.fewest
      from (
        select (minute - ${firstMinute}::int) / ${stepMinutes}::int as index, max(minute) as last,
          max(most) as most, min(fewest) as fewest
        from listener_minutes
        where station_id = ${stationId} and minute between ${firstMinute}::int and ${lastMinute}::int
        group by 1
      ) x join listener_minutes m on m.station_id = ${stationId} and m.minute = x.last
      order by x.index`)
  return pointsOf(span, before ?? { total: 0, unique: 0 }, changes)
}

export const listenerSeriesRoutes = [series]
