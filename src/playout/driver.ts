import type { Tx } from '../db/sql.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { dropLive } from './live.ts'
import { endPlay, goSilent } from './plays.ts'
import { observedBefore, raiseTriggers } from './raise.ts'
import { lockStation, readOpenPlay } from './rows.ts'

/** Ends what is on air because the station is switched off. */
export async function switchOff(tx: Tx, stationId: number): Promise<void> {
  const station = await lockStation(tx, stationId)
  const play = await readOpenPlay(tx, stationId)
  await dropLive(tx, stationId, engineTimeMs())
  if (!station || !play) return
  const endMs = Math.min(engineTimeMs(), play.dueAtMs ?? Infinity)
  await endPlay(tx, station, play, Math.max(endMs, play.startedAtMs))
  await goSilent(tx, station, null)
  // Going off the air is told once it has lasted, so nobody is told now.
  await raiseTriggers(tx, station, observedBefore(station, play), engineTimeMs())
}

/** The clock takes a station over: what a broadcaster reported last gets an end, since no report will tell it. */
export async function giveToClock(tx: Tx, stationId: number): Promise<void> {
  const { count } = await tx`
    update song_history set due_at_ms = greatest(started_at_ms + duration_ms, ${engineTimeMs()}::bigint)
    where station_id = ${stationId} and ended_at_ms is null and due_at_ms is null and not exists (
      select from broadcasts b where b.station_id = ${stationId} and b.ended_at_ms is null)`
  if (count > 0)
    await tx`update stations set revision = next_revision(revision), playback_revision = next_revision(revision) where id = ${stationId}`
}
