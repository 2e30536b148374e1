import { openCache } from '../../platform/runtime/cache.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { hasPermission } from '../auth/access.ts'
import { type ApiRequest, type ApiRoute, apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { findViewableStations } from './viewable-stations.ts'

const days = 30
const maxStations = 100
const dayMinutes = 1_440

const point = exactObject({ x: { ...int64, description: 'Unix milliseconds.' }, y: { type: 'number' } })
const alternative = exactObject({ label: string, type: string, original: int64, value: string })
const metric = exactObject({
  metrics: arrayOf(exactObject({ label: string, type: string, fill: boolean, data: arrayOf(point) })),
  alt: arrayOf(exactObject({ label: string, values: arrayOf(alternative) }))
})

/** A day of a station: listeners on average, and the most distinct ones at the same time. */
interface DayRow {
  readonly stationId: number
  readonly day: number
  readonly average: number
  readonly unique: number
}

type Charts = ReturnType<typeof renderDashboardCharts>

const cached = openCache<string, Charts>({ maxEntries: 100, ttlMs: 600_000 })

/** AzuraCast documents the method PUT, and answers GET. */
const routes = (['GET', 'PUT'] as const).map((method): ApiRoute =>
  apiRoute(method, '/api/frontend/dashboard/charts', 'any key', {
    id: method === 'GET' ? 'getDashboardCharts' : 'readDashboardCharts',
    tag: 'Dashboard',
    summary: `Listeners by day of the stations that the key may view: of ${days} days, at most ${maxStations} stations`,

    response: exactObject({ average: metric, unique: metric }),
    handle: async (request, services) => jsonReply(await readCharts(request, services))
  })
)

async function readCharts(request: ApiRequest, services: ApiServices): Promise<Charts> {
  const { reads: sql, live } = services
  const key = request.caller?.key
  if (!key) throw new ApiError('forbidden')
  const ids = findViewableStations(request, live)
    .toSorted((one, other) => other.listeners - one.listeners)
    .slice(0, maxStations)
    .map(({ stationId }) => stationId)
    .toSorted((one, other) => one - other)
  const isAdministrator = hasPermission(key, {
    permission: 'view administration',
    stationId: null,
    isRead: true
  })
  const name = `${isAdministrator} ${ids.join()}`
  const known = cached.get(name)
  if (known) return known
  const stations = await sql<{ id: number; name: string }[]>`
    select id, name from stations where id = any(${ids}::bigint[]) order by name, id`
  const rows = await readDays(request, services, ids)
  const charts = renderDashboardCharts(stations, rows, isAdministrator && stations.length > 1)
  cached.set(name, charts)
  return charts
}

/** Reads the counts at the end of each hour. Days before the first known count are left out. */
function readDays(request: ApiRequest, { reads: sql, heavyReads }: ApiServices, ids: readonly number[]) {
  const minute = Math.floor(engineTimeMs() / 60_000)
  const firstDay = Math.floor(minute / dayMinutes) - days + 1
  return heavyReads.run(request, { isLight: false, rows: ids.length * days * 24 }, read =>
    read.rows<DayRow>(sql`
      select s.id as "stationId", d.day, avg(m.total)::double precision as average, max(m."unique") as "unique"
      from unnest(${[...ids]}::bigint[]) s (id)
        cross join generate_series(${firstDay}::int, ${firstDay + days - 1}::int) d (day)
        cross join generate_series(0, 23) h (hour)
        cross join lateral (
          select total, "unique" from listener_minutes
          where station_id = s.id and minute <= least(d.day * ${dayMinutes}::int + h.hour * 60 + 59, ${minute}::int)
          order by minute desc limit 1) m
      where d.day * ${dayMinutes}::int + h.hour * 60 <= ${minute}::int
      group by 1, 2 order by 1, 2`)
  )
}

const dayMs = 86_400_000

export function renderDashboardCharts(
  stations: readonly { readonly id: number; readonly name: string }[],
  rows: readonly DayRow[],
  hasSum: boolean
) {
  const renderMetric = (of: 'average' | 'unique') => {
    const series = stations.flatMap(({ id, name }) => {
      const values = rows.filter(({ stationId }) => stationId === id).map(row => [row.day, row[of]] as const)
      return values.length === 0 ? [] : [{ label: name, values: new Map(values) }]
    })
    const all = hasSum && series.length > 0 ? [{ label: 'All Stations', values: sumByDay(series) }] : []
    const shown = [...all, ...series].map(({ label, values }) => ({
      label,
      points: [...values].map(([day, value]) => ({ x: day * dayMs, y: Math.round(value * 100) / 100 }))
    }))
    return {
      metrics: shown.map(({ label, points }) => ({ label, type: 'line', fill: false, data: points })),
      alt: shown.map(({ label, points }) => ({
        label,
        values: points.map(({ x, y }) => ({
          label: new Date(x).toISOString().slice(0, 10),
          type: 'time',
          original: x,
          value: `${y} Listeners`
        }))
      }))
    }
  }
  return { average: renderMetric('average'), unique: renderMetric('unique') }
}

function sumByDay(series: readonly { readonly values: ReadonlyMap<number, number> }[]): Map<number, number> {
  const sums = new Map<number, number>()
  for (const { values } of series)
    for (const [day, value] of values) sums.set(day, (sums.get(day) ?? 0) + value)
  return new Map([...sums].toSorted(([one], [other]) => one - other))
}

export const dashboardChartRoutes = routes
