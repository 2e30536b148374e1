import type { Reply } from '../../http/route.ts'
import { getTimeZone } from '../../model/autodj/time-zone.ts'
import { choiceField, textField } from '../../model/fields/field.ts'
import { renderSongObject } from '../../model/station/now-playing.ts'
import type { ShownSong } from '../../model/station/state.ts'
import {
  artIdFragment,
  mediaFieldValuesFragment,
  customFieldDefinitionsFragment
} from '../../stores/db/snapshots.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { type CsvCell, renderCsvLine, renderCsvReply } from '../core/csv.ts'
import type { HeavyRead } from '../core/heavy-reads.ts'
import {
  countMatching,
  containsTextFragment,
  listQueryParameters,
  renderListReply,
  listResponseSchema,
  newestRowsLimitFragment,
  parseListQuery,
  readListPage
} from '../core/list.ts'
import { momentStartMsFragment, formatLocalIsoTime, parseMoment, momentSchema } from '../core/moments.ts'
import { openQueryFilters } from '../core/parse.ts'
import { type ApiRequest, apiRoute, getRequestStation, type PathStation } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

const options = openQueryFilters({
  playlist: textField({ max: 200, about: 'Only plays of the playlist with this name.' }),
  streamer: textField({
    max: 200,
    about: 'Only plays during the live shows of the streamer with this name.'
  }),
  type: choiceField(['request', 'live', 'autodj'], {
    about: 'Only requests, songs of live shows, or songs that the AutoDJ or an operator chose.'
  }),
  detailed: choiceField(['1', '0', 'true', 'false'], {
    about: 'With the listener statistics of each play, and with plays that listeners do not see.'
  }),
  format: choiceField(['json', 'csv'], {
    about:
      'csv: the detailed history as a file, at most 100,000 plays; use end for older ones. Default: json.'
  })
})

export const historyRoute = apiRoute('GET', '/api/station/:station_id/history', 'view station reports', {
  id: 'listHistory',
  tag: 'History',
  summary: 'The plays of a station, newest first, with the current one',
  query: {
    ...listQueryParameters([]),
    start: momentSchema('Only plays that began then or later.'),
    end: momentSchema('Only plays that began then or earlier; a day is included.'),
    ...options.schemas
  },
  responseRecord: 'DetailedPlay',
  response: listResponseSchema({ anyOf: [schemaRef('PlayedItem'), schemaRef('DetailedPlay')] }),
  hasCsv: true,
  handle: (request, services) => listPlays(request, services, documentedTable)
})

/** Lists plays, as a file with the columns of the table if the query asks for one. */
export async function listPlays(
  request: ApiRequest,
  services: ApiServices,
  table: HistoryTable
): Promise<Reply> {
  const { reads: sql, config } = services
  const station = getRequestStation(request)
  const query = parseListQuery(request, [])
  const { detailed = '0', format = 'json', ...filters } = options.parse(request.query)
  const isDetailed = ['1', 'true'].includes(detailed)
  const contains = containsTextFragment(sql, query.search)
  const start = parseMoment(request.query, 'start')
  const end = parseMoment(request.query, 'end')
  const startMs = start ? momentStartMsFragment(sql, station, start, 0) : sql`0::bigint`
  const endMs = end ? momentStartMsFragment(sql, station, end, 1) : sql`${Number.MAX_SAFE_INTEGER}::bigint`
  // Bounds and order of an index that begins with the station: see "walks an index of all stations" in
  // docs/gotchas.md.
  const newest = sql`
    select * from song_history
    where (station_id, started_at_ms) >= (${station.id}, ${startMs}) and (station_id, started_at_ms) < (${station.id}, ${endMs})
      ${isDetailed || format === 'csv' ? sql`` : sql`and is_visible`}
    order by station_id desc, started_at_ms desc, id desc ${newestRowsLimitFragment(sql)}`
  const conditions: Fragment[] = [
    ...(query.search === ''
      ? []
      : [sql`(h.title ${contains} or h.artist ${contains} or h.playlist ${contains})`]),
    ...(filters.playlist === undefined ? [] : [sql`h.playlist = ${filters.playlist}`]),
    ...(filters.streamer === undefined ? [] : [sql`h.streamer = ${filters.streamer}`]),
    ...(filters.type === undefined ? [] : [typeFragment(sql, filters.type)])
  ]
  const where = conditions.reduce((all, condition) => sql`${all} and ${condition}`, sql`where true`)
  const plays = sql`select h.* from (${newest}) h ${conditions.length === 0 ? sql`` : where}`
  if (format === 'csv')
    return services.heavyReads.run(request, { isLight: false, rows: maxCsvRows }, async read => {
      const csv = await renderCsv(sql, read, station, { plays, ...table })
      const total = await countMatching(read, sql, plays)
      const reply = renderCsvReply(`${station.shortName}-history`, csv)
      return { ...reply, headers: { ...reply.headers, 'X-Total-Count': String(total) } }
    })
  const rows = await readListPage<PlayedRow>(request, services, query, {
    select: plays,
    expand: page => selectPlays(sql, page),
    matching: plays,
    render: played =>
      played.map(play => ({
        ...renderPlayedRow(play, station, config.BASE_URL),
        ...(isDetailed ? play.statistics : {})
      }))
  })
  return renderListReply(rows, query, request, config.BASE_URL)
}

