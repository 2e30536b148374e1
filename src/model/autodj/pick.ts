import {
  type Candidate,
  type Decision,
  type PickInput,
  prepareCandidates,
  truncateLog
} from './candidates.ts'
import { checkDue, type DueCheck } from './due.ts'
import { findRecentPlays, type Tier } from './duplicates.ts'
import { type Playlist, regularPlaylists, type Slot, playlistWeight } from './library.ts'
import type { LogEntry, SlotReason } from './log-entry.ts'
import { previousPlay, repeatsPrevious } from './previous-play.ts'
import type { Random } from './random.ts'
import { decideToPlay, findDueRequest } from './requests.ts'

const types = ['once_per_hour', 'once_per_x_songs', 'once_per_x_minutes', 'default'] as const

/** Playlists of equal rank: one is drawn by weight. */
export interface PlaylistBucket {
  readonly type: (typeof types)[number]
  readonly isScheduled: boolean
}

/** Highest rank first. Of each type, playlists with a schedule come first. */
export const buckets: readonly PlaylistBucket[] = types.flatMap(type => [
  { type, isScheduled: true },
  { type, isScheduled: false }
])

export const isInBucket = ({ type, schedule }: Playlist, bucket: PlaylistBucket) =>
  type === bucket.type && schedule.length > 0 === bucket.isScheduled

/** Whether a playlist is a stream without a schedule, which plays only if nothing else is due. */
export const isFallback = ({ source, schedule }: Playlist) => source === 'stream' && schedule.length === 0

/** The index of a playlist's bucket; fallbacks come last. */
export function rankOf(playlist: Playlist): number {
  return isFallback(playlist) ? buckets.length : buckets.findIndex(bucket => isInBucket(playlist, bucket))
}

/**
 * Chooses what plays in one slot: a request, else the best track of the first bucket that has one, else the
 * previous song again, else a fallback stream. Returns null if nothing may play.
 */
export function pickForSlot(slot: Slot, random: Random, why: SlotReason = 'fill'): Decision | null {
  const { picked, log: requestLog } = findDueRequest(slot)
  const log: LogEntry[] = [{ step: 'slot', at: Math.floor(slot.atMs / 1_000), why }, ...requestLog]
  if (picked) return decideToPlay(picked, log)
  return pickFrom(slot, { playlists: regularPlaylists(slot), buckets, mayRepeat: true }, random, log)
}

export interface PickOptions {
  readonly playlists: readonly Playlist[]
  readonly buckets: readonly PlaylistBucket[]
  /** Whether to repeat the previous song, or use a fallback stream, if nothing else is left. */
  readonly mayRepeat: boolean
}

/** Chooses from the given playlists and buckets. The log of the decision begins with `log`. */
export function pickFrom(
  slot: Slot,
  { playlists, buckets: allowed, mayRepeat }: PickOptions,
  random: Random,
  log: readonly LogEntry[]
): Decision | null {
  const checked = playlists
    .filter(playlist => allowed.some(bucket => isInBucket(playlist, bucket)))
    .map(playlist => ({ playlist, due: checkDue(playlist, slot) }))
  const due = checked.filter(each => each.due.obstacle === null)
  if (due.length === 0) return null
  const known = [...log, ...checked.flatMap(logObstacle)]
  const context = { slot, recent: findRecentPlays(slot), randomSeed: Math.floor(random() * 4_294_967_296) }
  const draw = (isDrawn: (playlist: Playlist) => boolean) =>
    shuffleByWeight(
      due.filter(({ playlist }) => isDrawn(playlist)),
      random
    )
  const ordered = allowed
    .map(bucket => ({ bucket, entries: draw(each => !isFallback(each) && isInBucket(each, bucket)) }))
    .filter(({ entries }) => entries.length > 0)
  const isRepeat = ({ playlist, candidate: { tracks } }: Offer) => repeatsPrevious(slot, tracks[0], playlist)
  const findFresh = (isAllowed: (offer: Offer) => boolean = () => true) =>
    findInBuckets(
      ordered,
      [1, 2, 3],
      { ...context, mayRepeat: false },
      offer => isAllowed(offer) && !isRepeat(offer)
    )
  const findAny = () => findInBuckets(ordered, [3], { ...context, mayRepeat: true })
  const decide = ({ offer, bucket, entries }: FoundOffer, isForced: boolean) =>
    toDecision(offer, isForced, [...known, logBucket(bucket, entries)])
  const fresh = findFresh()
  const replaced =
    fresh && isJingle(fresh.offer) && previousPlay(slot)?.isVisible === false ? findAny() : null
  // Only another song replaces a song that would repeat. Jingles after jingles would keep it away forever.
  const isSongReplaced = replaced && !isJingle(replaced.offer) && isRepeat(replaced.offer)
  const found = isSongReplaced ? findFresh(offer => !isJingle(offer)) : fresh
  if (found) return decide(found, false)
  if (!mayRepeat) return null
  const repeated = replaced ?? findAny()
  if (repeated) return decide(repeated, true)
  const stream = findOffer(prepareOffers(draw(isFallback), { ...context, mayRepeat }), 1)
  return stream && toDecision(stream, true, known)
}

