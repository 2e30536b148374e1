import { airtimeMs } from '../durations.ts'
import {
  trackCountsInPass,
  isInterruptingPlaylist,
  isPlayablePlaylist,
  type Playlist,
  playlistWeight
} from '../library.ts'
import { findWindowAt, listWindowsBetween } from '../schedule.ts'
import type { SimulationRun } from './run.ts'

/** Counts plays, airtime, silence, variety and overruns. Time after the end of the run is not counted. */
export function measureTotals({ library, plays, untilMs }: SimulationRun) {
  const { playlists, rules } = library
  const lengthOf = (each: { readonly startsAtMs: number; readonly endsAtMs: number }) =>
    Math.min(each.endsAtMs, untilMs) - each.startsAtMs
  const silences = plays.filter(({ play }) => play === null)
  const heard = plays.flatMap(({ play }) => play ?? [])
  return {
    plays: heard.length,
    silences: silences.length,
    silentMs: sum(silences.map(lengthOf)),
    songsHeard: countDifferent(heard.map(({ mediaId }) => mediaId)),
    songs: new Set(playlists.flatMap(({ tracks }) => [...tracks.media])).size,
    playlists: playlists.map(playlist => {
      const { id, name, schedule, tracks } = playlist
      const own = plays.filter(({ play }) => play?.playlistId === id)
      const windowEnd = (atMs: number) => findWindowAt(rules.zone, schedule, atMs)?.endMs ?? Infinity
      const overruns = own
        .map(({ startsAtMs, endsAtMs }) => endsAtMs - windowEnd(startsAtMs))
        .filter(overrunMs => overrunMs > 0)
      return {
        playlistId: id,
        name,
        plays: own.length,
        airtimeMs: sum(own.map(lengthOf)),
        tracksHeard: countDifferent(own.map(({ play }) => play?.trackId)),
        tracks: tracks.ids.filter((_, index) => trackCountsInPass(playlist, index)).length,
        overruns: overruns.length,
        longestOverrunMs: Math.max(0, ...overruns)
      }
    })
  }
}

const countDifferent = (ids: readonly (number | null | undefined)[]) =>
  new Set(ids.filter(id => typeof id === 'number')).size

export type AirtimeShare = ReturnType<typeof measureAirtimeShares>[number]

/** Allowed difference from the expected share; three standard deviations if there are few plays. */
const minAllowed = 0.02

/**
 * Measures how rotations without a schedule share the airtime outside programs, 0 to 1. The expected share
 * follows from weights and mean lengths of tracks. Empty for a single rotation.
 */
export function measureAirtimeShares({ library, plays, fromMs, untilMs }: SimulationRun) {
  const { playlists, rules } = library
  const programs = playlists
    .filter(playlist => playlist.type === 'default' && isPlayablePlaylist(playlist))
    .flatMap(({ schedule }) => listWindowsBetween(rules.zone, schedule, fromMs, untilMs))
  const rotations = playlists.filter(isRotation)
  const counts = rotations.map(playlist => ({ playlist, plays: 0, airtimeMs: 0 }))
  for (const { play, startsAtMs, endsAtMs } of plays) {
    const count = counts.find(({ playlist }) => playlist.id === play?.playlistId)
    if (!count || programs.some(({ startMs, endMs }) => startMs <= startsAtMs && startsAtMs < endMs)) continue
    count.plays++
    count.airtimeMs += endsAtMs - startsAtMs
  }
  const total = sum(counts.map(count => count.plays))
  if (rotations.length < 2 || total === 0) return []
  const totalMs = sum(counts.map(count => count.airtimeMs))
  const totalExpected = sum(rotations.map(expectedAirtime))
  return counts.map(({ playlist, ...count }) => {
    const expected = expectedAirtime(playlist) / totalExpected
    return {
      ...count,
      playlistId: playlist.id,
      name: playlist.name,
      weight: playlistWeight(playlist),
      expected,
      measured: count.airtimeMs / totalMs,
      allowed: Math.max(minAllowed, 3 * Math.sqrt((expected * (1 - expected)) / total))
    }
  })
}

const isRotation = (playlist: Playlist) =>
  playlist.type === 'default' &&
  playlist.schedule.length === 0 &&
  playlist.source !== 'stream' &&
  isPlayablePlaylist(playlist) &&
  !isInterruptingPlaylist(playlist)

/** In proportion to other rotations: plays are distributed by weight. */
function expectedAirtime(playlist: Playlist): number {
  const { durations } = playlist.tracks
  return playlistWeight(playlist) * (sum(Array.from(durations, airtimeMs)) / durations.length)
}

export type JingleStatistics = ReturnType<typeof measureJingles>

/**
 * Counts jingles directly after a jingle, separately those next to an hourly playlist, and the songs between
 * two plays of playlists that count songs (0 if played once).
 */
export function measureJingles({ library, plays }: SimulationRun) {
  const { playlists } = library
  const hourly = new Set(playlists.filter(({ type }) => type === 'once_per_hour').map(({ id }) => id))
  let inARow = 0
  let besideHourly = 0
  plays.forEach(({ play }, index) => {
    const before = plays[index - 1]?.play
    if (!play || !before || play.isVisible || before.isVisible) return
    if (hourly.has(play.playlistId ?? 0) || hourly.has(before.playlistId ?? 0)) besideHourly++
    else inARow++
  })
  const counting = playlists.filter(({ type, everySongs }) => type === 'once_per_x_songs' && everySongs > 0)
  const spacings = counting.map(({ id, name, everySongs }) => {
    const gaps = countSongsBetween(plays, id).toSorted((a, b) => a - b)
    return {
      playlistId: id,
      name,
      everySongs,
      plays: plays.filter(({ play }) => play?.playlistId === id).length,
      least: gaps[0] ?? 0,
      median: gaps[Math.floor((gaps.length - 1) / 2)] ?? 0,
      most: gaps.at(-1) ?? 0
    }
  })
  return { inARow, besideHourly, spacings }
}

function countSongsBetween(plays: SimulationRun['plays'], playlistId: number): number[] {
  const gaps: number[] = []
  let songs: number | null = null
  for (const { play } of plays) {
    if (play?.playlistId === playlistId) {
      if (songs !== null) gaps.push(songs)
      songs = 0
    } else if (play?.isVisible && songs !== null) songs++
  }
  return gaps
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
