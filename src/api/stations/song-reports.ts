import { getTimeZone } from '../../model/autodj/time-zone.ts'
import { choiceField } from '../../model/fields/field.ts'
import { renderSongObject } from '../../model/station/now-playing.ts'
import type { ShownSong } from '../../model/station/state.ts'
import { customFieldDefinitionsFragment } from '../../stores/db/snapshots.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { renderCsvLine, renderCsvReply } from '../core/csv.ts'
import type { HeavyRead } from '../core/heavy-reads.ts'
import {
  containsTextFragment,
  listQueryParameters,
  listResponseSchema,
  newestRowsLimitFragment,
  parseListQuery,
  readListPage,
  renderListReply
} from '../core/list.ts'
import { formatLocalIsoTime } from '../core/moments.ts'
import { openQueryFilters } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation, type PathStation } from '../core/route.ts'
import { arrayOf, exactObject, int64, namedSchema, schemaRef, unixSeconds } from '../core/schemas.ts'
import { type ReportPeriod, reportPeriodParameters, readReportPeriod } from '../reports/report-period.ts'
import { playedSongFragment } from './history.ts'

const path = '/api/station/:station_id/reports'
const tag = 'History'

const songReportSchema = namedSchema(
  'SongReport',
  'The plays of a song within a period.',
  exactObject({
    song: schemaRef('Song'),
    plays: int64,
    last_played_at: unixSeconds,
    listeners_gained: { ...int64, description: 'The sum of all rises during its plays.' },
    listeners_lost: { ...int64, description: 'The sum of all falls during its plays.' },
    delta_total: { ...int64, description: 'listeners_gained - listeners_lost' },
    listeners_average: { ...int64, description: 'At the start of its plays, rounded.' },
    listeners_peak: int64
  })
)

/** Fields to sort by, and the columns of the file after `artist` and `title`. */
const sums = [
  'plays',
  'last_played_at',
  'listeners_gained',
  'listeners_lost',
  'delta_total',
  'listeners_average',
  'listeners_peak'
] as const

const options = openQueryFilters({
  format: choiceField(['json', 'csv'], { about: 'csv: all songs as a file. Default: json.' })
})

/**
 * Selects the plays of a period that listeners saw, newest first. The order begins with the station, and `between`
 * keeps Postgres from leaving the station out of it: otherwise, for a long period, it reads the plays of all stations.
 */
const playsIn = (sql: Sql, { id }: PathStation, { startMs, endMs }: ReportPeriod): Fragment => sql`
  select * from song_history
  where station_id between ${id} and ${id} and started_at_ms >= ${startMs}::bigint and started_at_ms < ${endMs}::bigint
    and is_visible
  order by station_id desc, started_at_ms desc, id desc ${newestRowsLimitFragment(sql)}`

/** The songs of plays with their sums. `play_id` is the newest play of a song. */
const songsIn = (sql: Sql, plays: Fragment): Fragment => sql`
  select max(id) as play_id, count(*)::int as plays, max(started_at_ms) / 1000 as last_played_at,
    sum(delta_positive)::int as listeners_gained, sum(delta_negative)::int as listeners_lost,
    (sum(delta_positive) - sum(delta_negative))::int as delta_total,
    round(avg(listeners_start))::int as listeners_average, max(listeners_peak) as listeners_peak
  from (${plays}) h group by song_id`

interface SongRow {
  readonly play_id: number
  readonly song: ShownSong
  readonly customFields: { id: number; shortName: string }[]
}

type SongSums = Readonly<Record<(typeof sums)[number], number>>

interface PerformanceRow extends SongRow {
  readonly stat_start: number
  readonly stat_end: number
  readonly stat_delta: number
}

/** Adds the song and the custom fields to rows with a `play_id`. */
const withSongs = (sql: Sql, rows: Fragment, order: Fragment): Fragment => sql`
  select x.*, ${playedSongFragment(sql)} as song, ${customFieldDefinitionsFragment(sql)} as "customFields"
  from (${rows}) x join song_history h on h.id = x.play_id left join media m on m.id = h.media_id
  order by ${order}`

const songsRoute = apiRoute('GET', `${path}/songs`, 'view station reports', {
  id: 'reportSongs',
  tag,
  summary:
    'Songs by plays and by listeners gained and lost, most played first; at most the newest 100,000 plays count',
  query: { ...listQueryParameters(sums), ...reportPeriodParameters, ...options.schemas },
  responseRecord: 'SongReport',
  response: listResponseSchema(songReportSchema),
  hasCsv: true,
  async handle(request, services) {
    const { reads: sql, heavyReads, config } = services
    const station = getRequestStation(request)
    const query = parseListQuery(request, sums)
    const { format = 'json' } = options.parse(request.query)
    const contains = containsTextFragment(sql, query.search)
    const all = playsIn(sql, station, await readReportPeriod(sql, station, request.query))
    const plays =
      query.search === ''
        ? all
        : sql`select * from (${all}) h where h.artist ${contains} or h.title ${contains}`
    const songs = songsIn(sql, plays)
    const order =
      query.sort === null
        ? sql`plays desc, play_id desc`
        : sql`${sql(query.sort)} ${query.isDescending ? sql`desc` : sql``}, play_id desc`
    if (format === 'csv')
      return heavyReads.run(request, { isLight: false, rows: maxCsvRows }, async read =>
        renderCsvReply(
          `${station.shortName}-songs`,
          await renderCsv(sql, read, { songs, order, stationId: station.id })
        )
      )
    const rows = await readListPage<SongRow & SongSums>(request, services, query, {
      select: sql`select * from (${songs}) x order by ${order}`,
      expand: page => withSongs(sql, page, order),
      matching: songs,
      isAggregate: true,
      render: found => found.map(row => renderRow(row, station, config.BASE_URL))
    })
    return renderListReply(rows, query, request, config.BASE_URL)
  }
})