interface DrawnBucket {
  readonly bucket: PlaylistBucket
  /** In the order in which they were drawn. */
  readonly entries: readonly Entry[]
}

interface FoundOffer extends DrawnBucket {
  readonly offer: Offer
}

/** The first offer of the first bucket and tier that has one that fits. */
function findInBuckets(
  drawn: readonly DrawnBucket[],
  searched: readonly Tier[],
  context: Omit<PickInput, keyof Entry>,
  isFitting?: (offer: Offer) => boolean
): FoundOffer | null {
  for (const { bucket, entries } of drawn) {
    const offers = prepareOffers(entries, context)
    for (const tier of searched) {
      const offer = findOffer(offers, tier, isFitting)
      if (offer) return { offer, bucket, entries }
    }
  }
  return null
}

const isJingle = ({ candidate: { tracks } }: Offer) => !tracks[0].isVisible

interface Entry {
  readonly playlist: Playlist
  readonly due: DueCheck
}

const prepareOffers = (entries: readonly Entry[], context: Omit<PickInput, keyof Entry>) =>
  entries.map(entry => ({
    playlist: entry.playlist,
    findCandidate: prepareCandidates({ ...context, ...entry })
  }))

interface Offer {
  readonly playlist: Playlist
  readonly candidate: Candidate
}

function findOffer(
  offers: ReturnType<typeof prepareOffers>,
  tier: Tier,
  isFitting: (offer: Offer) => boolean = () => true
): Offer | null {
  for (const { playlist, findCandidate } of offers) {
    const candidate = findCandidate(tier)
    if (candidate && isFitting({ playlist, candidate })) return { playlist, candidate }
  }
  return null
}

function toDecision({ playlist, candidate }: Offer, isForced: boolean, log: readonly LogEntry[]): Decision {
  const { tracks, tier, overrunMs } = candidate
  const [{ mediaId: media, pass }] = tracks
  const overrun = Math.ceil(overrunMs / 1_000)
  const picked: LogEntry = { step: 'picked', id: playlist.id, media, tier, pass, overrun }
  return { tracks, tier, isForced, log: truncateLog([...log, ...candidate.log, picked]) }
}

/** A weighted random order: each entry comes first with a probability proportional to its weight. */
function shuffleByWeight(entries: readonly Entry[], random: Random): Entry[] {
  return entries
    .map(entry => ({ entry, key: -Math.log(1 - random()) / playlistWeight(entry.playlist) }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ entry }) => entry)
}

const logBucket = ({ type, isScheduled }: PlaylistBucket, entries: readonly Entry[]): LogEntry => ({
  step: 'bucket',
  bucket: `${type}/${isScheduled ? 'scheduled' : 'unscheduled'}`,
  order: entries.slice(0, 20).map(({ playlist: { id, weight } }) => ({ id, weight }))
})

function logObstacle({ playlist: { id, name }, due: { obstacle } }: Entry): LogEntry[] {
  return obstacle === null ? [] : [{ step: 'playlist', id, name, due: false, why: obstacle }]
}
