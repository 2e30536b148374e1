import { previewQueue } from '../../engine/queue/preview.ts'
import type { SimulatedPlay } from '../../model/autodj/simulate.ts'
import { renderSongObject } from '../../model/station/now-playing.ts'
import type { ShownSong } from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import { songFragment } from '../../stores/db/snapshots.ts'
import { parseQueryInteger } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation, type PathStation } from '../core/route.ts'
import { arrayOf, schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

const maxHours = 168
const maxRows = 2_000
const hourMs = 3_600_000

/** A preview is CPU-bound, so one is computed at a time. */
const previews = openFairSemaphore({ total: 1 })

export const queuePreviewRoute = apiRoute(
  'GET',
  '/api/station/:station_id/queue/preview',
  'view station management',
  {
    id: 'previewQueue',
    tag: 'Queue',
    summary: 'Simulate what will play, for a time or a number of songs; the queue is not changed',
    query: {
      hours: {
        type: 'integer',
        minimum: 1,
        maximum: maxHours,
        description:
          'Hours to simulate; the default is 24. The result is shorter if that takes over ten seconds.'
      },
      rows: { type: 'integer', minimum: 1, maximum: maxRows, description: 'Maximum number of plays.' }
    },
    response: arrayOf(schemaRef('PreviewItem')),
    async handle(request, services) {
      const station = getRequestStation(request)
      const hours = parseQueryInteger(request.query, 'hours', { least: 1, most: maxHours, fallback: 24 })
      const rows = parseQueryInteger(request.query, 'rows', { least: 1, most: maxRows, fallback: maxRows })
      const plays = await previews.run(() =>
        previewQueue(services.reads, station.id, {
          untilMs: engineTimeMs() + hours * hourMs,
          playsAtMost: rows,
          isWanted: request.isOpen
        })
      )
      if (!plays) throw new ApiError('not-found')
      return jsonReply(await render(services, station, plays))
    }
  }
)

async function render(services: ApiServices, station: PathStation, plays: readonly SimulatedPlay[]) {
  const { reads: sql, config } = services
  const mediaIds = [...new Set(plays.flatMap(({ play }) => play?.mediaId ?? []))]
  const [media, playlists, customFields] = await Promise.all([
    sql<{ id: number; song: ShownSong }[]>`
      select m.id, ${songFragment(sql)} as song from media m where m.id = any(${mediaIds}::bigint[])`,
    sql<{ id: number; name: string }[]>`select id, name from playlists where station_id = ${station.id}`,
    sql<
      { id: number; shortName: string }[]
    >`select id, short_name as "shortName" from custom_fields order by id`
  ])
  const songs = new Map(media.map(({ id, song }) => [id, song]))
  const names = new Map(playlists.map(({ id, name }) => [id, name]))
  return plays.map(({ play, startsAtMs, endsAtMs, log }) => {
    const song = songs.get(play?.mediaId ?? 0)
    return {
      played_at: Math.floor(startsAtMs / 1_000),
      ends_at: Math.floor(endsAtMs / 1_000),
      duration: Math.floor((play?.durationMs ?? 0) / 1_000),
      playlist: names.get(play?.playlistId ?? 0) ?? '',
      is_request: play !== null && play.requestId !== null,
      is_jingle: play !== null && !play.isVisible,
      song: song ? renderSongObject(song, { ...station, customFields }, 'rest', config.BASE_URL) : null,
      log
    }
  })
}
