import { dueInterrupts } from './interrupt.ts'
import { interrupts, isSequence, lastBefore } from './library.ts'
import { pickFrom } from './pick.ts'
import { buckets, isOf } from './pools.ts'
import { recentAt, tierOf } from './recent.ts'
import { dueRequest } from './requests.ts'
import { isStillEligible } from './stay.ts'
import { playlistOf, randomFor, type Row, slotOf, type Walk } from './walk.ts'

/** Whether nothing but a person takes a row out of its place. */
export function isFixed(walk: Walk, row: Row): boolean {
  return row.isSent || row.isManual || isBegun(walk, row)
}

/** Whether a row is of a batch that has begun, and so is not split. A batch has a pass of its own. */
export function isBegun({ placed, situation }: Walk, { batch, playlistId, pass }: Row): boolean {
  if (batch === null) return false
  const { plays } = situation.library.past
  return (
    placed.some(row => row.batch === batch) ||
    plays.some(play => play.playlistId === playlistId && play.pass === pass)
  )
}

/** Whether its playlist could choose the row for the next slot. */
export function isAllowed(walk: Walk, row: Row): boolean {
  const playlist = playlistOf(walk, row)
  return playlist !== undefined && isStillEligible(row, playlist, slotOf(walk))
}

/** Whether a row of a playlist may be moved to the next slot. */
export function isMovable(walk: Walk, row: Row): boolean {
  return !isFixed(walk, row) && row.requestId === null && isAllowed(walk, row)
}

/** Whether a row repeats the song before the next slot, though not on purpose. */
export function isRepeating(walk: Walk, row: Row): boolean {
  const last = lastBefore(slotOf(walk))
  if (last?.song.song !== row.song.song || row.batch !== null) return false
  const own = last.playlistId === row.playlistId ? playlistOf(walk, row) : undefined
  return !own || !isSequence(own)
}

/** Whether something else suits a row's slot better, so that the row is not needed. */
export function isRedundant(walk: Walk, row: Row): boolean {
  return isRepeating(walk, row) ? isReplaceable(walk, row) : isBeaten(walk, row)
}

/**
 * Whether a row of the rotation clashes with what is heard before it, while there is now something that does
 * so less: songs were added, or what it clashes with came nearer.
 */
function isBeaten(walk: Walk, row: Row): boolean {
  const own = playlistOf(walk, row)
  if (own?.type !== 'default' || row.isInterrupt || isSequence(own)) return false
  if (!own.avoidsDuplicates || own.source !== 'songs') return false
  const slot = { ...slotOf(walk), behind: [] }
  const tier = tierOf(row.song, recentAt(slot))
  if (tier === 1) return false
  const playlists = slot.library.playlists.filter(playlist => !interrupts(playlist))
  const bucket = buckets.filter(each => isOf(own, each))
  const decision = pickFrom(slot, { playlists, buckets: bucket, mayRepeat: false }, randomFor(walk), [])
  return decision !== null && (decision.tier ?? tier) < tier
}

/** Whether a row that repeats the song before it has an alternative. */
function isReplaceable(walk: Walk, row: Row): boolean {
  const slot = slotOf(walk)
  if (!row.isInterrupt && dueRequest(slot).picked) return true
  const playlists = row.isInterrupt
    ? dueInterrupts(slot)
    : slot.library.playlists.filter(playlist => !interrupts(playlist))
  return pickFrom(slot, { playlists, buckets, mayRepeat: false }, randomFor(walk), []) !== null
}
