import { choose, type Tier, type Winners } from './choose.ts'
import { type Due, loopsOnce, playedIn } from './due.ts'
import { airtimeMs } from './estimate.ts'
import { lastBefore, type Play, type Playlist, type Slot } from './library.ts'
import type { LogEntry } from './log-entry.ts'
import { type Passes, passesOf } from './passes.ts'
import { shuffledPlace } from './random.ts'
import type { Recent } from './recent.ts'
import { at, keysAt } from './tracks.ts'

/** A track that may be played in a slot, as a play that has no time yet. */
export interface Chosen extends Omit<Play, 'startsAtMs'> {
  readonly playlistId: number
  readonly trackId: number
  readonly mediaId: number
  /** The address of a remote list's entry, else empty. */
  readonly uri: string
}

/** What a playlist offers for a slot. Several tracks are one batch, played back to back. */
export interface Candidate {
  readonly tracks: readonly [Chosen, ...Chosen[]]
  readonly tier: Tier
  /** By how much it would play beyond its window. Milliseconds. */
  readonly overrunMs: number
  readonly log: readonly LogEntry[]
}

/** What all candidates of one slot share. */
export interface Choosing {
  readonly slot: Slot
  readonly recent: Recent
  /** Seeds the order of random playlists. */
  readonly draw: number
  /** Whether the song before the slot may come again, because there is nothing else. */
  readonly mayRepeat: boolean
}

/** Gives the candidate of a playlist for each tier; null where it has none. */
export type CandidateOf = (tier: Tier) => Candidate | null

const batchMost = 500
/** A stream without a schedule is looked at again after this time. */
const streamMs = 600_000

/** Prepares a playlist that is due; what the tiers share is found once, when it is first asked for. */
export function candidates(playlist: Playlist, due: Due, choosing: Choosing): CandidateOf {
  if (playlist.source === 'stream') return () => stream(playlist, due, choosing)
  if (playlist.options.has('merge')) return tier => (tier === 1 ? merged(playlist, due, choosing) : null)
  let found: ((tier: Tier) => Candidate | null) | null = null
  return tier => {
    found ??= finder(playlist, due, choosing)
    return found(tier)
  }
}

function finder(playlist: Playlist, due: Due, choosing: Choosing): CandidateOf {
  const { slot } = choosing
  const longestMs = longestFor(playlist, due, slot)
  const { window } = due
  if (window !== null && loopsOnce(playlist, window)) {
    const played = playedIn(playlist.id, slot, window)
    const isIn = (index: number) => !played.has(at(playlist.tracks.ids, index))
    return orderedOr(playlist, due, choosing, longestMs, isIn, playlist.pass, window.startMs / 1_000)
  }
  if (playlist.order === 'random') {
    return orderedOr(playlist, due, choosing, longestMs, () => true, playlist.pass, choosing.draw)
  }
  const passes = passesOf(playlist, slot)
  const { working, consumed } = passes
  const current = orderedOr(
    playlist,
    due,
    choosing,
    longestMs,
    index => at(consumed, index) < working,
    working,
    working
  )
  if (playlist.order === 'sequential' || !playlist.avoidsDuplicates) return current
  const borrowed = lazily(() =>
    orderedOr(
      playlist,
      due,
      choosing,
      longestMs,
      index => at(consumed, index) === working,
      working + 1,
      working + 1
    )
  )
  return tier => current(tier) ?? borrowed()(tier)
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => (made ??= { value: make() }).value
}

/** Chooses from a pool: by the list's own order where it is sequential, else by a shuffled one. */
function orderedOr(
  playlist: Playlist,
  due: Due,
  { slot, recent, mayRepeat }: Choosing,
  longestMs: number,
  isIn: (index: number) => boolean,
  pass: number,
  run: number
): CandidateOf {
  const { tracks, order, avoidsDuplicates } = playlist
  const give = (index: number, tier: Tier, winners: Winners | null): Candidate | null => {
    if (index < 0) return null
    const track = chosenAt(playlist, due, index, pass)
    const log: LogEntry[] = winners
      ? [
          {
            step: 'tracks',
            id: playlist.id,
            tier,
            looked_at: winners.lookedAt,
            skipped: winners.skipped,
            pass
          }
        ]
      : []
    return { tracks: [track], tier, overrunMs: overrunOf(due, slot, track.durationMs), log }
  }
  if (order === 'sequential') {
    const index = firstIn(tracks.ids.length, isIn)
    const isTooLong = index >= 0 && airtimeMs(at(tracks.durations, index)) > longestMs
    return tier => (isTooLong ? null : give(index, tier, null))
  }
  const { seed } = slot.library.rules
  const placeOf = (index: number) => shuffledPlace(seed, run, at(tracks.ids, index))
  const lastSong = lastBefore(slot)?.song.song ?? null
  const chosen = lazily(() =>
    choose({
      tracks,
      recent: avoidsDuplicates && playlist.source === 'songs' ? recent : nothingRecent,
      lastSong,
      rejected: slot.rejected,
      longestMs,
      isIn,
      placeOf
    })
  )
  return tier => {
    const winners = chosen()
    const index = mayRepeat ? winners.repeat : winners.byTier[tier]
    return give(index, tier, winners)
  }
}

