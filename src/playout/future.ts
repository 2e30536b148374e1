import type { Tx } from '../db/sql.ts'
import { engineTime, engineTimeMs } from '../runtime/engine-time.ts'
import type { Libraries } from './libraries.ts'
import { countLibraryChange } from './queue.ts'
import { lockStation, readOpenPlay } from './rows.ts'
import { type HeldStation, holdStation } from './situation.ts'

/** What is ahead of the time by less is no fault: processes measure the time, and playouts report in their own. */
export const aheadAtMostMs = 1_000
/** So many plays at a time are pulled back. */
const most = 1_000

/** A station that is taken for a step, with no play that begins after now. */
export type InTime<Held> = Held & {
  /** By how much this process's own time was behind, where that is no inaccuracy: what it noted has to be shifted by it. */
  readonly behindMs: number
  /** It had such a play. */
  readonly isPulledBack: boolean
}

type Taken = Pick<HeldStation, 'station' | 'play'>

/** Takes a station as `holdStation` does; null if it is unknown. */
export function holdInTime(
  tx: Tx,
  stationId: number,
  libraries: Libraries
): Promise<InTime<HeldStation> | null> {
  return takeInTime(tx, known => holdStation(tx, stationId, engineTimeMs(), known ? libraries : null))
}

/** The same where no more than the play on air is needed. */
export function lockInTime(tx: Tx, stationId: number): Promise<InTime<Taken> | null> {
  return takeInTime(tx, async () => {
    const station = await lockStation(tx, stationId)
    return station && { station, play: await readOpenPlay(tx, stationId) }
  })
}

/** `take` is called again without what is `known` where plays have changed. */
async function takeInTime<Held extends Taken>(
  tx: Tx,
  take: (known: boolean) => Promise<Held | null>
): Promise<InTime<Held> | null> {
  const sentAtMs = performance.now()
  const held = await take(true)
  if (!held) return null
  const answeredAtMs = performance.now()
  const offMs = engineTime.note({ sentAtMs, answeredAtMs, timeMs: held.station.readAtMs })
  const isOff = Math.abs(offMs) > aheadAtMostMs + (answeredAtMs - sentAtMs) / 2
  const behindMs = isOff ? Math.round(offMs) : 0
  if (!(await pullBackWhereAhead(tx, held))) return { ...held, behindMs, isPulledBack: false }
  const again = await take(false)
  return again && { ...again, behindMs, isPulledBack: true }
}

/**
 * When something happened, by the time of the step, that this process noted by its own: it cannot be after now, nor before plays that were pulled
 * back to now.
 */
export const momentIn = ({ station, behindMs, isPulledBack }: InTime<Taken>, atMs: number) =>
  isPulledBack ? station.readAtMs : Math.min(atMs + behindMs, station.readAtMs)

/** A silent station may have had a play that ended after now. */
async function pullBackWhereAhead(tx: Tx, { station, play }: Taken): Promise<boolean> {
  const isAhead = play === null || play.startedAtMs > station.readAtMs + aheadAtMostMs
  return isAhead && pullBack(tx, station.id, station.readAtMs)
}

/**
 * Lets plays and broadcasts that begin or end after now do so now: the time went back, or whoever noted them had a wrong one. Without this a station
 * would stand still until its play begins. Returns whether there was anything.
 */
async function pullBack(tx: Tx, stationId: number, nowMs: number): Promise<boolean> {
  const fromMs = nowMs + aheadAtMostMs
  // In the text: for a parameter Postgres expects a tenth of the table, and reads all of it.
  const some = tx.unsafe(`limit ${most}`)
  // If one is ahead, so may be others by less, and would overlap with it.
  const plays = await tx`
    with near as (
      (select id, started_at_ms, ended_at_ms from song_history
        where (station_id, started_at_ms) > (${stationId}, ${nowMs}) and station_id <= ${stationId}
        order by station_id, started_at_ms ${some})
      union
      (select id, started_at_ms, ended_at_ms from song_history
        where station_id between ${stationId} and ${stationId} and ended_at_ms > ${nowMs}
        order by station_id, ended_at_ms desc ${some})
    )
    update song_history set started_at_ms = least(started_at_ms, ${nowMs}), ended_at_ms = case when ended_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end,
      due_at_ms = due_at_ms - greatest(0, started_at_ms - ${nowMs})
    where id in (select id from near)
      and exists (select from near where started_at_ms > ${fromMs} or ended_at_ms > ${fromMs})`
  const broadcasts = await tx`
    update broadcasts set started_at_ms = least(started_at_ms, ${nowMs}), ended_at_ms = case when ended_at_ms > ${nowMs} then ${nowMs} else ended_at_ms end
    where id in (
        select id from broadcasts where station_id between ${stationId} and ${stationId}
        order by station_id, id desc ${some})
      and (ended_at_ms is null and started_at_ms > ${fromMs} or ended_at_ms > ${fromMs})`
  if (plays.count + broadcasts.count === 0) return false
  // Copies of what was played know the wrong times.
  await countLibraryChange(tx, stationId)
  await tx`update stations set revision = next_revision(revision), playback_revision = next_revision(revision), live_revision = next_revision(revision)
    where id = ${stationId}`
  return true
}
