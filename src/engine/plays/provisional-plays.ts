import { airtimeMs } from '../../model/autodj/durations.ts'
import type { Tx } from '../../stores/db/sql.ts'
import type { StationChange } from '../change-station.ts'
import type { UnplayedRow } from '../queue-context.ts'
import { nextPlayAtMs, type OpenPlay } from '../station-facts.ts'
import { endPlayStatement, markSilent, startQueueRowStatement } from './plays.ts'

/** The clock waits this long for a late report. Milliseconds. */
export const reportTimeoutMs = 5_000

/** A play whose end no report has confirmed goes on for this long, before the station is silent. */
const unreportedAfterMs = 20_000

/** A playout that called this shortly before the end of a song is still playing. */
const seenBeforeMs = 20_000

/** When the clock has to check a reported play; null if its length is unknown. */
export function reportDeadlineMs(startedAtMs: number, durationMs: number): number | null {
  return durationMs === 0 ? null : startedAtMs + durationMs + reportTimeoutMs
}

/**
 * Ends a play that a report should have ended. If the playout is connected and has the next song, that song
 * starts provisionally; otherwise the end is postponed for a while, then the station is silent.
 */
export async function endUnreportedPlay(
  change: StationChange,
  play: OpenPlay,
  queue: readonly UnplayedRow[],
  stationOverlapMs: number
) {
  const { tx, station } = change
  const nowMs = station.readAtMs
  const endMs = Math.min(nowMs, endOf(play, stationOverlapMs))
  const row = queue.find(each => each.isSent && !each.isInterrupt)
  if (station.enabledBackend === 'liquidsoap') {
    if (row && nowMs < endMs + airtimeMs(row.durationMs) && (await isConnected(tx, station.id, endMs))) {
      await confirmProvisionalPlay(tx, play)
      await endPlayStatement(change, play, endMs)
      await startQueueRowStatement(change, row, provisionalAirtime(row, endMs))
      return 'ended'
    }
    if (play.durationMs > 0 && nowMs < endMs + unreportedAfterMs) {
      await movePlayEnd(change, play, endMs + unreportedAfterMs)
      return 'postponed'
    }
  }
  await confirmProvisionalPlay(tx, play)
  await endPlayStatement(change, play, endMs)
  markSilent(change)
  return 'ended'
}

/** The end of a song, or the time when a play of unknown length should have been followed by another. */
function endOf(play: OpenPlay, stationOverlapMs: number): number {
  const endMs =
    play.durationMs > 0 ? nextPlayAtMs(play, stationOverlapMs) : (play.dueAtMs ?? Infinity) - reportTimeoutMs
  return Math.max(endMs, play.startedAtMs)
}

const provisionalAirtime = ({ durationMs }: UnplayedRow, atMs: number) => ({
  atMs,
  dueAtMs: reportDeadlineMs(atMs, durationMs),
  isProvisional: true
})

async function isConnected(tx: Tx, stationId: number, endMs: number): Promise<boolean> {
  const [playout] = await tx<{ seenAtMs: number }[]>`
    select seen_at_ms as "seenAtMs" from playouts where station_id = ${stationId} and left_at_ms is null`
  return playout !== undefined && playout.seenAtMs >= endMs - seenBeforeMs
}

/** Moves the time at which a play has to end. */
export async function movePlayEnd(
  { tx, mark }: StationChange,
  play: OpenPlay,
  dueAtMs: number
): Promise<void> {
  mark(['playback'])
  await tx`update song_history set due_at_ms = ${dueAtMs} where id = ${play.id}`
}

/** Updates the track and the request of a provisional play, once it counts as played. */
export async function confirmProvisionalPlay(
  tx: Tx,
  { id, isProvisional }: Pick<OpenPlay, 'id' | 'isProvisional'>
) {
  if (!isProvisional) return
  await tx`
    with play as (
      update song_history set is_bridged = false where id = ${id}
      returning track_id, pass, request_id, started_at_ms
    ), heard as (
      update playlist_tracks t set last_pass = greatest(t.last_pass, play.pass), last_aired_ms = play.started_at_ms
      from play where t.id = play.track_id
    )
    update requests r set state = 'aired', ended_at_ms = play.started_at_ms from play where r.id = play.request_id`
}
