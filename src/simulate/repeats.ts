import { airtimeMs } from '../autodj/estimate.ts'
import type { Library, Playlist } from '../autodj/library.ts'
import type { SongKeys } from '../autodj/recent.ts'
import { loopsOnce, windowAt } from '../autodj/schedule.ts'
import type { SimulatedPlay } from '../autodj/simulate.ts'
import { at, forkTracks, indexOf, keysAt, markAired, type Tracks } from '../autodj/tracks.ts'
import type { Run } from './run.ts'

/**
 * Plays of one kind, and how many of them repeat what was heard within the range of the station; each counts
 * once.
 */
export interface Repeats {
  /** The tier of the choice; `unchecked` where the playlist repeats as it is told, or nobody chose. */
  readonly tier: 1 | 2 | 3 | 'unchecked'
  readonly plays: number
  readonly song: number
  readonly title: number
  readonly artist: number
  /** Of them, those for which a playlist that was due had a track left that repeats nothing. */
  readonly avoidable: number
}

const kinds = [1, 2, 3, 'unchecked'] as const

/** Measures, apart from what the choices say of themselves, what is heard again too early. */
export function repeatsOf({ library, plays }: Run): Repeats[] {
  const { playlists, past, rules } = library
  const heard = openMemory(rules.duplicateRangeMs)
  for (const { song, startsAtMs } of past.plays) heard.note(song, startsAtMs)
  const stock = new Map(playlists.map(({ id, tracks }) => [id, forkTracks(tracks)]))
  const counts = kinds.map(tier => ({ tier, plays: 0, song: 0, title: 0, artist: 0, avoidable: 0 }))
  for (const each of plays) {
    const { play, startsAtMs } = each
    if (play === null) continue
    const tier = tierOf(library, each)
    const repeat = heard.repeatOf(play.song, startsAtMs)
    for (const count of counts.filter(one => one.tier === tier)) {
      count.plays++
      if (repeat !== null) count[repeat]++
      if (repeat !== null && tier !== 'unchecked' && isAvoidable(library, each, stock, heard))
        count.avoidable++
    }
    heard.note(play.song, startsAtMs)
    const tracks = stock.get(play.playlistId ?? 0)
    if (tracks && play.trackId !== null)
      markAired(tracks, indexOf(tracks, play.trackId), play.pass, startsAtMs)
  }
  return counts
}

interface Memory {
  note(song: SongKeys, atMs: number): void
  /** What of a song was heard within the range before a time, the most telling first. */
  repeatOf(song: SongKeys, atMs: number): 'song' | 'title' | 'artist' | null
}

function openMemory(rangeMs: number): Memory {
  const songs = new Map<number, number>()
  const titles = new Map<number, number>()
  const artists = new Map<number, number>()
  return {
    note({ song, title, artists: singers }, atMs) {
      songs.set(song, atMs)
      if (title !== 0) titles.set(title, atMs)
      for (const singer of singers) artists.set(singer, atMs)
    },
    repeatOf({ song, title, artists: singers }, atMs) {
      const isIn = (lastMs: number | undefined) => lastMs !== undefined && lastMs > atMs - rangeMs
      if (isIn(songs.get(song))) return 'song'
      if (isIn(titles.get(title))) return 'title'
      return singers.some(singer => isIn(artists.get(singer))) ? 'artist' : null
    }
  }
}

function tierOf({ playlists }: Library, { play, log }: SimulatedPlay): Repeats['tier'] {
  const playlist = playlists.find(({ id }) => id === play?.playlistId)
  const picked = log.findLast(entry => entry.step === 'picked')
  if (!playlist || !picked || !('tier' in picked) || !isChecked(playlist)) return 'unchecked'
  return kinds.find(kind => kind === picked.tier) ?? 'unchecked'
}

const isChecked = ({ order, source, avoidsDuplicates, options }: Playlist) =>
  avoidsDuplicates && source === 'songs' && order !== 'sequential' && !options.has('merge')

/**
 * Whether a playlist that was drawn from had a track left, by its passes and windows, that would have
 * repeated nothing.
 */
function isAvoidable(
  { playlists, rules }: Library,
  { log, startsAtMs }: SimulatedPlay,
  stock: ReadonlyMap<number, Tracks>,
  heard: Memory
): boolean {
  const drawn = log.find(entry => entry.step === 'bucket')?.order ?? []
  return drawn.some(({ id }) => {
    const playlist = playlists.find(each => each.id === id)
    const tracks = stock.get(id)
    if (!playlist || !tracks || !isChecked(playlist)) return false
    const window = windowAt(rules.zone, playlist.schedule, startsAtMs)
    if (window && loopsOnce(playlist, window)) return false
    const longestMs = window ? window.endMs + rules.overrunMs - startsAtMs : Infinity
    const working = Math.max(playlist.pass, tracks.lastPass.reduce((a, b) => Math.min(a, b), Infinity) + 1)
    return tracks.ids.some(
      (_, index) =>
        (playlist.order === 'random' || at(tracks.lastPass, index) <= working) &&
        airtimeMs(at(tracks.durations, index)) <= longestMs &&
        heard.repeatOf(keysAt(tracks, index), startsAtMs) === null
    )
  })
}
