import { type Decision, truncateLog } from './candidates.ts'
import { checkDue } from './due.ts'
import { repeatsTooSoon } from './duplicates.ts'
import { isExpiredRequest, isPlayable, type PendingRequest, type Slot } from './library.ts'
import type { LogEntry, RequestObstacle } from './log-entry.ts'
import { isSong } from './previous-play.ts'

/** The request that plays in a slot, or null and the reason. */
export function findDueRequest(slot: Slot): { picked: PendingRequest | null; log: LogEntry[] } {
  const { library, rowsBefore, rowsAfter } = slot
  const queued = new Set([...rowsBefore, ...rowsAfter].map(row => row.requestId))
  const requests = library.requests.filter(each => !queued.has(each.id) && !isExpiredRequest(each, slot))
  const none = (why: RequestObstacle) => ({
    picked: null,
    log: [{ step: 'requests', result: 'none', pending: requests.length, why } satisfies LogEntry]
  })
  if (requests.length === 0) return none('none_pending')
  const due = requests.filter(({ dueAtMs }) => dueAtMs <= slot.atMs)
  if (due.length === 0) return none('not_due')
  if (isRequestLimitReached(slot)) return none('run_limit')
  const isPrioritized = library.playlists
    .filter(playlist => playlist.options.has('prioritize') && isPlayable(playlist))
    .some(playlist => checkDue(playlist, slot).obstacle === null)
  if (isPrioritized) return none('prioritized')
  const ordered = due.toSorted((a, b) => Number(b.skipsDelay) - Number(a.skipsDelay) || a.id - b.id)
  const picked = ordered.find(request => !repeatsTooSoon(request, slot))
  return picked ? { picked, log: [] } : none('too_recent')
}

/**
 * Whether the songs directly before a slot are as many requests as the station allows in a row. Jingles do not
 * count.
 */
export function isRequestLimitReached({ library, rowsBefore }: Slot): boolean {
  const { consecutiveRequests: limit } = library.rules
  if (limit === 0) return false
  const songs = rowsBefore.filter(isSong).slice(-limit)
  for (let index = library.past.plays.length - 1; index >= 0 && songs.length < limit; index--) {
    const play = library.past.plays[index]
    if (play && isSong(play)) songs.unshift(play)
  }
  return songs.length === limit && songs.every(({ requestId }) => requestId !== null)
}

/** The decision to play a request. */
export function decideToPlay(request: PendingRequest, log: readonly LogEntry[]): Decision {
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
    log: truncateLog([...log, { step: 'picked', request: id }])
  }
}
