import { longestAt } from './candidate.ts'
import { dueAt } from './due.ts'
import { airtimeMs } from './estimate.ts'
import { interrupts, isPlayable, type HeardPlay, type Playlist, type Slot } from './library.ts'
import { type Batch, batchAt } from './merge.ts'
import { firstOf, poolsOf } from './pools.ts'
import type { Window } from './schedule.ts'
import { at, indexOf } from './tracks.ts'

/** A row of a queue that a playlist has put there. */
export interface StandingRow extends HeardPlay {
  readonly batch: number | null
}

/**
 * Whether its playlist still has the track and plays it in the same way; if not, the row has to go whatever
 * its time is.
 */
export function isListed({ trackId, isInterrupt }: HeardPlay, playlist: Playlist): boolean {
  const isThere = trackId !== null && indexOf(playlist.tracks, trackId) >= 0
  return isThere && isPlayable(playlist) && isInterrupt === interrupts(playlist)
}

/**
 * Whether a row may stay in the slot that it has come to: whether its playlist could still choose its track
 * there, itself not counted. So a queue that was changed in any way plays nothing that would not be played if
 * it were filled anew.
 */
export function isStillEligible(row: StandingRow, playlist: Playlist, slot: Slot): boolean {
  if (!isListed(row, playlist)) return false
  const { why, window } = dueAt(playlist, row.batch === null ? slot : withoutRefusedOf(row, slot))
  if (why !== null) return false
  if (playlist.source === 'stream') return true
  if (playlist.options.has('merge')) {
    const batch = batchAt(playlist, slot)
    const isOne = batch.indices.length === 1
    return row.pass === batch.pass && (row.batch === null) === isOne && isWhole(row, playlist, slot, batch)
  }
  if (row.batch !== null) return false
  if (airtimeMs(row.durationMs) > longestAt(playlist, slot, window)) return false
  return isChoosable(row, playlist, slot, window)
}

/** Whether the rows of a batch are the list as it is now, in its order, but for what an operator took out. */
function isWhole(
  { playlistId, pass, trackId }: HeardPlay,
  { tracks }: Playlist,
  slot: Slot,
  batch: Batch
): boolean {
  const isOfBatch = (play: Pick<HeardPlay, 'playlistId' | 'pass'>) =>
    play.playlistId === playlistId && play.pass === pass
  const rows = [
    trackId,
    ...slot.behind.filter(each => isOfBatch(each) && each.trackId !== trackId).map(each => each.trackId)
  ]
  const standing = new Set(rows)
  const wanted = batch.indices.map(index => at(tracks.ids, index))
  const missing = wanted.length - standing.size
  const refused = slot.library.past.refused.filter(isOfBatch).length
  const order = wanted.filter(id => standing.has(id))
  return missing >= 0 && missing <= refused && order.every((id, index) => id === rows[index])
}

/** An order is kept and a pass gone through whatever leaves the queue in between. */
function isChoosable(
  { trackId, pass }: HeardPlay,
  playlist: Playlist,
  slot: Slot,
  window: Window | null
): boolean {
  const index = indexOf(playlist.tracks, trackId ?? 0)
  const pools = poolsOf(playlist, slot, window, 0)
  const pool = pools.find(each => (each.pass ?? pass) === pass)
  if (!pool) return false
  return playlist.order === 'sequential' ? firstOf(playlist, pool) === index : pool.isIn(index)
}

/** One row of a batch that an operator took out takes none of the others with it. */
function withoutRefusedOf({ playlistId, pass }: HeardPlay, slot: Slot): Slot {
  const { library } = slot
  const { past } = library
  const refused = past.refused.filter(each => each.playlistId !== playlistId || each.pass !== pass)
  return { ...slot, library: { ...library, past: { ...past, refused } } }
}
