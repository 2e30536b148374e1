import { artId, customFieldValues } from '../db/facts.ts'
import type { Fragment, Sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { renderSong } from '../station/now-playing.ts'
import type { Song } from '../station/state.ts'
import { likePattern, limitOf, listParameters, listReply, listSchema, parseListQuery } from './list.ts'
import { type ApiRoute, type StationRow, stationOf } from './route.ts'
import { isDate } from './schedule-items.ts'

interface PlayedRow {
  shId: number
  playedAt: number
  duration: number
  playlist: string
  streamer: string
  isRequest: boolean
  song: Song
  customFields: { id: number; shortName: string }[]
}

/** As on now playing: the text is that of the play, what else is known of the song is that of its media. */
const selectPlays = (sql: Sql) => sql`
  select h.id as "shId", h.started_at_ms / 1000 as "playedAt",
    (case when h.duration_ms = 0 and h.ended_at_ms is not null then h.ended_at_ms - h.started_at_ms
      else h.duration_ms end) / 1000 as duration,
    h.playlist, h.streamer, h.is_request as "isRequest",
    jsonb_build_object('id', h.song_id, 'artist', h.artist, 'title', h.title, 'album', h.album, 'genre', h.genre,
      'isrc', h.isrc, 'lyrics', coalesce(m.lyrics, ''), 'artId', ${artId(sql)},
      'customFields', ${customFieldValues(sql)}) as song,
    coalesce((select jsonb_agg(jsonb_build_object('id', f.id, 'shortName', f.short_name) order by f.id)
      from custom_fields f), '[]') as "customFields"
  from song_history h left join media m on m.id = h.media_id`

function renderPlay(row: PlayedRow, station: StationRow, baseUrl: string) {
  return {
    sh_id: row.shId,
    played_at: row.playedAt,
    duration: row.duration,
    playlist: row.playlist,
    streamer: row.streamer,
    is_request: row.isRequest,
    song: renderSong(row.song, { ...station, customFields: row.customFields }, 'rest', baseUrl)
  }
}

const moment = (which: string) => ({
  type: 'string',
  description: `${which} A day (YYYY-MM-DD) of the station's time zone, or Unix seconds.`,
  examples: ['2026-07-08']
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
      start: moment('Plays that began then or later.'),
      end: moment('Plays that began then or earlier; a day is meant whole.')
    },
    answer: listSchema({ $ref: '#/components/schemas/PlayedItem' })
  },
  async handle(request, { reads: sql, config }) {
    const station = stationOf(request)
    const query = parseListQuery(request.query, [])
    const pattern = likePattern(query.search)
    const start = momentOf(request.query, 'start')
    const end = momentOf(request.query, 'end')
    const played = sql`h.station_id = ${station.id} and h.is_visible
      ${start ? sql`and h.started_at_ms >= ${instant(sql, station, start, 0)}` : sql``}
      ${end ? sql`and h.started_at_ms < ${instant(sql, station, end, 1)}` : sql``}
      ${query.search === '' ? sql`` : sql`and (h.title ilike ${pattern} or h.artist ilike ${pattern} or h.playlist ilike ${pattern})`}`
    const [rows, [counted]] = await Promise.all([
      sql<PlayedRow[]>`${selectPlays(sql)} where ${played} order by h.id desc ${limitOf(sql, query)}`,
      sql<{ total: number }[]>`select count(*) as total from song_history h where ${played}`
    ])
    const records = rows.map(row => renderPlay(row, station, config.BASE_URL))
    return listReply(records, counted?.total ?? 0, query, request, config.BASE_URL)
  }
}

/** A day of the calendar, or a second. */
type Moment = { readonly day: string } | { readonly seconds: number }

/** Reads a query parameter; null without it. Throws a 400 that names it. */
function momentOf(query: URLSearchParams, name: string): Moment | null {
  const text = query.get(name)?.trim() ?? ''
  if (text === '') return null
  if (/^\d{1,12}$/.test(text)) return { seconds: Number(text) }
  // The calendar of Postgres has no year 0.
  if (isDate(text) && !text.startsWith('0000')) return { day: text }
  const message = `${name} must be a day (YYYY-MM-DD) or Unix seconds.`
  throw ApiError.ofFields([{ field: name, code: 'invalid_format', message }])
}

/** When a moment begins, or with `after` 1 the one that follows it: Unix milliseconds. */
function instant(sql: Sql, station: StationRow, at: Moment, after: 0 | 1): Fragment {
  if ('seconds' in at) return sql`${(at.seconds + after) * 1000}::bigint`
  return sql`(select extract(epoch from
      (${at.day}::text::date + ${after}::int)::timestamp at time zone s.timezone) * 1000
    from stations s where s.id = ${station.id})`
}

export const historyRoutes = [list]
