import { choose, streamLengthAt, type Tier } from './choose.ts'
import type { Due } from './due.ts'
import { airtimeMs } from './estimate.ts'
import { lastBefore, type HeardPlay, type Playlist, type Slot } from './library.ts'
import type { LogEntry } from './log-entry.ts'
import { batchAt } from './merge.ts'
import { firstOf, type Pool, poolsOf } from './pools.ts'
import type { Recent } from './recent.ts'
import type { Window } from './schedule.ts'
import { at, keysAt } from './tracks.ts'
import { shuffledPlace } from './zone.ts'

/** A track that may be played in a slot, as a play that has no time yet. */
export interface ChosenSong extends Omit<HeardPlay, 'startsAtMs'> {
  readonly playlistId: number
  readonly trackId: number
  readonly mediaId: number
  /** The address of a remote list's entry, else empty. */
  readonly uri: string
}

/** What a playlist offers for a slot. Several tracks are one batch, played back to back. */
export interface Candidate {
  readonly tracks: readonly [ChosenSong, ...ChosenSong[]]
  readonly tier: Tier
  /** By how much it would play beyond its window. Milliseconds. */
  readonly overrunMs: number
  readonly log: readonly LogEntry[]
}

/** What all candidates of one slot share. */
export interface ChoiceContext {
  readonly slot: Slot
  readonly recent: Recent
  /** Seeds the order of random playlists. */
  readonly draw: number
  /** Whether the song before the slot may come again, because there is nothing else. */
  readonly mayRepeat: boolean
}

/** Gives the candidate of a playlist for each tier; null where it has none. */
export type CandidateOf = (tier: Tier) => Candidate | null

/** Prepares a playlist that is due; what the tiers share is found once, when it is first asked for. */
export function candidates(playlist: Playlist, due: Due, choosing: ChoiceContext): CandidateOf {
  if (playlist.source === 'stream') return () => stream(playlist, due, choosing)
  if (playlist.options.has('merge')) {
    const merged = lazily(() => mergedOf(playlist, due, choosing))
    return tier => (tier === 1 || choosing.mayRepeat ? merged() : null)
  }
  const offers = lazily(() =>
    poolsOf(playlist, choosing.slot, due.window, choosing.draw).map(pool =>
      playlist.order === 'sequential'
        ? inSequence(playlist, due, choosing, pool)
        : shuffled(playlist, due, choosing, pool)
    )
  )
  return tier => firstFound(offers(), tier)
}

function firstFound(offers: readonly CandidateOf[], tier: Tier): Candidate | null {
  for (const offer of offers) {
    const candidate = offer(tier)
    if (candidate) return candidate
  }
  return null
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => (made ??= { value: make() }).value
}

/** The next track of the list, whatever was heard before. */
function inSequence(playlist: Playlist, due: Due, { slot }: ChoiceContext, pool: Pool): CandidateOf {
  const index = firstOf(playlist, pool)
  const { durations } = playlist.tracks
  const isFitting = index >= 0 && airtimeMs(at(durations, index)) <= longestAt(playlist, slot, due.window)
  const track = isFitting ? chosenAt(playlist, due, index, pool.pass) : null
  return tier => track && single(track, due, slot, tier, [])
}

/** The first track in a shuffled order that fits as well as the tier asks for. */
function shuffled(
  playlist: Playlist,
  due: Due,
  { slot, recent, mayRepeat }: ChoiceContext,
  pool: Pool
): CandidateOf {
  const { id, tracks, source, avoidsDuplicates } = playlist
  const { seed } = slot.library.rules
  const winners = lazily(() =>
    choose({
      tracks,
      recent: avoidsDuplicates && source === 'songs' ? recent : nothingRecent,
      lastSong: lastBefore(slot)?.song.song ?? null,
      // What has a time of its own comes back at that time, with the tracks that it has.
      rejected: playlist.type === 'default' ? slot.rejected : nobody,
      longestMs: longestAt(playlist, slot, due.window),
      isIn: index => pool.isIn(index),
      placeOf: index => shuffledPlace(seed, pool.run, at(tracks.ids, index))
    })
  )
  return tier => {
    const { byTier, repeat, lookedAt: looked_at, skipped } = winners()
    const index = mayRepeat ? repeat : byTier[tier]
    if (index < 0) return null
    const track = chosenAt(playlist, due, index, pool.pass)
    return single(track, due, slot, tier, [
      { step: 'tracks', id, tier, looked_at, skipped, pass: track.pass }
    ])
  }
}

