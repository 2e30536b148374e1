import {
  type SlotCandidate,
  type SlotDecision,
  type CandidateInput,
  prepareSlotCandidates,
  truncateDecisionLog
} from './candidates.ts'
import { checkPlaylistDue, type DueCheck } from './due.ts'
import { collectAvoidedKeys, type RepeatTier } from './duplicates.ts'
import { type Playlist, listRegularPlaylists, type QueueSlot, playlistWeight } from './library.ts'
import type { DecisionLogEntry, SlotReason } from './log-entry.ts'
import { findPreviousPlay, repeatsUnintentionally } from './previous-play.ts'
import type { RandomSource } from './random.ts'
import { decideToPlayRequest, findDueRequest } from './requests.ts'

const types = ['once_per_hour', 'once_per_x_songs', 'once_per_x_minutes', 'default'] as const

/** Playlists of equal rank: one is drawn by weight. */
export interface PlaylistRank {
  readonly type: (typeof types)[number]
  readonly isScheduled: boolean
}

/** Highest rank first. Of each type, playlists with a schedule come first. */
export const playlistRanks: readonly PlaylistRank[] = types.flatMap(type => [
  { type, isScheduled: true },
  { type, isScheduled: false }
])

export const hasRank = ({ type, schedule }: Playlist, bucket: PlaylistRank) =>
  type === bucket.type && schedule.length > 0 === bucket.isScheduled

/** Whether a playlist is a stream without a schedule, which plays only if nothing else is due. */
export const isFallbackStream = ({ source, schedule }: Playlist) =>
  source === 'stream' && schedule.length === 0

/** The index of a playlist's bucket; fallbacks come last. */
export function rankIndexOf(playlist: Playlist): number {
  return isFallbackStream(playlist)
    ? playlistRanks.length
    : playlistRanks.findIndex(bucket => hasRank(playlist, bucket))
}

/**
 * Chooses what plays in one slot: a request, else the best track of the first bucket that has one, else the
 * previous song again, else a fallback stream. Returns null if nothing may play.
 */
export function pickForSlot(
  slot: QueueSlot,
  random: RandomSource,
  why: SlotReason = 'fill'
): SlotDecision | null {
  const { picked, log: requestLog } = findDueRequest(slot)
  const log: DecisionLogEntry[] = [{ step: 'slot', at: Math.floor(slot.atMs / 1_000), why }, ...requestLog]
  if (picked) return decideToPlayRequest(picked, log)
  return pickFromPlaylists(
    slot,
    { playlists: listRegularPlaylists(slot), buckets: playlistRanks, mayRepeat: true },
    random,
    log
  )
}

export interface PickOptions {
  readonly playlists: readonly Playlist[]
  readonly buckets: readonly PlaylistRank[]
  /** Whether to repeat the previous song, or use a fallback stream, if nothing else is left. */
  readonly mayRepeat: boolean
}

/** Chooses from the given playlists and buckets. The log of the decision begins with `log`. */
export function pickFromPlaylists(
  slot: QueueSlot,
  { playlists, buckets: allowed, mayRepeat }: PickOptions,
  random: RandomSource,
  log: readonly DecisionLogEntry[]
): SlotDecision | null {
  const checked = playlists
    .filter(playlist => allowed.some(bucket => hasRank(playlist, bucket)))
    .map(playlist => ({ playlist, due: checkPlaylistDue(playlist, slot) }))
  const due = checked.filter(each => each.due.obstacle === null)
  if (due.length === 0) return null
  const known = [...log, ...checked.flatMap(logObstacle)]
  const context = { slot, recent: collectAvoidedKeys(slot), randomSeed: Math.floor(random() * 4_294_967_296) }
  const draw = (isDrawn: (playlist: Playlist) => boolean) =>
    shuffleByWeight(
      due.filter(({ playlist }) => isDrawn(playlist)),
      random
    )
  const ordered = allowed
    .map(bucket => ({ bucket, entries: draw(each => !isFallbackStream(each) && hasRank(each, bucket)) }))
    .filter(({ entries }) => entries.length > 0)
  const isRepeat = ({ playlist, candidate: { tracks } }: Offer) =>
    repeatsUnintentionally(slot, tracks[0], playlist)
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
    fresh && isJingle(fresh.offer) && findPreviousPlay(slot)?.isVisible === false ? findAny() : null
  // Only another song replaces a song that would repeat. Jingles after jingles would keep it away forever.
  const isSongReplaced = replaced && !isJingle(replaced.offer) && isRepeat(replaced.offer)
  const found = isSongReplaced ? findFresh(offer => !isJingle(offer)) : fresh
  if (found) return decide(found, false)
  if (!mayRepeat) return null
  const repeated = replaced ?? findAny()
  if (repeated) return decide(repeated, true)
  const stream = findOffer(prepareOffers(draw(isFallbackStream), { ...context, mayRepeat }), 1)
  return stream && toDecision(stream, true, known)
}

interface DrawnBucket {
  readonly bucket: PlaylistRank
  /** In the order in which they were drawn. */
  readonly entries: readonly Entry[]
}

interface FoundOffer extends DrawnBucket {
  readonly offer: Offer
}

/** The first offer of the first bucket and tier that has one that fits. */
function findInBuckets(
  drawn: readonly DrawnBucket[],
  searched: readonly RepeatTier[],
  context: Omit<CandidateInput, keyof Entry>,
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

const prepareOffers = (entries: readonly Entry[], context: Omit<CandidateInput, keyof Entry>) =>
  entries.map(entry => ({
    playlist: entry.playlist,
    findCandidate: prepareSlotCandidates({ ...context, ...entry })
  }))

interface Offer {
  readonly playlist: Playlist
  readonly candidate: SlotCandidate
}

function findOffer(
  offers: ReturnType<typeof prepareOffers>,
  tier: RepeatTier,
  isFitting: (offer: Offer) => boolean = () => true
): Offer | null {
  for (const { playlist, findCandidate } of offers) {
    const candidate = findCandidate(tier)
    if (candidate && isFitting({ playlist, candidate })) return { playlist, candidate }
  }
  return null
}

function toDecision(
  { playlist, candidate }: Offer,
  isForced: boolean,
  log: readonly DecisionLogEntry[]
): SlotDecision {
  const { tracks, tier, overrunMs } = candidate
  const [{ mediaId: media, pass }] = tracks
  const overrun = Math.ceil(overrunMs / 1_000)
  const picked: DecisionLogEntry = { step: 'picked', id: playlist.id, media, tier, pass, overrun }
  return { tracks, tier, isForced, log: truncateDecisionLog([...log, ...candidate.log, picked]) }
}

/** A weighted random order: each entry comes first with a probability proportional to its weight. */
function shuffleByWeight(entries: readonly Entry[], random: RandomSource): Entry[] {
  return entries
    .map(entry => ({ entry, key: -Math.log(1 - random()) / playlistWeight(entry.playlist) }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ entry }) => entry)
}

const logBucket = ({ type, isScheduled }: PlaylistRank, entries: readonly Entry[]): DecisionLogEntry => ({
  step: 'bucket',
  bucket: `${type}/${isScheduled ? 'scheduled' : 'unscheduled'}`,
  order: entries.slice(0, 20).map(({ playlist: { id, weight } }) => ({ id, weight }))
})

function logObstacle({ playlist: { id, name }, due: { obstacle } }: Entry): DecisionLogEntry[] {
  return obstacle === null ? [] : [{ step: 'playlist', id, name, due: false, why: obstacle }]
}
