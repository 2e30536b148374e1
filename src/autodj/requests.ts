import { dueAt } from './due.ts'
import { isExpiredRequest } from './estimate.ts'
import { isPlayable, type PendingRequest, type Slot } from './library.ts'
import { type Decision, type LogEntry, type PickedSong, shortened } from './log-entry.ts'
import { isTooRecent } from './recent.ts'

/** The request that plays in a slot, or why there is none. */
export function dueRequest(slot: Slot): { picked: PendingRequest | null; log: LogEntry[] } {
  const { playlists } = slot.library
  const queued = new Set([...slot.ahead, ...slot.behind].map(row => row.requestId))
  const requests = slot.library.requests.filter(each => !queued.has(each.id) && !isExpiredRequest(each, slot))
  const none = (why: 'not_due' | 'too_recent' | 'run_limit' | 'prioritized' | 'none_pending') => ({
    picked: null,
    log: [{ step: 'requests', result: 'none', pending: requests.length, why } satisfies LogEntry]
  })
  if (requests.length === 0) return none('none_pending')
  const due = requests.filter(({ dueAtMs }) => dueAtMs <= slot.atMs)
  if (due.length === 0) return none('not_due')
  if (isRunFull(slot)) return none('run_limit')
  const isPrioritized = playlists.some(
    playlist =>
      playlist.options.has('prioritize') && isPlayable(playlist) && dueAt(playlist, slot).why === null
  )
  if (isPrioritized) return none('prioritized')
  const ordered = due.toSorted((a, b) => Number(b.skipsDelay) - Number(a.skipsDelay) || a.id - b.id)
  const picked = ordered.find(request => !isTooRecent(request, slot))
  return picked ? { picked, log: [] } : none('too_recent')
}

/** Whether the rows directly before a slot are as many requests as may follow each other. */
export function isRunFull({ library, ahead }: Slot): boolean {
  const { consecutiveRequests: most } = library.rules
  if (most === 0) return false
  const rows = [...library.past.plays.slice(-most), ...ahead.slice(-most)].slice(-most)
  return rows.length === most && rows.every(row => row.requestId !== null)
}

export function requested(request: PendingRequest, log: readonly LogEntry[]): Decision {
  const track: PickedSong = {
    playlistId: null,
    trackId: null,
    mediaId: request.mediaId,
    pass: 0,
    requestId: request.id,
    occurrenceMs: null,
    song: request.song,
    isVisible: true,
    isInterrupt: false,
    durationMs: request.durationMs,
    uri: ''
  }
  return {
    tracks: [track],
    tier: null,
    isForced: false,
    log: shortened([...log, { step: 'picked', request: request.id }])
  }
}
