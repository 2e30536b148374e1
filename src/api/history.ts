import { choice } from '../fields/field.ts'
import { csvReply } from './csv.ts'
import { filtersOf } from './filters.ts'
import { csvRowsAtMost, historyCsv } from './history-csv.ts'
import {
  countMatching,
  likePattern,
  listParameters,
  listReply,
  listSchema,
  newestRows,
  parseListQuery,
  readList
} from './list.ts'
import { instant, momentOf, momentSchema } from './moments.ts'
import { type PlayedRow, renderDetailedPlay, renderPlay, selectPlays } from './played.ts'
import { type ApiRoute, stationOf } from './route.ts'

const shape = filtersOf({
  detailed: choice(['1', '0', 'true', 'false'], {
    about:
      'With what is known of the listeners of each play, and with the plays that listeners are not shown.'
  }),
  format: choice(['json', 'csv'], {
    about:
      'csv: a file of the detailed history, at most 100,000 plays; what is older is found with end. json unless told.'
  })
})

const list: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/history',
  access: 'view station reports',
  operation: {
    id: 'listHistory',
    tag: 'History',
    summary: 'What has been played, newest first, with what plays now',
    query: {
      ...listParameters([]),
      start: momentSchema('Plays that began then or later.'),
      end: momentSchema('Plays that began then or earlier; a day is meant whole.'),
      ...shape.schemas
    },
    answer: listSchema({
      anyOf: [{ $ref: '#/components/schemas/PlayedItem' }, { $ref: '#/components/schemas/DetailedPlay' }]
    }),
    hasCsv: true
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const station = stationOf(request)
    const query = parseListQuery(request.query, [])
    const { detailed = '0', format = 'json' } = shape.parse(request.query)
    const isDetailed = ['1', 'true'].includes(detailed)
    const pattern = likePattern(query.search)
    const start = momentOf(request.query, 'start')
    const end = momentOf(request.query, 'end')
    const startMs = start ? instant(sql, station, start, 0) : sql`0::bigint`
    const endMs = end ? instant(sql, station, end, 1) : sql`${Number.MAX_SAFE_INTEGER}::bigint`
    // Bounds and order of an index that begins with the station: see "walks an index of all stations" in docs/gotchas.md.
    const newest = sql`
      select * from song_history
      where (station_id, started_at_ms) >= (${station.id}, ${startMs}) and (station_id, started_at_ms) < (${station.id}, ${endMs})
        ${isDetailed || format === 'csv' ? sql`` : sql`and is_visible`}
      order by station_id desc, started_at_ms desc, id desc ${newestRows(sql)}`
    const plays = sql`
      select h.* from (${newest}) h
      ${query.search === '' ? sql`` : sql`where h.title ilike ${pattern} or h.artist ilike ${pattern} or h.playlist ilike ${pattern}`}`
    if (format === 'csv') {
      const { bytes, total } = await services.heavyReads.run(
        request,
        { isLight: false, rows: csvRowsAtMost },
        async read => ({
          bytes: await historyCsv(sql, read, station, plays),
          total: await countMatching(read, sql, plays)
        })
      )
      const reply = csvReply(`${station.shortName}-history`, bytes)
      return { ...reply, headers: { ...reply.headers, 'X-Total-Count': String(total) } }
    }
    const render = isDetailed ? renderDetailedPlay : renderPlay
    const rows = await readList<PlayedRow>(request, services, query, {
      select: plays,
      expand: page => selectPlays(sql, page),
      matching: plays,
      render: some => some.map(play => render(play, station, config.BASE_URL))
    })
    return listReply(rows, query, request, config.BASE_URL)
  }
}

export const historyRoutes = [list]
