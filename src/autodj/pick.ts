import { type Candidate, type CandidateOf, candidates, type ChoiceContext } from './candidate.ts'
import type { Tier } from './choose.ts'
import { type Due, dueAt } from './due.ts'
import { interrupts, isSequence, lastBefore, type Playlist, type Slot } from './library.ts'
import { type Decision, type Obstacle, type LogEntry, shortened, type SlotReason } from './log-entry.ts'
import { type Bucket, buckets, isFallback, isOf } from './pools.ts'
import { recentAt } from './recent.ts'
import { dueRequest, requested } from './requests.ts'
import type { Random } from './zone.ts'

/**
 * Chooses what plays in one slot, or null if nothing may: a request, else of the first bucket that has
 * something the best fitting track of its playlists, drawn by weight. Where only the song before the slot is
 * left, it is repeated; last come streams without a schedule. Pure: a decision that is not used leaves no
 * trace.
 */
export function pick(slot: Slot, random: Random, why: SlotReason = 'fill'): Decision | null {
  const { picked, log: requestLog } = dueRequest(slot)
  const log: LogEntry[] = [{ step: 'slot', at: Math.floor(slot.atMs / 1_000), why }]
  if (picked) return requested(picked, [...log, ...requestLog])
  const playlists = slot.library.playlists.filter(playlist => !interrupts(playlist))
  return pickFrom(slot, { playlists, buckets, mayRepeat: true }, random, [...log, ...requestLog])
}

/** What a choice is made from. */
export interface SelectablePlaylist {
  readonly playlists: readonly Playlist[]
  readonly buckets: readonly Bucket[]
  /**
   * Whether the song before the slot, or a stream that has no time of its own, will do where there is nothing
   * else.
   */
  readonly mayRepeat: boolean
}

/** Chooses from some playlists and buckets only; `log` is what is known already. */
export function pickFrom(
  slot: Slot,
  { playlists, buckets: from, mayRepeat }: SelectablePlaylist,
  random: Random,
  log: readonly LogEntry[]
): Decision | null {
  const dues = playlists
    .filter(playlist => from.some(bucket => isOf(playlist, bucket)))
    .map(playlist => ({ playlist, due: dueAt(playlist, slot) }))
  const due = dues.filter(each => each.due.why === null)
  if (due.length === 0) return null
  const hindered = dues.flatMap(({ playlist, due: { why } }) =>
    why === null ? [] : [hinderedBy(playlist, why)]
  )
  const known = [...log, ...hindered]
  const choosing = { slot, recent: recentAt(slot), draw: Math.floor(random() * 4_294_967_296) }
  const inBuckets = due.filter(({ playlist }) => !isFallback(playlist))
  const ordered = from
    .map(bucket => ({
      bucket,
      entries: drawOrder(
        inBuckets.filter(({ playlist }) => isOf(playlist, bucket)),
        random
      )
    }))
    .filter(({ entries }) => entries.length > 0)
  const last = lastBefore(slot)
  for (const { bucket, entries } of ordered) {
    const offers = offersOf(entries, { ...choosing, mayRepeat: false })
    for (const tier of [1, 2, 3] as const) {
      const found = firstOffer(offers, tier, ({ tracks: [track] }, playlist) => {
        return (
          track.song.song !== last?.song.song || (isSequence(playlist) && last.playlistId === playlist.id)
        )
      })
      if (found) return decisionOf(found, false, [...known, drawn(bucket, entries)])
    }
  }
  if (!mayRepeat) return null
  for (const { bucket, entries } of ordered) {
    const found = firstOffer(offersOf(entries, { ...choosing, mayRepeat }), 3, () => true)
    if (found) return decisionOf(found, true, [...known, drawn(bucket, entries)])
  }
  const fallbacks = drawOrder(
    due.filter(({ playlist }) => isFallback(playlist)),
    random
  )
  const stream = firstOffer(offersOf(fallbacks, { ...choosing, mayRepeat }), 1, () => true)
  return stream && decisionOf(stream, true, known)
}

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

const offersOf = (entries: readonly Entry[], choosing: ChoiceContext): Offer[] =>
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

function decisionOf({ playlist, candidate }: Found, isForced: boolean, log: readonly LogEntry[]): Decision {
  const { tracks, tier, overrunMs } = candidate
  const [{ mediaId: media, pass }] = tracks
  const overrun = Math.ceil(overrunMs / 1_000)
  return {
    tracks,
    tier,
    isForced,
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

const hinderedBy = ({ id, name }: Playlist, why: Obstacle): LogEntry => ({
  step: 'playlist',
  id,
  name,
  due: false,
  why
})
