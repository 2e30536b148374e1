import { type SlotDecision, truncateDecisionLog } from './candidates.ts'
import { checkPlaylistDue } from './due.ts'
import { requestRepeatsTooSoon } from './duplicates.ts'
import { isExpiredRequest, isPlayablePlaylist, type PendingRequest, type QueueSlot } from './library.ts'
import type { DecisionLogEntry, RequestObstacle } from './log-entry.ts'
import { isSongPlay } from './previous-play.ts'

/** The request that plays in a slot, or null and the reason. */
export function findDueRequest(slot: QueueSlot): { picked: PendingRequest | null; log: DecisionLogEntry[] } {
  const { library, rowsBefore, rowsAfter } = slot
  const queued = new Set([...rowsBefore, ...rowsAfter].map(row => row.requestId))
  const requests = library.requests.filter(each => !queued.has(each.id) && !isExpiredRequest(each, slot))
  const none = (why: RequestObstacle) => ({
    picked: null,
    log: [{ step: 'requests', result: 'none', pending: requests.length, why } satisfies DecisionLogEntry]
  })
  if (requests.length === 0) return none('none_pending')
  const due = requests.filter(({ dueAtMs }) => dueAtMs <= slot.atMs)
  if (due.length === 0) return none('not_due')
  if (isRequestLimitReached(slot)) return none('run_limit')
  const isPrioritized = library.playlists
    .filter(playlist => playlist.options.has('prioritize') && isPlayablePlaylist(playlist))
    .some(playlist => checkPlaylistDue(playlist, slot).obstacle === null)
  if (isPrioritized) return none('prioritized')
  const ordered = due.toSorted((a, b) => Number(b.skipsDelay) - Number(a.skipsDelay) || a.id - b.id)
  const picked = ordered.find(request => !requestRepeatsTooSoon(request, slot))
  return picked ? { picked, log: [] } : none('too_recent')
}

/**
 * Whether the songs directly before a slot are as many requests as the station allows in a row. Jingles do not
 * count.
 */
export function isRequestLimitReached({ library, rowsBefore }: QueueSlot): boolean {
  const { consecutiveRequests: limit } = library.rules
  if (limit === 0) return false
  const songs = rowsBefore.filter(isSongPlay).slice(-limit)
  for (let index = library.past.plays.length - 1; index >= 0 && songs.length < limit; index--) {
    const play = library.past.plays[index]
    if (play && isSongPlay(play)) songs.unshift(play)
  }
  return songs.length === limit && songs.every(({ requestId }) => requestId !== null)
}

/** The decision to play a request. */
export function decideToPlayRequest(request: PendingRequest, log: readonly DecisionLogEntry[]): SlotDecision {
  const { id, mediaId, song, durationMs, overlapMs = null } = request
  const track = {
    playlistId: null,
    trackId: null,
    mediaId,
    pass: 0,
    requestId: id,
    occurrenceMs: null,
    song,
    isVisible: true,
    isInterrupt: false,
    durationMs,
    overlapMs,
    uri: ''
  }
  return {
    tracks: [track],
    tier: null,
    isForced: false,
    log: truncateDecisionLog([...log, { step: 'picked', request: id }])
  }
}
