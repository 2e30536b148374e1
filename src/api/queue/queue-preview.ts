import pLimit from 'p-limit'

import type { SimulatedPlay } from '../../autodj/simulate.ts'
import { songOf } from '../../db/snapshots.ts'
import { previewStation } from '../../playout/queue/preview.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError } from '../../runtime/errors.ts'
import { renderSong } from '../../station/now-playing.ts'
import type { Song } from '../../station/state.ts'
import { wholeNumber } from '../core/parse.ts'
import { type ApiRoute, json, type StationRow, stationOf } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'

const hoursAtMost = 168
const rowsAtMost = 2_000
const hourMs = 3_600_000

/** One at a time: it is work for a processor that others need as well. */
const oneAtATime = pLimit(1)

const preview: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/queue/preview',
  access: 'view station management',
  operation: {
    id: 'previewQueue',
    tag: 'Queue',
    summary: 'What will play if nothing is changed, for a time or a number of songs; changes nothing itself',
    query: {
      hours: {
        type: 'integer',
        minimum: 1,
        maximum: hoursAtMost,
        description:
          'How far to look; 24 unless told. Ends early where computing it takes more than ten seconds.'
      },
      rows: { type: 'integer', minimum: 1, maximum: rowsAtMost, description: 'How many plays at most.' }
    },
    answer: { type: 'array', items: { $ref: '#/components/schemas/PreviewItem' } }
  },
  async handle(request, services) {
    const station = stationOf(request)
    const hours = wholeNumber(request.query, 'hours', { least: 1, most: hoursAtMost, fallback: 24 })
    const rows = wholeNumber(request.query, 'rows', { least: 1, most: rowsAtMost, fallback: rowsAtMost })
    const plays = await oneAtATime(() =>
      previewStation(services.reads, station.id, {
        untilMs: engineTimeMs() + hours * hourMs,
        playsAtMost: rows,
        isWanted: request.isOpen
      })
    )
    if (!plays) throw new ApiError('not-found')
    return json(await render(services, station, plays))
  }
}

interface Named {
  readonly id: number
  readonly song: Song
}

async function render(
  { reads: sql, config }: ApiServices,
  station: StationRow,
  plays: readonly SimulatedPlay[]
) {
  const mediaIds = [...new Set(plays.flatMap(({ play }) => play?.mediaId ?? []))]
  const [media, playlists, customFields] = await Promise.all([
    sql<Named[]>`select m.id, ${songOf(sql)} as song from media m where m.id = any(${mediaIds}::bigint[])`,
    sql<{ id: number; name: string }[]>`select id, name from playlists where station_id = ${station.id}`,
    sql<{ id: number; shortName: string }[]>`
      select id, short_name as "shortName" from custom_fields order by id`
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
      song: song ? renderSong(song, { ...station, customFields }, 'rest', config.BASE_URL) : null,
      log
    }
  })
}

export const queuePreviewRoutes = [preview]