function renderRow(row: SongRow, station: PathStation, baseUrl: string) {
  const { song, customFields, play_id: _playId, ...rest } = row
  return { song: renderSongObject(song, { ...station, customFields }, 'rest', baseUrl), ...rest }
}

const maxCsvRows = 100_000

interface SongsCsv {
  readonly songs: Fragment
  readonly order: Fragment
  readonly stationId: number
}

async function renderCsv(sql: Sql, read: HeavyRead, { songs, order, stationId }: SongsCsv): Promise<Buffer> {
  const statement = sql`
    select h.artist, h.title, x.* from (${songs}) x join song_history h on h.id = x.play_id
    order by ${order} limit ${maxCsvRows}`
  const [settings] = await read.rows<{ timezone: string }>(
    sql`select timezone from stations where id = ${stationId}`
  )
  const zone = getTimeZone(settings?.timezone ?? 'UTC')
  const parts = [Buffer.from(renderCsvLine(['artist', 'title', ...sums]))]
  type Row = Readonly<Record<string, string | number>>
  for await (const rows of read.batches<Row>(statement)) {
    const lines = rows.map(row => {
      const cells: Row = {
        ...row,
        last_played_at: formatLocalIsoTime(zone, Number(row['last_played_at']) * 1_000)
      }
      return renderCsvLine(['artist', 'title', ...sums].map(name => cells[name] ?? ''))
    })
    parts.push(Buffer.from(lines.join('')))
  }
  return Buffer.concat(parts)
}

const bestSongs = 5
const mostPlayedSongs = 25

const performance = exactObject({
  song: schemaRef('Song'),
  stat_start: int64,
  stat_end: int64,
  stat_delta: int64
})

const bestAndWorstSchema = namedSchema(
  'BestAndWorst',
  'The songs that gained and lost the most listeners, and those that were played most.',
  exactObject({
    bestAndWorst: exactObject({
      best: { ...arrayOf(performance), description: 'Plays with the largest gain of listeners.' },
      worst: { ...arrayOf(performance), description: 'Plays with the largest loss of listeners.' }
    }),
    mostPlayed: arrayOf(exactObject({ song: schemaRef('Song'), num_plays: int64 }))
  })
)

const bestAndWorstRoute = apiRoute('GET', `${path}/overview/best-and-worst`, 'view station reports', {
  id: 'reportBestAndWorst',
  tag,
  summary: 'The plays that gained and lost the most listeners, and the songs played most',
  query: reportPeriodParameters,
  responseRecord: 'BestAndWorst',
  response: bestAndWorstSchema,
  async handle(request, services) {
    const { reads: sql, config } = services
    const station = getRequestStation(request)
    const plays = playsIn(sql, station, await readReportPeriod(sql, station, request.query))
    return services.heavyReads.run(request, { isLight: false, rows: mostPlayedSongs }, async read => {
      const render = (rows: readonly SongRow[]) => rows.map(row => renderRow(row, station, config.BASE_URL))
      const delta = sql`listeners_end - listeners_start`
      const topPlays = (sign: Fragment) => sql`
        select id as play_id, listeners_start as stat_start, listeners_end as stat_end, ${delta} as stat_delta
        from (${plays}) h where ended_at_ms is not null and (${delta}) * ${sign} > 0
        order by (${delta}) * ${sign} desc, id desc limit ${bestSongs}`
      const best = await read.rows<PerformanceRow>(
        withSongs(sql, topPlays(sql`1`), sql`stat_delta desc, play_id desc`)
      )
      const worst = await read.rows<PerformanceRow>(
        withSongs(sql, topPlays(sql`-1`), sql`stat_delta, play_id desc`)
      )
      const most = await read.rows<SongRow & { readonly num_plays: number }>(
        withSongs(
          sql,
          sql`select play_id, plays as num_plays from (${songsIn(sql, plays)}) x
            order by plays desc, play_id desc limit ${mostPlayedSongs}`,
          sql`num_plays desc, play_id desc`
        )
      )
      return jsonReply({
        bestAndWorst: { best: render(best), worst: render(worst) },
        mostPlayed: render(most)
      })
    })
  }
})

export const songReportRoutes = [songsRoute, bestAndWorstRoute]
