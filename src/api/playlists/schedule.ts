import { type ScheduleItem, windowsBetween } from '../../autodj/schedule.ts'
import { openZone } from '../../autodj/zone.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { TooManyRequests } from '../../runtime/errors.ts'
import { findVisibleStation, publicRequestOf } from '../auth/public-request.ts'
import { localTime } from '../core/moments.ts'
import { wholeNumber } from '../core/parse.ts'
import { type ApiRoute, json } from '../core/route.ts'
import { openAddressBuckets } from '../core/token-buckets.ts'

const dayMs = 86_400_000
const daysAtMost = 31
const rowsAtMost = 500

/** By address: what is on changes rarely. */
const looks = openAddressBuckets(10, 100)

interface ScheduledPlaylist {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly items: ScheduleItem[]
}

const list: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/schedule',
  access: 'public',
  needsAddress: true,
  operation: {
    id: 'listSchedule',
    tag: 'Schedule',
    summary: 'What is on when: the openings of scheduled playlists, those that are on now first',
    query: {
      days: {
        type: 'integer',
        minimum: 1,
        maximum: daysAtMost,
        description: 'How far to look; 7 unless told.'
      },
      now: { type: 'integer', description: 'Unix seconds to begin at, instead of now.' },
      rows: {
        type: 'integer',
        minimum: 1,
        maximum: rowsAtMost,
        description: 'How many at most; 100 unless told.'
      }
    },
    answer: { type: 'array', items: { $ref: '#/components/schemas/ScheduleEntry' } },
    errors: [429]
  },
  async handle(request, services) {
    const { publicReads: sql } = services
    const { stationId, profile } = await findVisibleStation(publicRequestOf(request), services)
    const wait = looks.take(request.address)
    if (wait > 0) throw new TooManyRequests(wait)
    const nowSeconds = Math.floor(engineTimeMs() / 1_000)
    const days = wholeNumber(request.query, 'days', { least: 1, most: daysAtMost, fallback: 7 })
    const rows = wholeNumber(request.query, 'rows', { least: 1, most: rowsAtMost, fallback: 100 })
    const fromMs =
      1_000 * wholeNumber(request.query, 'now', { least: 0, most: 9_999_999_999, fallback: nowSeconds })
    const playlists = await sql<ScheduledPlaylist[]>`
      select id, name, type, schedule_items as items from playlists
      where station_id = ${stationId} and is_enabled and type <> 'custom' and not is_jingle
        and jsonb_array_length(schedule_items) > 0
      order by id`
    const zone = openZone(profile.timezone)
    const entries = playlists
      .flatMap(playlist =>
        windowsBetween(zone, playlist.items, fromMs, fromMs + days * dayMs).map(window => ({
          playlist,
          window
        }))
      )
      .toSorted((a, b) => a.window.startMs - b.window.startMs || a.playlist.id - b.playlist.id)
      .slice(0, rows)
    return json(
      entries.map(({ playlist, window }) => ({
        id: window.item.id,
        type: 'playlist',
        name: playlist.name,
        title: playlist.name,
        description: `Playlist: ${playlist.name}`,
        start_timestamp: Math.floor(window.startMs / 1_000),
        start: localTime(zone, window.startMs),
        end_timestamp: Math.floor(window.endMs / 1_000),
        end: localTime(zone, window.endMs),
        is_now: window.startMs <= fromMs && fromMs < window.endMs
      }))
    )
  }
}

export const scheduleRoutes = [list]
