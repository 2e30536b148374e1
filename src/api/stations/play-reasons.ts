import type { DecisionLogEntry } from '../../model/autodj/log-entry.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { parsePathId } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, namedSchema, string, unixSeconds } from '../core/schemas.ts'

const playReasonsSchema = namedSchema(
  'PlayReasons',
  'A play, and why the AutoDJ chose it.',
  exactObject({
    sh_id: int64,
    played_at: unixSeconds,
    artist: string,
    title: string,
    playlist: string,
    streamer: string,
    is_request: boolean,
    is_known: { ...boolean, description: 'False: it was not in the queue, or played more than 30 days ago.' },
    log: {
      ...arrayOf({}),
      description:
        'Why the AutoDJ chose it, as in the queue. After a week without the playlists and songs it skipped.'
    }
  })
)

interface ReasonsRow {
  readonly sh_id: number
  readonly played_at: number
  readonly artist: string
  readonly title: string
  readonly playlist: string
  readonly streamer: string
  readonly is_request: boolean
  readonly log: readonly DecisionLogEntry[] | null
}

export const playReasonsRoute = apiRoute(
  'GET',
  '/api/station/:station_id/history/:id/reasons',
  'view station reports',
  {
    id: 'getPlayReasons',
    tag: 'History',
    summary: 'Why a song of the history was played',
    response: playReasonsSchema,
    async handle(request, { reads: sql }) {
      const [row] = await sql<ReasonsRow[]>`
        select h.id as sh_id, h.started_at_ms / 1000 as played_at, h.artist, h.title, h.playlist, h.streamer, h.is_request,
          coalesce(
            (select q.log from queue q where q.history_id = h.id limit 1),
            (select r.log from play_reasons r where r.history_id = h.id)) as log
        from song_history h
        where h.id = ${parsePathId(request.params['id'])} and h.station_id = ${getRequestStation(request).id}`
      if (!row) throw new ApiError('not-found')
      const { log, ...play } = row
      return jsonReply({ ...play, is_known: log !== null, log: log ?? [] })
    }
  }
)
