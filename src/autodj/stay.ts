import { dueAt } from './due.ts'
import { airtimeMs } from './estimate.ts'
import { longestAt } from './fits.ts'
import { interrupts, isPlayable, type Play, type Playlist, type Slot } from './library.ts'
import { batchAt } from './merge.ts'
import { firstOf, poolsOf } from './pools.ts'
import type { Window } from './schedule.ts'
import { indexOf } from './tracks.ts'

/** A row of a queue that a playlist has put there. */
export interface StandingRow extends Play {
  readonly batch: number | null
}

/** Whether its playlist still has the track and plays it in the same way; if not, the row has to go whatever its time is. */
export function isListed({ trackId, isInterrupt }: Play, playlist: Playlist): boolean {
  const isThere = trackId !== null && indexOf(playlist.tracks, trackId) >= 0
  return isThere && isPlayable(playlist) && isInterrupt === interrupts(playlist)
}

/**
 * Whether a row may stay in the slot that it has come to: whether its playlist could still choose its track there, itself not
 * counted. So a queue that was changed in any way plays nothing that would not be played if it were filled anew.
 */
export function mayStay(row: StandingRow, playlist: Playlist, slot: Slot): boolean {
  if (!isListed(row, playlist)) return false
  const { why, window } = dueAt(playlist, row.batch === null ? slot : withoutRefusedOf(row, slot))
  if (why !== null) return false
  if (playlist.source === 'stream') return true
  if (playlist.options.has('merge')) {
    const { pass, indices } = batchAt(playlist, slot)
    return row.pass === pass && (row.batch === null) === (indices.length === 1)
  }
  if (row.batch !== null) return false
  if (airtimeMs(row.durationMs) > longestAt(playlist, slot, window)) return false
  return isChoosable(row, playlist, slot, window)
}

/** An order is kept and a pass gone through whatever leaves the queue in between. */
function isChoosable(
  { trackId, pass }: Play,
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
function withoutRefusedOf({ playlistId, pass }: Play, slot: Slot): Slot {
  const { library } = slot
  const { past } = library
  const refused = past.refused.filter(each => each.playlistId !== playlistId || each.pass !== pass)
  return { ...slot, library: { ...library, past: { ...past, refused } } }
}
