import type { DueCheck } from './due.ts'
import type { AvoidedKeys, RepeatTier } from './duplicates.ts'
import { airtimeMs, computeMaxAirtimeMs, streamDurationMs } from './durations.ts'
import { type PlayOrRow, isInterruptingPlaylist, type Playlist, type QueueSlot } from './library.ts'
import type { DecisionLogEntry } from './log-entry.ts'
import { findSongsToAvoid } from './previous-play.ts'
import { shuffleKey } from './random.ts'
import { columnValueAt, overlapAt, songKeysAt, type TrackColumns } from './track-columns.ts'
import { findTrackPools, firstTrackInPool, planNextBatch, type TrackPool } from './track-pools.ts'

/** A chosen song, as a play without a start time. Without a playlist it is a listener's request. */
export interface ChosenSong extends Omit<PlayOrRow, 'startsAtMs'> {
  readonly mediaId: number
  /** The URL of an entry of a remote list, else empty. */
  readonly uri: string
}

type ChosenSongs = readonly [ChosenSong, ...ChosenSong[]]

/** What a playlist offers for a slot: one song, or a batch that is played back to back. */
export interface SlotCandidate {
  readonly tracks: ChosenSongs
  readonly tier: RepeatTier
  /** By how much it exceeds the window of the playlist. */
  readonly overrunMs: number
  readonly log: readonly DecisionLogEntry[]
}

/** What to play in a slot. */
export interface SlotDecision extends Pick<SlotCandidate, 'tracks' | 'log'> {
  /** Null for a request. */
  readonly tier: RepeatTier | null
  /** Nothing else was left than the previous song, a removed track or a fallback stream. */
  readonly isForced: boolean
}

const maxLogEntries = 60
const maxLogBytes = 8_192

/** Removes entries from the middle of a log that is too long: the reasons why playlists were not due. */
export function truncateDecisionLog(log: readonly DecisionLogEntry[]): DecisionLogEntry[] {
  const sizes = log.map(entry => new TextEncoder().encode(JSON.stringify(entry)).length + 1)
  let bytes = sizes.reduce((sum, size) => sum + size, 1)
  let [from, to] = [log.length >> 1, log.length >> 1]
  while (to - from < log.length && (log.length - (to - from) > maxLogEntries || bytes > maxLogBytes)) {
    const removed = from > 0 && from >= log.length - to ? --from : to++
    bytes -= sizes[removed] ?? 0
  }
  return [...log.slice(0, from), ...log.slice(to)]
}

/** A playlist that is due in a slot, and how to choose from it. */
export interface CandidateInput {
  readonly playlist: Playlist
  readonly due: DueCheck
  readonly slot: QueueSlot
  readonly recent: AvoidedKeys
  /** Seeds the order of random playlists. */
  readonly randomSeed: number
  /** Whether the previous song may be repeated, because nothing else is left. */
  readonly mayRepeat: boolean
}

/** Returns the candidate of a playlist for a tier, or null. */
export type FindSlotCandidate = (tier: RepeatTier) => SlotCandidate | null