const nobody: ReadonlySet<number> = new Set()
const nothingRecent: Recent = { songs: new Map(), titles: new Map(), artists: new Map() }

function single(
  track: ChosenSong,
  { window }: Due,
  slot: Slot,
  tier: Tier,
  log: readonly LogEntry[]
): Candidate {
  return { tracks: [track], tier, overrunMs: overrunAt(slot, window, airtimeMs(track.durationMs)), log }
}

/** The whole list as one batch. */
function mergedOf(playlist: Playlist, due: Due, { slot }: ChoiceContext): Candidate | null {
  const { pass, indices, airtimeMs: heldMs } = batchAt(playlist, slot)
  const [first, ...others] = indices.map(index => chosenAt(playlist, due, index, pass))
  if (!first || heldMs > longestAt(playlist, slot, due.window)) return null
  return { tracks: [first, ...others], tier: 1, overrunMs: overrunAt(slot, due.window, heldMs), log: [] }
}

/** One address, until it is time for something else. */
function stream(playlist: Playlist, due: Due, { slot }: ChoiceContext): Candidate {
  const track = { ...chosenAt(playlist, due, 0, null), durationMs: streamLengthAt(slot, due.window) }
  return { tracks: [track], tier: 1, overrunMs: 0, log: [] }
}

function chosenAt(playlist: Playlist, due: Due, index: number, pass: number | null): ChosenSong {
  const { tracks } = playlist
  return {
    playlistId: playlist.id,
    trackId: at(tracks.ids, index),
    mediaId: at(tracks.media, index),
    pass: pass ?? playlist.pass,
    requestId: null,
    occurrenceMs: due.occurrenceMs,
    song: keysAt(tracks, index),
    isVisible: !playlist.isJingle,
    isInterrupt: playlist.options.has('interrupt'),
    durationMs: at(tracks.durations, index),
    uri: tracks.uris[index] ?? ''
  }
}

/**
 * How long a playlist may hold the air from a slot on: what it plays first in a window always fits, what
 * follows may overrun the window by what the station allows. Milliseconds.
 */
export function longestAt({ id }: Playlist, slot: Slot, window: Window | null): number {
  if (window === null) return Infinity
  const { rules, past } = slot.library
  const isOne = (play: HeardPlay) => play.playlistId === id && play.startsAtMs >= window.startMs
  const isFirst = !slot.ahead.some(isOne) && !past.plays.some(isOne)
  return isFirst ? Infinity : window.endMs + rules.overrunMs - slot.atMs
}

/** Whether anything of a playlist is short enough. */
export function hasFitting(playlist: Playlist, slot: Slot, window: Window | null): boolean {
  const longestMs = longestAt(playlist, slot, window)
  if (longestMs === Infinity || playlist.source === 'stream') return true
  if (playlist.options.has('merge')) return batchAt(playlist, slot).airtimeMs <= longestMs
  const { durations } = playlist.tracks
  const isShort = (index: number) => airtimeMs(at(durations, index)) <= longestMs
  const [rest, ...borrowed] = poolsOf(playlist, slot, window, 0)
  if (playlist.order === 'sequential') return isShort(firstOf(playlist, rest))
  return [rest, ...borrowed].some(pool => durations.some((_, index) => pool.isIn(index) && isShort(index)))
}

/** By how much a play that holds the air for a time goes beyond its window. Milliseconds. */
function overrunAt({ atMs }: Slot, window: Window | null, heldMs: number): number {
  return window === null ? 0 : Math.max(0, atMs + heldMs - window.endMs)
}