/** SQL: whether play `h` is of a type. */
function typeFragment(sql: Sql, type: 'request' | 'live' | 'autodj'): Fragment {
  if (type === 'request') return sql`h.is_request`
  return type === 'live' ? sql`h.streamer <> ''` : sql`not h.is_request and h.streamer = ''`
}

const maxCsvRows = 100_000

/** The columns of the file after `sh_id` and `played_at`. */
const columns = [
  'duration',
  'artist',
  'title',
  'album',
  'isrc',
  'playlist',
  'streamer',
  'is_request',
  'is_visible',
  'listeners_start',
  'listeners_end',
  'delta_total',
  'delta_positive',
  'delta_negative',
  'listeners_peak',
  'unique_listeners'
]

type CsvRow = Readonly<Record<string, CsvCell>> & { readonly id: number; readonly startedAtMs: number }

/** The columns of the file, and the cells of a play with its local time. */
export interface HistoryTable {
  readonly names: readonly string[]
  readonly cells: (row: CsvRow, startedAt: string) => readonly CsvCell[]
}

const documentedTable: HistoryTable = {
  names: ['sh_id', 'played_at', ...columns],
  cells: (row, startedAt) => [row.id, startedAt, ...columns.map(name => row[name] ?? '')]
}

/** Renders plays as a CSV file, with local times of the station. */
async function renderCsv(
  sql: Sql,
  read: HeavyRead,
  station: PathStation,
  { plays, names, cells }: HistoryTable & { readonly plays: Fragment }
): Promise<Buffer> {
  const [settings] = await read.rows<{ timezone: string }>(
    sql`select timezone from stations where id = ${station.id}`
  )
  const zone = getTimeZone(settings?.timezone ?? 'UTC')
  const statement = sql`
    select h.id, h.started_at_ms as "startedAtMs", ${playedSeconds(sql)} as duration, h.artist, h.title, h.album,
      h.isrc, h.playlist, h.streamer, h.is_request, h.is_visible, h.listeners_start, h.listeners_end,
      h.listeners_end - h.listeners_start as delta_total, h.delta_positive, h.delta_negative, h.listeners_peak,
      h.unique_listeners
    from (${plays}) h`
  const parts = [Buffer.from(renderCsvLine(names))]
  for await (const rows of read.batches<CsvRow>(statement)) {
    const lines = rows.map(row => renderCsvLine(cells(row, formatLocalIsoTime(zone, row.startedAtMs))))
    parts.push(Buffer.from(lines.join('')))
  }
  return Buffer.concat(parts)
}

/** The columns are named as in the API. */
interface PlayedRow {
  readonly sh_id: number
  readonly played_at: number
  readonly duration: number
  readonly playlist: string
  readonly streamer: string
  readonly is_request: boolean
  readonly song: ShownSong
  readonly customFields: { id: number; shortName: string }[]
  /** The additional members of a detailed play. */
  readonly statistics: object
}

/** The length of a play in seconds: the known one, else the time that it ran. */
const playedSeconds = (sql: Sql): Fragment => sql`
  (case when h.duration_ms = 0 and h.ended_at_ms is not null then h.ended_at_ms - h.started_at_ms
    else h.duration_ms end) / 1000`

/** SQL: the song of play `h` of media `m`, which may be null. Texts are those of the play. */
export const playedSongFragment = (sql: Sql): Fragment => sql`
  jsonb_build_object('id', h.song_id, 'artist', h.artist, 'title', h.title, 'album', h.album, 'genre', h.genre,
    'isrc', h.isrc, 'lyrics', coalesce(m.lyrics, ''), 'artId', ${artIdFragment(sql, 'h')},
    'customFields', ${mediaFieldValuesFragment(sql)})`

/** Plays, newest first. Texts are those of the play; all else of the song is that of its media. */
const selectPlays = (sql: Sql, plays: Fragment): Fragment => sql`
  select h.id as sh_id, h.started_at_ms / 1000 as played_at, ${playedSeconds(sql)} as duration,
    h.playlist, h.streamer, h.is_request,
    ${playedSongFragment(sql)} as song,
    ${customFieldDefinitionsFragment(sql)} as "customFields",
    jsonb_build_object('listeners_start', h.listeners_start, 'listeners_end', h.listeners_end,
      'delta_total', h.listeners_end - h.listeners_start, 'delta_positive', h.delta_positive,
      'delta_negative', h.delta_negative, 'listeners_peak', h.listeners_peak,
      'unique_listeners', h.unique_listeners, 'is_visible', h.is_visible) as statistics
  from (${plays}) h left join media m on m.id = h.media_id
  order by h.station_id desc, h.started_at_ms desc, h.id desc`

function renderPlayedRow(row: PlayedRow, station: PathStation, baseUrl: string) {
  const { song, customFields, statistics: _statistics, ...play } = row
  return { ...play, song: renderSongObject(song, { ...station, customFields }, 'rest', baseUrl) }
}
