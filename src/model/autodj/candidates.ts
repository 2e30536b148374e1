import { findBestTracks } from './best-tracks.ts'
import type { DueCheck } from './due.ts'
import type { AvoidedKeys, Tier } from './duplicates.ts'
import { airtimeMs, maxAirtimeAt, streamDurationAt } from './durations.ts'
import { type PlayOrRow, isInterrupting, type Playlist, type Slot } from './library.ts'
import type { LogEntry } from './log-entry.ts'
import { findPools, firstIndexIn, nextBatch, type TrackPool } from './pools.ts'
import { findSongsToAvoid } from './previous-play.ts'
import { shuffleKey } from './random.ts'
import { valueAt, overlapAt, songKeysAt } from './tracks.ts'

/** A chosen song, as a play without a start time. Without a playlist it is a listener's request. */
export interface ChosenSong extends Omit<PlayOrRow, 'startsAtMs'> {
  readonly mediaId: number
  /** The URL of an entry of a remote list, else empty. */
  readonly uri: string
}

type ChosenSongs = readonly [ChosenSong, ...ChosenSong[]]

/** What a playlist offers for a slot: one song, or a batch that is played back to back. */
export interface Candidate {
  readonly tracks: ChosenSongs
  readonly tier: Tier
  /** By how much it exceeds the window of the playlist. */
  readonly overrunMs: number
  readonly log: readonly LogEntry[]
}

/** What to play in a slot. */
export interface Decision extends Pick<Candidate, 'tracks' | 'log'> {
  /** Null for a request. */
  readonly tier: Tier | null
  /** Nothing else was left than the previous song, a removed track or a fallback stream. */
  readonly isForced: boolean
}

/** A playlist that is due in a slot, and how to choose from it. */
export interface PickInput {
  readonly playlist: Playlist
  readonly due: DueCheck
  readonly slot: Slot
  readonly recent: AvoidedKeys
  /** Seeds the order of random playlists. */
  readonly randomSeed: number
  /** Whether the previous song may be repeated, because nothing else is left. */
  readonly mayRepeat: boolean
}

/** Returns the candidate of a playlist for a tier, or null. */
export type FindCandidate = (tier: Tier) => Candidate | null

/** Prepares the candidates of a playlist. Work that the tiers share is done once, when needed. */
export function prepareCandidates(choice: PickInput): FindCandidate {
  const { playlist, due, slot, randomSeed, mayRepeat } = choice
  if (playlist.source === 'stream') return () => streamCandidate(choice)
  if (playlist.options.has('merge')) {
    const merged = once(() => mergedCandidate(choice))
    return tier => (tier === 1 || mayRepeat ? merged() : null)
  }
  const prepare = playlist.order === 'sequential' ? sequentialCandidate : shuffledCandidate
  const finders = once(() =>
    findPools(playlist, slot, due.window, randomSeed).map(pool => prepare(choice, pool))
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
function sequentialCandidate(choice: PickInput, pool: TrackPool): FindCandidate {
  const { playlist, due, slot } = choice
  const index = firstIndexIn(playlist, pool)
  const durationMs = valueAt(playlist.tracks.durations, index)
  const isFitting = index >= 0 && airtimeMs(durationMs) <= maxAirtimeAt(playlist, slot, due.window)
  if (!isFitting) return () => null
  const track = chooseTrack(choice, index, pool.pass)
  return tier => toCandidate(choice, [track], tier, [])
}

/** The first track in shuffled order that fits the tier. */
function shuffledCandidate(choice: PickInput, pool: TrackPool): FindCandidate {
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
      maxAirtimeMs: maxAirtimeAt(playlist, slot, due.window),
      includes: index => pool.includes(index),
      orderKey: index => shuffleKey(seed, pool.seed, valueAt(tracks.ids, index))
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

/** The whole list as one batch. */
function mergedCandidate(choice: PickInput): Candidate | null {
  const { playlist, due, slot } = choice
  const batch = nextBatch(playlist, slot)
  const [first, ...others] = batch.indices.map(index => chooseTrack(choice, index, batch.pass))
  if (!first || batch.airtimeMs > maxAirtimeAt(playlist, slot, due.window)) return null
  return toCandidate(choice, [first, ...others], 1, [])
}

/** One URL, until another playlist is due. */
function streamCandidate(choice: PickInput): Candidate {
  const durationMs = streamDurationAt(choice.slot, choice.due.window)
  return { tracks: [{ ...chooseTrack(choice, 0, null), durationMs }], tier: 1, overrunMs: 0, log: [] }
}

function toCandidate(
  { due: { window }, slot }: PickInput,
  tracks: ChosenSongs,
  tier: Tier,
  log: readonly LogEntry[]
): Candidate {
  const endsAtMs = tracks.reduce((timeMs, track) => timeMs + airtimeMs(track.durationMs), slot.atMs)
  return { tracks, tier, overrunMs: window ? Math.max(0, endsAtMs - window.endMs) : 0, log }
}

function chooseTrack({ playlist, due }: PickInput, index: number, pass: number | null): ChosenSong {
  const { tracks } = playlist
  return {
    playlistId: playlist.id,
    trackId: valueAt(tracks.ids, index),
    mediaId: valueAt(tracks.media, index),
    pass: pass ?? playlist.pass,
    requestId: null,
    occurrenceMs: due.occurrenceMs,
    song: songKeysAt(tracks, index),
    isVisible: !playlist.isJingle,
    isInterrupt: isInterrupting(playlist),
    durationMs: valueAt(tracks.durations, index),
    overlapMs: overlapAt(tracks, index),
    uri: tracks.uris[index] ?? ''
  }
}
