import { type TimeZone, getTimeZone } from '../../model/autodj/time-zone.ts'
import { choiceField } from '../../model/fields/field.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import { renderCsvLine, renderCsvReply, formatContentDisposition } from '../core/csv.ts'
import { type Moment, momentSchema, parseMoment, momentStartMsFragment } from '../core/moments.ts'
import { openQueryFilters } from '../core/parse.ts'
import { apiRoute, getRequestStation } from '../core/route.ts'

const columns = [
  'NAME_OF_SERVICE',
  'TRANSMISSION_CATEGORY',
  'FEATURED_ARTIST',
  'SOUND_RECORDING_TITLE',
  'ISRC',
  'ALBUM_TITLE',
  'MARKETING_LABEL',
  'ACTUAL_TOTAL_PERFORMANCES'
]

const options = openQueryFilters({
  format: choiceField(['text', 'csv'], {
    about: 'text: fields between carets, separated by bars. csv: a CSV file (RFC 4180). Default: text.'
  }),
  performances: choiceField(['unique', 'connections'], {
    about:
      'What counts as a performance. unique: each distinct listener of a play. connections: each listener at the start of a play, and each who connected during it. Default: unique.'
  })
})

const maxDays = 366
const maxSongs = 100_000

/** Text in the format of SoundExchange: in capitals between carets. */
const renderText = (text: string) => `^${text.toUpperCase().replace(/[\^|\p{Cc}]/gu, '')}^`

/** The first and the last day of the month before a time, in local time. */
function previousMonth(zone: TimeZone, nowMs: number): readonly [first: string, last: string] {
  const local = new Date(nowMs + zone.span(nowMs).offsetMs)
  const day = (month: number, date: number) =>
    new Date(Date.UTC(local.getUTCFullYear(), month, date)).toISOString().slice(0, 10)
  return [day(local.getUTCMonth() - 1, 1), day(local.getUTCMonth(), 0)]
}

/** `20260708` as `08072026`. */
const renderDay = (day: string) => day.split('-').toReversed().join('')

function parseReportDay(
  query: URLSearchParams,
  name: string,
  fallback: string
): Moment & { readonly day: string } {
  const moment = parseMoment(query, name)
  if (moment === null) return { day: fallback }
  if ('day' in moment) return moment
  return refuseField(name, 'invalid_format', 'must be a day (YYYY-MM-DD).')
}

interface SongRow {
  readonly artist: string
  readonly title: string
  readonly isrc: string
  readonly album: string
  readonly performances: number
}

export const soundExchangeRoute = apiRoute(
  'GET',
  '/api/station/:station_id/reports/soundexchange',
  'view station reports',
  {
    id: 'reportSoundExchange',
    tag: 'History',
    summary:
      'The songs of a period with the number of performances, in the format of SoundExchange; Cuewire-Untitled-Plays counts the plays without a title, which are left out',
    query: {
      start_date: momentSchema('The first day. Default: of the last month.'),
      end_date: momentSchema('The last day. Default: of the last month.'),
      ...options.schemas
    },
    response: { type: 'string' },
    contentTypes: ['text/plain', 'text/csv'],
    async handle(request, { reads: sql, heavyReads }) {
      const station = getRequestStation(request)
      const { format = 'text', performances = 'unique' } = options.parse(request.query)
      const counted =
        performances === 'unique'
          ? sql`h.unique_listeners`
          : sql`greatest(h.unique_listeners, h.listeners_start + h.delta_positive)`
      return heavyReads.run(request, { isLight: false, rows: maxSongs }, async read => {
        const [settings] = await read.rows<{ name: string; timezone: string; liveText: string }>(
          sql`select name, timezone, live_text as "liveText" from stations where id = ${station.id}`
        )
        if (!settings) throw new ApiError('not-found')
        const [first, last] = previousMonth(getTimeZone(settings.timezone), engineTimeMs())
        const start = parseReportDay(request.query, 'start_date', first)
        const end = parseReportDay(request.query, 'end_date', last)
        const days = (Date.parse(end.day) - Date.parse(start.day)) / 86_400_000
        if (days < 0) refuseField('end_date', 'out_of_range', 'must not be before start_date.')
        if (days > maxDays)
          refuseField('start_date', 'out_of_range', `must be at most ${maxDays} days before end_date.`)
        const isReported = sql`h.station_id = ${station.id} and h.is_visible
          and h.started_at_ms >= ${momentStartMsFragment(sql, station, start, 0)}
          and h.started_at_ms < ${momentStartMsFragment(sql, station, end, 1)}`
        // Nothing can be reported without the name of the recording. The text for streamers without titles names none;
        // plays from before it was changed have the default one, as a rule.
        const hasTitle = sql`h.title ~ '\\S' and not (h.media_id is null and h.artist = ''
          and lower(trim(h.title)) in (lower(trim(${settings.liveText})), 'live broadcast'))`
        const [untitled] = await read.rows<{ count: number }>(
          sql`select count(*)::integer as count from song_history h where ${isReported} and not (${hasTitle})`
        )
        // A performance is one listener who hears any part of one play (37 CFR part 370).
        const songs = await read.rows<SongRow>(sql`
          select max(h.artist) as artist, max(h.title) as title, max(coalesce(nullif(m.isrc, ''), h.isrc)) as isrc,
            max(h.album) as album, sum(${counted})::bigint as performances
          from song_history h left join media m on m.id = h.media_id
          where ${isReported} and ${hasTitle}
          group by h.song_id order by 1, 2 limit ${maxSongs}`)
        const leftOut = { 'Cuewire-Untitled-Plays': String(untitled?.count ?? 0) }
        const span = `${renderDay(start.day)}-${renderDay(end.day)}_A`
        if (format === 'csv') {
          const rows = songs.map(({ artist, title, isrc, album, performances: count }) =>
            renderCsvLine([settings.name, 'A', artist, title, isrc, album, '', count])
          )
          const reply = renderCsvReply(
            station.shortName.toUpperCase() + span,
            renderCsvLine(columns) + rows.join('')
          )
          return { ...reply, headers: { ...reply.headers, ...leftOut } }
        }
        const lines = songs.map(({ artist, title, isrc, album, performances: count }) =>
          [...[settings.name, 'A', artist, title, isrc, album, ''].map(renderText), count].join('|')
        )
        const name = `${station.shortName.toUpperCase()}${span}.txt`
        return {
          body: [columns.map(renderText).join('|'), ...lines].join('\n'),
          headers: {
            'Content-Type': 'text/plain; charset=utf-8',
            'Content-Disposition': formatContentDisposition(name),
            ...leftOut
          }
        }
      })
    }
  }
)
