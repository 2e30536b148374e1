import { isExpiredRequest } from './estimate.ts'
import { dueInterrupts } from './interrupt.ts'
import { interrupts, lastBefore, type HeardPlay, type Playlist } from './library.ts'
import type { Decision, LogEntry, SlotReason } from './log-entry.ts'
import { pick, pickFrom } from './pick.ts'
import { buckets, rankOf } from './pools.ts'
import { dueRequest, isRunFull, requested } from './requests.ts'
import { isBegun, isMovable, isRepeating } from './standing.ts'
import {
  isClosed,
  isOpen,
  type MoveReason,
  placeAll,
  placeNew,
  playlistOf,
  randomFor,
  type Row,
  slotOf,
  removeFromWalk,
  type Walk,
  withdraw
} from './walk.ts'

/** Places what cuts in and is due at the next slot, if anything; gives whether it did. */
export function placeInterrupt(walk: Walk): boolean {
  if (isClosed(walk)) return false
  const slot = slotOf(walk)
  const begun = begunBatch(walk)
  const due = dueInterrupts(slot).filter(playlist => !begun || splits(walk, playlist, begun))
  if (due.length === 0) return false
  const log = [slotEntry(walk, 'interrupt')]
  const decision = pickFrom(slot, { playlists: due, buckets, mayRepeat: true }, randomFor(walk), log)
  if (decision) placeFirst(walk, decision, 'window_open')
  return decision !== null
}

/** What comes next of a batch that has begun, if only rows that cut in stand before it: they split it. */
function begunBatch(walk: Walk): Row | null {
  let batch: number | null = null
  for (const row of walk.left) {
    if (row.batch !== null && row.batch === batch) continue
    if (isBegun(walk, row)) return row
    if (!row.isInterrupt) return null
    batch = row.batch
  }
  return null
}

/**
 * Jingles do not split a batch that has begun, and a batch that has cut in only gives way to what is picked
 * before it.
 */
function splits(walk: Walk, playlist: Playlist, row: Row): boolean {
  const own = row.isInterrupt ? playlistOf(walk, row) : undefined
  return playlist.type !== 'once_per_x_songs' && (!own || rankOf(playlist) < rankOf(own))
}

/**
 * Places a row unless there is something better for its slot. Scheduled rotation takes the place of the row,
 * everything else goes in front of it; then it has to be looked at again.
 */
export function placeOrYield(walk: Walk, row: Row): void {
  const better = row.isInterrupt ? null : betterThan(walk, row)
  if (better === 'rotation') withdraw(walk, row)
  else if (better && isOpen(walk)) placeFirst(walk, better.decision, better.why)
  else placeAll(walk, removeFromWalk(walk, row))
}

function betterThan(walk: Walk, row: Row): { decision: Decision; why: MoveReason } | 'rotation' | null {
  const slot = slotOf(walk)
  const { picked } = dueRequest(slot)
  if (picked)
    return { decision: requested(picked, [slotEntry(walk, 'request_due')]), why: 'request_inserted' }
  const own = playlistOf(walk, row)
  if (own?.type === 'default' && dueInterrupts(slot).some(({ type }) => type === 'default')) return 'rotation'
  const above = buckets.slice(0, own && rankOf(own))
  const playlists = slot.library.playlists.filter(playlist => !interrupts(playlist))
  const log = [slotEntry(walk, 'window_open')]
  const decision = pickFrom(slot, { playlists, buckets: above, mayRepeat: false }, randomFor(walk), log)
  if (!decision) return null
  const isRotation = playlistOf(walk, decision.tracks[0])?.type === 'default'
  return isRotation ? 'rotation' : { decision, why: 'window_open' }
}

/** Places what was decided; a row that stands in the queue by the same rule is moved to the front instead. */
function placeFirst(walk: Walk, decision: Decision, why: MoveReason): void {
  const [track] = decision.tracks
  const rank = rankOfPlay(walk, track)
  const mayRepeat = decision.isForced || track.song.song === lastBefore(slotOf(walk))?.song.song
  const waiting = walk.left.find(
    row =>
      rank !== null &&
      rankOfPlay(walk, row) === rank &&
      isMovable(walk, row) &&
      (mayRepeat || !isRepeating(walk, row))
  )
  walk.movedWhy ??= why
  if (waiting) placeAll(walk, removeFromWalk(walk, waiting))
  else placeNew(walk, decision)
}

/** Of two playlists of one bucket, which comes first is a matter of chance; not so here. */
function rankOfPlay(walk: Walk, play: Pick<HeardPlay, 'playlistId' | 'isInterrupt'>): number | null {
  const playlist = playlistOf(walk, play)
  return playlist ? rankOf(playlist) + (play.isInterrupt ? 0 : buckets.length + 1) : null
}

/**
 * Places a request that is next; but not before its time, nor behind as many others as may follow each other,
 * nor behind its own song. All that comes about when something before it leaves. Then something else is put
 * in front, and where nothing is left, it waits again for a slot.
 */
export function placeRequest(walk: Walk, row: Row): void {
  const slot = slotOf(walk)
  const request = slot.library.requests.find(({ id }) => id === row.requestId)
  if (request && isExpiredRequest(request, slot)) return withdraw(walk, row)
  const { song } = row.song
  const mustWait = (request && request.dueAtMs > slot.atMs) || isRunFull(slot)
  if (!mustWait && song !== lastBefore(slot)?.song.song) return placeAll(walk, removeFromWalk(walk, row))
  const between = walk.left.find(each => each.song.song !== song && mayPart(walk, each))
  if (between) {
    walk.left = [...removeFromWalk(walk, between), ...walk.left]
    return
  }
  const decision = pick(slot, randomFor(walk))
  if (decision && decision.tracks[0].song.song !== song) placeNew(walk, decision)
  else if (mustWait) withdraw(walk, row)
  else placeAll(walk, removeFromWalk(walk, row))
}

function mayPart(walk: Walk, row: Row): boolean {
  if (row.requestId !== null || row.batch !== null) return false
  return row.isManual || (isMovable(walk, row) && !isRepeating(walk, row))
}

function slotEntry({ atMs }: Walk, why: SlotReason): LogEntry {
  return { step: 'slot', at: Math.floor(atMs / 1_000), why }
}