/** Prepares the candidates of a playlist. Work that the tiers share is done once, when needed. */
export function prepareSlotCandidates(choice: CandidateInput): FindSlotCandidate {
  const { playlist, due, slot, randomSeed, mayRepeat } = choice
  if (playlist.source === 'stream') return () => streamCandidate(choice)
  if (playlist.options.has('merge')) {
    const merged = once(() => mergedCandidate(choice))
    return tier => (tier === 1 || mayRepeat ? merged() : null)
  }
  const prepare = playlist.order === 'sequential' ? sequentialCandidate : shuffledCandidate
  const finders = once(() =>
    findTrackPools(playlist, slot, due.window, randomSeed).map(pool => prepare(choice, pool))
  )
  return tier => {
    for (const find of finders()) {
      const candidate = find(tier)
      if (candidate) return candidate
    }
    return null
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => (made ??= { value: make() }).value
}

/** The next track of the list, regardless of duplicates. */
function sequentialCandidate(choice: CandidateInput, pool: TrackPool): FindSlotCandidate {
  const { playlist, due, slot } = choice
  const index = firstTrackInPool(playlist, pool)
  const durationMs = columnValueAt(playlist.tracks.durations, index)
  const isFitting = index >= 0 && airtimeMs(durationMs) <= computeMaxAirtimeMs(playlist, slot, due.window)
  if (!isFitting) return () => null
  const track = chooseTrack(choice, index, pool.pass)
  return tier => toCandidate(choice, [track], tier, [])
}

/** The first track in shuffled order that fits the tier. */
function shuffledCandidate(choice: CandidateInput, pool: TrackPool): FindSlotCandidate {
  const { playlist, due, slot, recent, mayRepeat } = choice
  const { id, tracks, source, avoidsDuplicates } = playlist
  const { seed } = slot.library.rules
  const findBest = (avoided: readonly (number | null)[]) =>
    findBestTracks({
      tracks,
      recent: avoidsDuplicates && source === 'songs' ? recent : noPlays,
      avoided,
      // Playlists with a time of their own may offer a removed track again at their next time.
      rejected: playlist.type === 'default' ? slot.rejected : noTracks,
      maxAirtimeMs: computeMaxAirtimeMs(playlist, slot, due.window),
      includes: index => pool.includes(index),
      orderKey: index => shuffleKey(seed, pool.seed, columnValueAt(tracks.ids, index))
    })
  const best = once(() => {
    const { previous, lastJingle } = findSongsToAvoid(playlist, slot)
    const found = findBest([previous, lastJingle])
    return lastJingle !== null && found.byTier[3] < 0 ? findBest([previous]) : found
  })
  return tier => {
    const { byTier, repeat, considered: looked_at, skipped } = best()
    const index = mayRepeat ? repeat : byTier[tier]
    if (index < 0) return null
    const track = chooseTrack(choice, index, pool.pass)
    return toCandidate(choice, [track], tier, [
      { step: 'tracks', id, tier, looked_at, skipped, pass: track.pass }
    ])
  }
}

const noTracks: ReadonlySet<number> = new Set()
const noPlays: AvoidedKeys = { songs: new Map(), titles: new Map(), artists: new Map() }

interface TrackQuery {
  readonly tracks: TrackColumns
  readonly recent: AvoidedKeys
  /** Songs that are skipped, except for `repeat`. */
  readonly avoided: readonly (number | null)[]
  /** Ids of tracks that are skipped, except for `repeat`. */
  readonly rejected: ReadonlySet<number>
  /** Longer tracks are skipped. */
  readonly maxAirtimeMs: number
  /** Whether a track is in the pool. */
  includes(index: number): boolean
  /** The lowest key comes first. */
  orderKey(index: number): number
}

/** Finds the best track of every tier as an index, or -1, in one scan; `repeat` may be a song to avoid. */
function findBestTracks(query: TrackQuery) {
  const { tracks, recent, avoided, rejected, maxAirtimeMs } = query
  const { songs, titles, artists, artistsEnd, durations, lastAired, ids } = tracks
  const skipped = { song: 0, title: 0, artist: 0 }
  const best = { 1: noBestTrack(), 2: noBestTrack(), 3: noBestTrack(), repeat: noBestTrack() }
  let considered = 0
  for (let index = 0; index < ids.length; index++) {
    if (!query.includes(index)) continue
    if (maxAirtimeMs !== Infinity && airtimeMs(durations[index] ?? 0) > maxAirtimeMs) continue
    considered++
    const song = songs[index] ?? 0
    const songHeard = recent.songs.get(song)
    const heardMs = Math.max(lastAired[index] ?? 0, songHeard ?? 0)
    const orderKey = query.orderKey(index)
    keepBetter(best.repeat, index, heardMs, orderKey)
    if (avoided.includes(song) || (rejected.size > 0 && rejected.has(ids[index] ?? 0))) {
      skipped.song++
      continue
    }
    keepBetter(best[3], index, heardMs, orderKey)
    if (songHeard !== undefined) {
      skipped.song++
      continue
    }
    const title = titles[index] ?? 0
    if (title !== 0 && recent.titles.get(title) !== undefined) {
      skipped.title++
      continue
    }
    let artistMs = -Infinity
    for (let each = index === 0 ? 0 : (artistsEnd[index - 1] ?? 0); each < (artistsEnd[index] ?? 0); each++)
      artistMs = Math.max(artistMs, recent.artists.get(artists[each] ?? 0) ?? -Infinity)
    if (artistMs === -Infinity) {
      keepBetter(best[1], index, 0, orderKey)
      continue
    }
    skipped.artist++
    keepBetter(best[2], index, artistMs, orderKey)
  }
  const byTier: Record<RepeatTier, number> = { 1: best[1].index, 2: best[2].index, 3: best[3].index }
  return { byTier, repeat: best.repeat.index, considered, skipped }
}

interface BestTrack {
  index: number
  heardMs: number
  orderKey: number
}

const noBestTrack = (): BestTrack => ({ index: -1, heardMs: Infinity, orderKey: Infinity })

/** Prefers the track that was heard longest ago, then the lowest order key. */
function keepBetter(best: BestTrack, index: number, heardMs: number, orderKey: number): void {
  if (heardMs > best.heardMs || (heardMs === best.heardMs && orderKey >= best.orderKey)) return
  best.index = index
  best.heardMs = heardMs
  best.orderKey = orderKey
}

/** The whole list as one batch. */
function mergedCandidate(choice: CandidateInput): SlotCandidate | null {
  const { playlist, due, slot } = choice
  const batch = planNextBatch(playlist, slot)
  const [first, ...others] = batch.indices.map(index => chooseTrack(choice, index, batch.pass))
  if (!first || batch.airtimeMs > computeMaxAirtimeMs(playlist, slot, due.window)) return null
  return toCandidate(choice, [first, ...others], 1, [])
}

/** One URL, until another playlist is due. */
function streamCandidate(choice: CandidateInput): SlotCandidate {
  const durationMs = streamDurationMs(choice.slot, choice.due.window)
  return { tracks: [{ ...chooseTrack(choice, 0, null), durationMs }], tier: 1, overrunMs: 0, log: [] }
}

function toCandidate(
  { due: { window }, slot }: CandidateInput,
  tracks: ChosenSongs,
  tier: RepeatTier,
  log: readonly DecisionLogEntry[]
): SlotCandidate {
  const endsAtMs = tracks.reduce((timeMs, track) => timeMs + airtimeMs(track.durationMs), slot.atMs)
  return { tracks, tier, overrunMs: window ? Math.max(0, endsAtMs - window.endMs) : 0, log }
}

function chooseTrack({ playlist, due }: CandidateInput, index: number, pass: number | null): ChosenSong {
  const { tracks } = playlist
  return {
    playlistId: playlist.id,
    trackId: columnValueAt(tracks.ids, index),
    mediaId: columnValueAt(tracks.media, index),
    pass: pass ?? playlist.pass,
    requestId: null,
    occurrenceMs: due.occurrenceMs,
    song: songKeysAt(tracks, index),
    isVisible: !playlist.isJingle,
    isInterrupt: isInterruptingPlaylist(playlist),
    durationMs: columnValueAt(tracks.durations, index),
    overlapMs: overlapAt(tracks, index),
    uri: tracks.uris[index] ?? ''
  }
}
