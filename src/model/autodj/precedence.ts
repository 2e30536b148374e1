import type { Decision } from './candidates.ts'
import { hasBatchBegun, isMovable, isRepeat } from './eligibility.ts'
import { findInterrupters } from './interrupt.ts'
import { type PlayOrRow, isExpiredRequest, type Playlist, regularPlaylists } from './library.ts'
import type { LogEntry, MoveReason, SlotReason } from './log-entry.ts'
import { buckets, pickForSlot, pickFrom, rankOf } from './pick.ts'
import { followsItself, previousPlay } from './previous-play.ts'
import {
  type DraftRow,
  findPlaylist,
  hasRoom,
  isInterruptBlocked,
  slotRandom,
  nextSlot,
  planDecision,
  planRow,
  type QueueDraft,
  withdrawBatch
} from './queue-draft.ts'
import { decideToPlay, findDueRequest, isRequestLimitReached } from './requests.ts'

/** Plans an interrupt that is due in the next slot. Returns false if there is none. */
export function insertInterrupt(draft: QueueDraft): boolean {
  if (isInterruptBlocked(draft)) return false
  const slot = nextSlot(draft)
  const begun = findBegunBatch(draft)
  const playlists = findInterrupters(slot).filter(playlist => !begun || maySplit(draft, playlist, begun))
  if (playlists.length === 0) return false
  const log = [logSlot(draft, 'interrupt')]
  const decision = pickFrom(slot, { playlists, buckets, mayRepeat: true }, slotRandom(draft), log)
  if (decision) insertFirst(draft, decision, 'window_open')
  return decision !== null
}

/** The next row of a batch that has begun, if only interrupts precede it. */
function findBegunBatch(draft: QueueDraft): DraftRow | null {
  let batch: number | null = null
  for (const row of draft.remaining) {
    if (row.batch !== null && row.batch === batch) continue
    if (hasBatchBegun(draft, row)) return row
    if (!row.isInterrupt) return null
    batch = row.batch
  }
  return null
}

/** Jingles never split a batch. An interrupting batch is only split by playlists of higher rank. */
function maySplit(draft: QueueDraft, playlist: Playlist, row: DraftRow): boolean {
  const own = row.isInterrupt ? findPlaylist(draft, row) : undefined
  return playlist.type !== 'once_per_x_songs' && (!own || rankOf(playlist) < rankOf(own))
}

/** Plans a row unless something takes precedence: rotation replaces it, anything else goes first. */
export function keepOrPreempt(draft: QueueDraft, row: DraftRow): void {
  const preferred = row.isInterrupt ? null : findPreferred(draft, row)
  if (preferred === 'rotation') withdrawBatch(draft, row)
  else if (preferred && hasRoom(draft)) insertFirst(draft, preferred.decision, preferred.why)
  else planRow(draft, row)
}

function findPreferred(
  draft: QueueDraft,
  row: DraftRow
): { decision: Decision; why: MoveReason } | 'rotation' | null {
  const slot = nextSlot(draft)
  const { picked } = findDueRequest(slot)
  if (picked)
    return { decision: decideToPlay(picked, [logSlot(draft, 'request_due')]), why: 'request_inserted' }
  const own = findPlaylist(draft, row)
  if (own?.type === 'default' && findInterrupters(slot).some(({ type }) => type === 'default'))
    return 'rotation'
  const higher = buckets.slice(0, own && rankOf(own))
  const options = { playlists: regularPlaylists(slot), buckets: higher, mayRepeat: false }
  const decision = pickFrom(slot, options, slotRandom(draft), [logSlot(draft, 'window_open')])
  if (!decision) return null
  const isRotation = findPlaylist(draft, decision.tracks[0])?.type === 'default'
  return isRotation ? 'rotation' : { decision, why: 'window_open' }
}

/** Plans a decision next. A movable row of the same rank is moved to the front instead of adding a row. */
function insertFirst(draft: QueueDraft, decision: Decision, why: MoveReason): void {
  const [track] = decision.tracks
  const rank = rankOfPlay(draft, track)
  const mayRepeat = decision.isForced || followsItself(nextSlot(draft), track)
  const equivalent = draft.remaining.find(
    row =>
      rank !== null &&
      rankOfPlay(draft, row) === rank &&
      isMovable(draft, row) &&
      (mayRepeat || !isRepeat(draft, row))
  )
  draft.moveReason ??= why
  if (equivalent) planRow(draft, equivalent)
  else planDecision(draft, decision)
}

/** The rank of the playlist of a play; interrupts and regular plays differ. Null without a playlist. */
function rankOfPlay(draft: QueueDraft, play: Pick<PlayOrRow, 'playlistId' | 'isInterrupt'>): number | null {
  const playlist = findPlaylist(draft, play)
  return playlist ? rankOf(playlist) + (play.isInterrupt ? 0 : buckets.length + 1) : null
}

/**
 * Plans the row of a request. If it is too early, exceeds the limit of consecutive requests or repeats the
 * previous song, another row goes first. If there is none, the request waits again.
 */
export function planRequest(draft: QueueDraft, row: DraftRow): void {
  const slot = nextSlot(draft)
  const request = slot.library.requests.find(({ id }) => id === row.requestId)
  if (request && isExpiredRequest(request, slot)) return withdrawBatch(draft, row)
  const { song } = row.song
  const mustWait = (request && request.dueAtMs > slot.atMs) || isRequestLimitReached(slot)
  if (!mustWait && !followsItself(slot, row)) return planRow(draft, row)
  // Jingles do not separate two plays of a song, but one of them may go first.
  const isOther = (play: Pick<PlayOrRow, 'song' | 'isVisible'>) =>
    play.song.song !== song && (play.isVisible || mustWait || previousPlay(slot)?.isVisible === true)
  const separator = draft.remaining.find(each => isOther(each) && maySeparate(draft, each))
  if (separator) {
    draft.remaining = [separator, ...draft.remaining.filter(each => each !== separator)]
    return
  }
  const decision = pickForSlot(slot, slotRandom(draft))
  if (decision && isOther(decision.tracks[0])) planDecision(draft, decision)
  else if (mustWait) withdrawBatch(draft, row)
  else planRow(draft, row)
}

/** Whether a row may be moved between the previous play and a request. */
function maySeparate(draft: QueueDraft, row: DraftRow): boolean {
  if (row.requestId !== null || row.batch !== null) return false
  return row.isManual || (isMovable(draft, row) && !isRepeat(draft, row))
}

function logSlot({ atMs }: QueueDraft, why: SlotReason): LogEntry {
  return { step: 'slot', at: Math.floor(atMs / 1_000), why }
}