const nothingRecent: Recent = { songs: new Map(), titles: new Map(), artists: new Map() }

function firstIn(count: number, isIn: (index: number) => boolean): number {
  for (let index = 0; index < count; index++) if (isIn(index)) return index
  return -1
}

/** The whole list as one batch. */
function merged(playlist: Playlist, due: Due, { slot }: Choosing): Candidate | null {
  const { tracks, order } = playlist
  const { seed } = slot.library.rules
  const passes = passesOf(playlist, slot)
  const { pass, isIn } = mergedRun(playlist, slot, passes)
  const indices = [...tracks.ids.keys()].filter(isIn)
  if (order !== 'sequential') {
    const places = new Map(indices.map(index => [index, shuffledPlace(seed, pass, at(tracks.ids, index))]))
    indices.sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
  }
  const [first, ...others] = indices.slice(0, batchMost).map(index => chosenAt(playlist, due, index, pass))
  if (!first) return null
  const durationMs = [first, ...others].reduce((sum, track) => sum + airtimeMs(track.durationMs), 0)
  if (durationMs > longestFor(playlist, due, slot)) return null
  return { tracks: [first, ...others], tier: 1, overrunMs: overrunOf(due, slot, durationMs), log: [] }
}

/** A new run through the list; the rest of a run whose first rows stand directly before the slot, where a list is long. */
function mergedRun({ id, pass, tracks }: Playlist, slot: Slot, { working, consumed }: Passes) {
  const last = lastBefore(slot)
  const isBegun = last?.playlistId === id && last.pass === working && tracks.ids.length > batchMost
  if (isBegun) return { pass: working, isIn: (index: number) => at(consumed, index) < working }
  const newest = consumed.reduce((most, each) => Math.max(most, each), 0)
  return { pass: Math.max(pass, newest + 1), isIn: () => true }
}

/** One address from the slot to the end of its window. */
function stream(playlist: Playlist, due: Due, { slot }: Choosing): Candidate {
  const durationMs = due.window ? due.window.endMs - slot.atMs : streamMs
  const track = { ...chosenAt(playlist, due, 0, playlist.pass), durationMs }
  return { tracks: [track], tier: 1, overrunMs: 0, log: [] }
}

function chosenAt(playlist: Playlist, due: Due, index: number, pass: number): Chosen {
  const { tracks } = playlist
  return {
    playlistId: playlist.id,
    trackId: at(tracks.ids, index),
    mediaId: at(tracks.media, index),
    pass,
    requestId: null,
    occurrenceMs: due.occurrenceMs,
    song: keysAt(tracks, index),
    isVisible: !playlist.isJingle,
    isInterrupt: playlist.options.has('interrupt'),
    durationMs: at(tracks.durations, index),
    uri: tracks.uris[index] ?? ''
  }
}

/** How long a track may be: the first one of a window always fits, later ones may overrun it by what the station allows. */
function longestFor(playlist: Playlist, { window }: Due, slot: Slot): number {
  if (window === null) return Infinity
  const { rules, past } = slot.library
  const isOne = (play: Play) => play.playlistId === playlist.id && play.startsAtMs >= window.startMs
  const isFirst = !slot.ahead.some(isOne) && !past.plays.some(isOne)
  return isFirst ? Infinity : window.endMs + rules.overrunMs - slot.atMs
}

function overrunOf({ window }: Due, slot: Slot, durationMs: number): number {
  return window === null ? 0 : Math.max(0, slot.atMs + airtimeMs(durationMs) - window.endMs)
}
