import { ApiError } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { changeStation } from '../change-station.ts'
import type { EngineServices } from '../services.ts'
import { recordDjDisconnect } from './broadcasts.ts'
import { endPlayStatement, markSilent } from './plays.ts'
import { recordTrackReport } from './report-track.ts'

/** The state of a station's stream at a time (Unix milliseconds). */
export interface StreamObservation {
  /** A source is connected. */
  readonly isConnected: boolean
  readonly artist: string
  readonly title: string
  readonly atMs: number
}

/** A stream without a source for this long has ended; a shorter gap may be an encoder that reconnects. */
const reconnectWithinMs = 30_000

/** Records what a streaming server reports: its title without a playout, the end of a broadcast. */
export async function recordStreamObservation(
  services: EngineServices,
  stationId: number,
  seen: StreamObservation
) {
  const station = await readShownStation(services.sql, stationId)
  if (!station) return
  const { isReported, isLive, unheardSinceMs, playing } = station
  if (isLive && seen.isConnected !== (unheardSinceMs === null))
    await services.sql`
      update broadcasts set unheard_since_ms = ${seen.isConnected ? null : seen.atMs}
      where station_id = ${stationId} and ended_at_ms is null`
  const isOver = unheardSinceMs !== null && seen.atMs - unheardSinceMs >= reconnectWithinMs
  if (isLive && !seen.isConnected && isOver)
    await recordDjDisconnect(services, stationId, { username: null, atMs: seen.atMs })
  if (!isReported) return
  if (!seen.isConnected) {
    if (playing !== null && !isLive) await endShownPlay(services, stationId, seen.atMs)
    return
  }
  const { artist } = seen
  const title = artist === '' && seen.title === '' ? station.liveText : seen.title
  if (playing?.artist === artist && playing.title === title) return
  const song = { queueId: null, mediaId: null, playlistId: null, artist, title }
  const report = { ...song, startedAtMs: seen.atMs, isTimed: false }
  await recordTrackReport(services, stationId, report).catch(ignoreConflicts)
}

interface ShownStation {
  readonly isReported: boolean
  readonly liveText: string
  readonly isLive: boolean
  readonly unheardSinceMs: number | null
  readonly playing: { readonly artist: string; readonly title: string } | null
}

async function readShownStation(sql: Sql, stationId: number): Promise<ShownStation | undefined> {
  const [station] = await sql<ShownStation[]>`
    select s.is_enabled and s.backend = 'none' as "isReported", s.live_text as "liveText", b.id is not null as "isLive",
      b.unheard_since_ms as "unheardSinceMs",
      case when h.id is not null then jsonb_build_object('artist', h.artist, 'title', h.title) end as playing
    from stations s left join broadcasts b on b.station_id = s.id and b.ended_at_ms is null
    left join song_history h on h.station_id = s.id and h.ended_at_ms is null
    where s.id = ${stationId}`
  return station
}

async function endShownPlay(services: EngineServices, stationId: number, atMs: number): Promise<void> {
  await changeStation(services, stationId, async change => {
    const { station, play } = change
    if (!play || station.enabledBackend !== 'none' || station.liveSinceMs !== null) return
    const endMs = Math.max(change.momentOf(atMs), play.startedAtMs)
    change.happenedAt(endMs)
    await endPlayStatement(change, play, endMs)
    markSilent(change)
  }).catch(ignoreConflicts)
}

/** The station was deleted or changed its backend meanwhile. */
function ignoreConflicts(error: unknown): void {
  const isOther = error instanceof ApiError && (error.kind === 'not-found' || error.kind === 'conflict')
  if (!isOther) throw error
}
