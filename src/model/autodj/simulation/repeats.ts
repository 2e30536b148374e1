import { airtimeMs } from '../durations.ts'
import { trackCountsInPass, type AutodjLibrary, type Playlist, type PlayOrRow } from '../library.ts'
import { findWindowAt } from '../schedule.ts'
import type { SimulatedPlay } from '../simulate.ts'
import { hourMs } from '../time-zone.ts'
import {
  columnValueAt,
  forkTrackColumns,
  findTrackIndex,
  markTrackAired,
  songKeysAt,
  type TrackColumns
} from '../track-columns.ts'
import { playsLoopOnce } from '../track-pools.ts'
import type { SimulationRun } from './run.ts'

/** `unchecked`: the playlist allows duplicates, or the play was not chosen by the AutoDJ. */
const tiers = [1, 2, 3, 'unchecked'] as const

export type TierRepeatCounts = ReturnType<typeof measureRepeats>[number]

/** The previous song is in the range for at least this time after its start. */
const leastRangeMs = hourMs

/**
 * Counts the plays of each tier that repeat a song, title or artist within the duplicate range, or the song before
 * them, regardless of jingles in between; independently of what the AutoDJ recorded. A repeat is avoidable if a
 * playlist in the draw had a track that repeats nothing.
 */
export function measureRepeats({ library, plays }: SimulationRun) {
  const { playlists, past, rules } = library
  const heard = openHeardSongs(rules.duplicateRangeMs)
  for (const play of past.plays) heard.add(play, play.startsAtMs)
  const tracksById = new Map(playlists.map(({ id, tracks }) => [id, forkTrackColumns(tracks)]))
  const counts = tiers.map(tier => ({ tier, plays: 0, song: 0, title: 0, artist: 0, avoidable: 0 }))
  for (const each of plays) {
    const { play, startsAtMs } = each
    if (play === null) continue
    const tier = readTier(library, each)
    const repeat = heard.findRepeat(play, startsAtMs)
    const count = counts.find(one => one.tier === tier)
    if (count) {
      count.plays++
      if (repeat !== null) count[repeat]++
      if (repeat !== null && tier !== 'unchecked' && isAvoidable(library, each, tracksById, heard))
        count.avoidable++
    }
    heard.add(play, startsAtMs)
    const tracks = tracksById.get(play.playlistId ?? 0)
    if (tracks && play.trackId !== null)
      markTrackAired(tracks, findTrackIndex(tracks, play.trackId), play.pass, startsAtMs)
  }
  return counts
}

type HeardSongs = ReturnType<typeof openHeardSongs>
type HeardPlay = Pick<PlayOrRow, 'song' | 'isVisible'>

function openHeardSongs(rangeMs: number) {
  const songs = new Map<number, number>()
  const titles = new Map<number, number>()
  const artists = new Map<number, number>()
  let lastSong: number | null = null
  return {
    add({ song, isVisible }: HeardPlay, atMs: number): void {
      if (isVisible) lastSong = song.song
      songs.set(song.song, atMs)
      if (song.title !== 0) titles.set(song.title, atMs)
      for (const artist of song.artists) artists.set(artist, atMs)
    },
    /** What a play repeats within the range before a time. */
    findRepeat({ song, isVisible }: HeardPlay, atMs: number): 'song' | 'title' | 'artist' | null {
      const isRecent = (lastMs: number | undefined, sinceMs = rangeMs) =>
        lastMs !== undefined && lastMs > atMs - sinceMs
      const songRangeMs = isVisible && song.song === lastSong ? Math.max(rangeMs, leastRangeMs) : rangeMs
      if (isRecent(songs.get(song.song), songRangeMs)) return 'song'
      if (isRecent(titles.get(song.title))) return 'title'
      return song.artists.some(artist => isRecent(artists.get(artist))) ? 'artist' : null
    }
  }
}

function readTier({ playlists }: AutodjLibrary, { play, log }: SimulatedPlay): (typeof tiers)[number] {
  const playlist = playlists.find(({ id }) => id === play?.playlistId)
  const picked = log.findLast(entry => entry.step === 'picked')
  if (!playlist || !picked || !('tier' in picked) || !avoidsRepeats(playlist)) return 'unchecked'
  return tiers.find(tier => tier === picked.tier) ?? 'unchecked'
}

const avoidsRepeats = ({ order, source, avoidsDuplicates, options }: Playlist) =>
  avoidsDuplicates && source === 'songs' && order !== 'sequential' && !options.has('merge')

/** Whether a playlist in the draw had a track in its pass and window that repeats nothing. */
function isAvoidable(
  { playlists, rules }: AutodjLibrary,
  { log, startsAtMs }: SimulatedPlay,
  tracksById: ReadonlyMap<number, TrackColumns>,
  heard: HeardSongs
): boolean {
  const drawn = log.find(entry => entry.step === 'bucket')?.order ?? []
  return drawn.some(({ id }) => {
    const playlist = playlists.find(each => each.id === id)
    const tracks = tracksById.get(id)
    if (!playlist || !tracks || !avoidsRepeats(playlist)) return false
    const window = findWindowAt(rules.zone, playlist.schedule, startsAtMs)
    if (window && playsLoopOnce(playlist, window)) return false
    const maxMs = window ? window.endMs + rules.overrunMs - startsAtMs : Infinity
    const passes = tracks.lastPass.filter((_, index) => trackCountsInPass(playlist, index))
    const pass = Math.max(playlist.pass, passes.reduce((a, b) => Math.min(a, b), Infinity) + 1)
    return tracks.ids.some(
      (_, index) =>
        trackCountsInPass(playlist, index) &&
        (playlist.order === 'random' || columnValueAt(tracks.lastPass, index) <= pass) &&
        airtimeMs(columnValueAt(tracks.durations, index)) <= maxMs &&
        heard.findRepeat({ song: songKeysAt(tracks, index), isVisible: !playlist.isJingle }, startsAtMs) ===
          null
    )
  })
}
