import { type Candidate, type CandidateOf, candidates, type Chosen, type Choosing } from './candidate.ts'
import type { Tier } from './choose.ts'
import { type Due, dueAt } from './due.ts'
import {
  interrupts,
  isPlayable,
  lastBefore,
  type PendingRequest,
  type Playlist,
  type Slot
} from './library.ts'
import { type Hindrance, type LogEntry, shortened, type SlotReason } from './log-entry.ts'
import type { Random } from './random.ts'
import { isTooRecent, recentAt } from './recent.ts'

/** What to play in a slot: one song, or a batch that is played back to back. */
export interface Decision {
  readonly tracks: readonly [Picked, ...Picked[]]
  readonly log: readonly LogEntry[]
}

/** A track of a playlist, or a listener's request, which belongs to none. */
export type Picked = Omit<Chosen, 'playlistId' | 'trackId'> & {
  readonly playlistId: number | null
  readonly trackId: number | null
}

/**
 * What may be picked, first to last; within each, playlists with a schedule come first. Playlists that interrupt are no
 * part of it.
 */
export const bucketTypes = ['once_per_hour', 'once_per_x_songs', 'once_per_x_minutes', 'default'] as const

export interface Bucket {
  readonly type: (typeof bucketTypes)[number]
  readonly isScheduled: boolean
}

export const buckets: readonly Bucket[] = bucketTypes.flatMap(type => [
  { type, isScheduled: true },
  { type, isScheduled: false }
])

/**
 * Chooses what plays in one slot, or null if nothing may: a request, else of the first bucket that has something the
 * best fitting track of its playlists, drawn by weight. Where only the song before the slot is left, it is repeated; last come
 * streams without a schedule. Pure: a decision that is not used leaves no trace.
 */
export function pick(slot: Slot, random: Random, why: SlotReason = 'fill'): Decision | null {
  const { picked, log: requestLog } = dueRequest(slot)
  const log: LogEntry[] = [{ step: 'slot', at: Math.floor(slot.atMs / 1_000), why }]
  if (picked) return requested(picked, [...log, ...requestLog])
  const playlists = slot.library.playlists.filter(playlist => !interrupts(playlist))
  return pickFrom(slot, playlists, buckets, random, [...log, ...requestLog])
}

/** Chooses from some playlists and buckets only; `log` is what is known already. */
export function pickFrom(
  slot: Slot,
  playlists: readonly Playlist[],
  from: readonly Bucket[],
  random: Random,
  log: readonly LogEntry[]
): Decision | null {
  const dues = playlists
    .filter(playlist => from.some(bucket => isOf(playlist, bucket)))
    .map(playlist => ({ playlist, due: dueAt(playlist, slot) }))
  const hindered = dues.flatMap(({ playlist, due: { why } }) =>
    why === null ? [] : [hinderedBy(playlist, why)]
  )
  const due = dues.filter(each => each.due.why === null)
  if (due.length === 0) return null
  const choosing = { slot, recent: recentAt(slot), draw: Math.floor(random() * 4_294_967_296) }
  const ordered = from
    .map(bucket => ({
      bucket,
      entries: drawOrder(
        due.filter(({ playlist }) => isOf(playlist, bucket) && !isFallback(playlist)),
        random
      )
    }))
    .filter(({ entries }) => entries.length > 0)
  const fallbacks = drawOrder(
    due.filter(({ playlist }) => isFallback(playlist)),
    random
  )
  const last = lastBefore(slot)
  for (const { bucket, entries } of ordered) {
    const offers = offersOf(entries, { ...choosing, mayRepeat: false })
    for (const tier of [1, 2, 3] as const) {
      const found = firstOffer(offers, tier, ({ tracks: [track] }, playlist) => {
        const isOwnSequence =
          (playlist.order === 'sequential' || playlist.options.has('merge')) &&
          last?.playlistId === playlist.id
        return track.song.song !== last?.song.song || isOwnSequence
      })
      if (found) return decisionOf(found, [...log, ...hindered, drawn(bucket, entries)])
    }
  }
  for (const { bucket, entries } of ordered) {
    const found = firstOffer(offersOf(entries, { ...choosing, mayRepeat: true }), 3, () => true)
    if (found) return decisionOf(found, [...log, ...hindered, drawn(bucket, entries)])
  }
  const stream = firstOffer(offersOf(fallbacks, { ...choosing, mayRepeat: true }), 1, () => true)
  return stream && decisionOf(stream, [...log, ...hindered])
}

