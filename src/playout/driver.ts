import type { StationChange } from './change-station.ts'
import { dropLive } from './live.ts'
import { endPlay, goSilent } from './plays.ts'

/** Ends the current play because the station is disabled. */
export async function switchOff(change: StationChange): Promise<void> {
  const { station, play } = change
  await dropLive(change, station.readAtMs)
  if (!play) return
  const endMs = Math.min(station.readAtMs, play.dueAtMs ?? Infinity)
  await endPlay(change, play, Math.max(endMs, play.startedAtMs))
  goSilent(change, null)
}

/** Gives what a broadcaster reported last an end, because the clock takes the station over and no report will end it. */
export async function giveToClock({ tx, station, mark }: StationChange): Promise<void> {
  const { count } = await tx`
    update song_history set due_at_ms = greatest(started_at_ms + duration_ms, ${station.readAtMs}::bigint)
    where station_id = ${station.id} and ended_at_ms is null and due_at_ms is null and not exists (
      select from broadcasts b where b.station_id = ${station.id} and b.ended_at_ms is null)`
  if (count > 0) mark(['playback'])
}
