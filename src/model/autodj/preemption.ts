import type { SlotDecision } from './candidates.ts'
import { hasBatchBegun, isMovableRow, isRepeatedRow } from './eligibility.ts'
import { findInterruptingPlaylists } from './interrupt.ts'
import { type PlayOrRow, isExpiredRequest, type Playlist, listRegularPlaylists } from './library.ts'
import type { DecisionLogEntry, MoveReason, SlotReason } from './log-entry.ts'
import { playlistRanks, pickForSlot, pickFromPlaylists, rankIndexOf } from './pick.ts'
import { repeatsPreviousSong, findPreviousPlay } from './previous-play.ts'
import {
  type DraftRow,
  findPlaylistOfRow,
  hasQueueRoom,
  isInterruptBlocked,
  openSlotRandom,
  nextSlot,
  appendDecision,
  appendRow,
  type QueueDraft,
  withdrawBatch
} from './queue-draft.ts'
import { decideToPlayRequest, findDueRequest, isRequestLimitReached } from './requests.ts'

/** Plans an interrupt that is due in the next slot. Returns false if there is none. */
export function planDueInterrupt(draft: QueueDraft): boolean {
  if (isInterruptBlocked(draft)) return false
  const slot = nextSlot(draft)
  const begun = findBegunBatch(draft)
  const playlists = findInterruptingPlaylists(slot).filter(
    playlist => !begun || maySplit(draft, playlist, begun)
  )
  if (playlists.length === 0) return false
  const log = [logSlot(draft, 'interrupt')]
  const decision = pickFromPlaylists(
    slot,
    { playlists, buckets: playlistRanks, mayRepeat: true },
    openSlotRandom(draft),
    log
  )
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
  const own = row.isInterrupt ? findPlaylistOfRow(draft, row) : undefined
  return playlist.type !== 'once_per_x_songs' && (!own || rankIndexOf(playlist) < rankIndexOf(own))
}

/** Plans a row unless something takes precedence: rotation replaces it, anything else goes first. */
export function planRowOrPreempt(draft: QueueDraft, row: DraftRow): void {
  const preferred = row.isInterrupt ? null : findPreferred(draft, row)
  if (preferred === 'rotation') withdrawBatch(draft, row)
  else if (preferred && hasQueueRoom(draft)) insertFirst(draft, preferred.decision, preferred.why)
  else appendRow(draft, row)
}

function findPreferred(
  draft: QueueDraft,
  row: DraftRow
): { decision: SlotDecision; why: MoveReason } | 'rotation' | null {
  const slot = nextSlot(draft)
  const { picked } = findDueRequest(slot)
  if (picked)
    return { decision: decideToPlayRequest(picked, [logSlot(draft, 'request_due')]), why: 'request_inserted' }
  const own = findPlaylistOfRow(draft, row)
  if (own?.type === 'default' && findInterruptingPlaylists(slot).some(({ type }) => type === 'default'))
    return 'rotation'
  const higher = playlistRanks.slice(0, own && rankIndexOf(own))
  const options = { playlists: listRegularPlaylists(slot), buckets: higher, mayRepeat: false }
  const decision = pickFromPlaylists(slot, options, openSlotRandom(draft), [logSlot(draft, 'window_open')])
  if (!decision) return null
  const isRotation = findPlaylistOfRow(draft, decision.tracks[0])?.type === 'default'
  return isRotation ? 'rotation' : { decision, why: 'window_open' }
}

/** Plans a decision next. A movable row of the same rank is moved to the front instead of adding a row. */
function insertFirst(draft: QueueDraft, decision: SlotDecision, why: MoveReason): void {
  const [track] = decision.tracks
  const rank = rankOfPlay(draft, track)
  const mayRepeat = decision.isForced || repeatsPreviousSong(nextSlot(draft), track)
  const equivalent = draft.remaining.find(
    row =>
      rank !== null &&
      rankOfPlay(draft, row) === rank &&
      isMovableRow(draft, row) &&
      (mayRepeat || !isRepeatedRow(draft, row))
  )
  draft.moveReason ??= why
  if (equivalent) appendRow(draft, equivalent)
  else appendDecision(draft, decision)
}

/** The rank of the playlist of a play; interrupts and regular plays differ. Null without a playlist. */
function rankOfPlay(draft: QueueDraft, play: Pick<PlayOrRow, 'playlistId' | 'isInterrupt'>): number | null {
  const playlist = findPlaylistOfRow(draft, play)
  return playlist ? rankIndexOf(playlist) + (play.isInterrupt ? 0 : playlistRanks.length + 1) : null
}

/**
 * Plans the row of a request. If it is too early, exceeds the limit of consecutive requests or repeats the
 * previous song, another row goes first. If there is none, the request waits again.
 */
export function planRequestRow(draft: QueueDraft, row: DraftRow): void {
  const slot = nextSlot(draft)
  const request = slot.library.requests.find(({ id }) => id === row.requestId)
  if (request && isExpiredRequest(request, slot)) return withdrawBatch(draft, row)
  const { song } = row.song
  const mustWait = (request && request.dueAtMs > slot.atMs) || isRequestLimitReached(slot)
  if (!mustWait && !repeatsPreviousSong(slot, row)) return appendRow(draft, row)
  // Jingles do not separate two plays of a song, but one of them may go first.
  const isOther = (play: Pick<PlayOrRow, 'song' | 'isVisible'>) =>
    play.song.song !== song && (play.isVisible || mustWait || findPreviousPlay(slot)?.isVisible === true)
  const separator = draft.remaining.find(each => isOther(each) && maySeparate(draft, each))
  if (separator) {
    draft.remaining = [separator, ...draft.remaining.filter(each => each !== separator)]
    return
  }
  const decision = pickForSlot(slot, openSlotRandom(draft))
  if (decision && isOther(decision.tracks[0])) appendDecision(draft, decision)
  else if (mustWait) withdrawBatch(draft, row)
  else appendRow(draft, row)
}

/** Whether a row may be moved between the previous play and a request. */
function maySeparate(draft: QueueDraft, row: DraftRow): boolean {
  if (row.requestId !== null || row.batch !== null) return false
  return row.isManual || (isMovableRow(draft, row) && !isRepeatedRow(draft, row))
}

function logSlot({ atMs }: QueueDraft, why: SlotReason): DecisionLogEntry {
  return { step: 'slot', at: Math.floor(atMs / 1_000), why }
}