const isOf = ({ type, schedule }: Playlist, bucket: Bucket) =>
  type === bucket.type && schedule.length > 0 === bucket.isScheduled

/** A stream without a schedule plays where nothing else does. */
const isFallback = ({ source, schedule }: Playlist) => source === 'stream' && schedule.length === 0

interface Entry {
  readonly playlist: Playlist
  readonly due: Due
}

interface Offer extends Entry {
  readonly candidateOf: CandidateOf
}

interface Found extends Entry {
  readonly candidate: Candidate
}

const offersOf = (entries: readonly Entry[], choosing: Choosing): Offer[] =>
  entries.map(({ playlist, due }) => ({ playlist, due, candidateOf: candidates(playlist, due, choosing) }))

function firstOffer(
  offers: readonly Offer[],
  tier: Tier,
  fits: (candidate: Candidate, playlist: Playlist) => boolean
): Found | null {
  for (const { playlist, due, candidateOf } of offers) {
    const candidate = candidateOf(tier)
    if (candidate && fits(candidate, playlist)) return { playlist, due, candidate }
  }
  return null
}

function decisionOf({ playlist, candidate }: Found, log: readonly LogEntry[]): Decision {
  const { tracks, tier, overrunMs } = candidate
  const [{ mediaId: media, pass }] = tracks
  const overrun = Math.ceil(overrunMs / 1_000)
  return {
    tracks,
    log: shortened([
      ...log,
      ...candidate.log,
      { step: 'picked', id: playlist.id, media, tier, pass, overrun }
    ])
  }
}

/** In a weighted order without replacement: each comes first with a chance in proportion to its weight. */
function drawOrder(entries: readonly Entry[], random: Random): Entry[] {
  return entries
    .map(entry => ({ entry, key: -Math.log(1 - random()) / (entry.playlist.weight || 3) }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ entry }) => entry)
}

const drawn = ({ type, isScheduled }: Bucket, entries: readonly Entry[]): LogEntry => ({
  step: 'bucket',
  bucket: `${type}/${isScheduled ? 'scheduled' : 'unscheduled'}`,
  order: entries.slice(0, 20).map(({ playlist: { id, weight } }) => ({ id, weight }))
})

const hinderedBy = ({ id, name }: Playlist, why: Hindrance): LogEntry => ({
  step: 'playlist',
  id,
  name,
  due: false,
  why
})

/** The request that plays in a slot, or why there is none. */
export function dueRequest(slot: Slot): { picked: PendingRequest | null; log: LogEntry[] } {
  const { rules, playlists } = slot.library
  const queued = new Set([...slot.ahead, ...slot.behind].map(row => row.requestId))
  const requests = slot.library.requests.filter(({ id }) => !queued.has(id))
  const none = (why: 'not_due' | 'too_recent' | 'run_limit' | 'prioritized' | 'none_pending') => ({
    picked: null,
    log: [{ step: 'requests', result: 'none', pending: requests.length, why } satisfies LogEntry]
  })
  if (requests.length === 0) return none('none_pending')
  const due = requests.filter(({ dueAtMs }) => dueAtMs <= slot.atMs)
  if (due.length === 0) return none('not_due')
  if (
    rules.consecutiveRequests > 0 &&
    requestsBefore(slot, rules.consecutiveRequests) >= rules.consecutiveRequests
  )
    return none('run_limit')
  const isPrioritized = playlists.some(
    playlist =>
      playlist.options.has('prioritize') && isPlayable(playlist) && dueAt(playlist, slot).why === null
  )
  if (isPrioritized) return none('prioritized')
  const ordered = due.toSorted((a, b) => Number(b.skipsDelay) - Number(a.skipsDelay) || a.id - b.id)
  const picked = ordered.find(request => !isTooRecent(request, slot))
  return picked ? { picked, log: [] } : none('too_recent')
}

/** How many of the rows directly before a slot are requests; `most` are looked at. */
function requestsBefore({ library, ahead }: Slot, most: number): number {
  const rows = [...library.past.plays.slice(-most), ...ahead].slice(-most)
  const other = rows.findLastIndex(row => row.requestId === null)
  return rows.length - 1 - other
}

export function requested(request: PendingRequest, log: readonly LogEntry[]): Decision {
  const track: Picked = {
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
  return { tracks: [track], log: shortened([...log, { step: 'picked', request: request.id }]) }
}
