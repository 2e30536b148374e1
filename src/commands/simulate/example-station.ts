import type { AutodjRules, PlaylistOption, Playlist } from '../../model/autodj/library.ts'
import { type RandomSource, createSeededRandom } from '../../model/autodj/random.ts'
import type { ScheduleItem } from '../../model/autodj/schedule.ts'
import type { SimulatedStation } from '../../model/autodj/simulation/run.ts'
import { minuteMs, type TimeZone } from '../../model/autodj/time-zone.ts'
import { buildTrackColumns, type SongKeys, type TrackRow } from '../../model/autodj/track-columns.ts'

/** The settings of a new station. */
export const newStationSettings = {
  duplicateRangeMs: 120 * minuteMs,
  overlapMs: 0,
  requestThresholdMs: 15 * minuteMs,
  consecutiveRequests: 2,
  overrunMs: 10 * minuteMs,
  cutsBeforeSent: false
} satisfies Omit<AutodjRules, 'zone' | 'seed'>

/** The settings of a new playlist. */
export const newPlaylistSettings = {
  type: 'default',
  source: 'songs',
  order: 'shuffle',
  weight: 3,
  isEnabled: true,
  isJingle: false,
  avoidsDuplicates: true,
  everySongs: 0,
  everyMinutes: 0,
  hourMinute: 0,
  options: new Set<PlaylistOption>(),
  schedule: [],
  pass: 1
} satisfies Omit<Playlist, 'id' | 'name' | 'tracks'>

/** A playlist of the example. Settings that are omitted are those of a new playlist. */
interface ExamplePlaylist extends Partial<Omit<Playlist, 'id' | 'tracks'>> {
  readonly name: string
  readonly count: number
  /** News, jingles and the like: every track has a title of its own and no artist. */
  readonly isSpoken?: boolean
  /** The shortest and the longest track. */
  readonly seconds?: readonly [number, number]
  /** A playlist above, whose first songs are used. */
  readonly songsOf?: string
}

const workdays = [1, 2, 3, 4, 5]
const weekend = [6, 7]
const on = (days: readonly number[], start: number, end: number, loop_once = false): ScheduleItem[] => [
  { id: 1, days, start_time: start, end_time: end, start_date: '', end_date: '', loop_once }
]
const spoken = { isSpoken: true, avoidsDuplicates: false } as const
const jingle = { ...spoken, isJingle: true }

const examplePlaylists: readonly ExamplePlaylist[] = [
  { name: 'Hits', count: 500, weight: 5 },
  { name: 'Gold', count: 1_400, weight: 3 },
  { name: 'New music', count: 600, weight: 2 },
  { name: 'Morning', count: 600, schedule: on(workdays, 600, 1000) },
  { name: 'Drive', count: 600, schedule: on(workdays, 1600, 1900) },
  { name: 'Overnight', count: 800, seconds: [200, 420], schedule: on([], 2200, 400) },
  { name: 'Weekend brunch', count: 400, schedule: on(weekend, 930, 1400) },
  { name: 'Countdown', count: 20, songsOf: 'Hits', order: 'sequential', schedule: on([6], 1800, 2000, true) },
  {
    name: 'Serial',
    count: 30,
    isSpoken: true,
    seconds: [1_500, 1_680],
    order: 'sequential',
    options: new Set<PlaylistOption>(['single_track']),
    schedule: on([1, 2, 3, 4], 2015, 2045)
  },
  { name: 'Legal ID', count: 6, ...jingle, seconds: [8, 12], type: 'once_per_hour' },
  { name: 'Jingles', count: 40, ...jingle, seconds: [5, 20], type: 'once_per_x_songs', everySongs: 4 },
  {
    name: 'News',
    count: 4,
    ...spoken,
    seconds: [120, 180],
    type: 'once_per_hour',
    hourMinute: 30,
    order: 'random',
    options: new Set<PlaylistOption>(['interrupt']),
    schedule: on(workdays, 530, 1930)
  }
]

/** A made-up station with 5,000 tracks in 12 playlists. The same seed makes the same station. */
export function buildExampleStation(zone: TimeZone, seed: number, fromMs: number): SimulatedStation {
  const stock: Stock = { random: createSeededRandom(seed, 0), names: [], rows: new Map() }
  const playlists = examplePlaylists.map((playlist, index) => makePlaylist(playlist, index + 1, stock))
  return {
    name: 'Example station',
    start: {
      library: {
        rules: { zone, seed, ...newStationSettings },
        playlists,
        past: { plays: [], older: new Map(), removed: [] },
        requests: []
      },
      queue: [],
      startedAtMs: fromMs,
      fromMs,
      queueLength: 3,
      nextSeq: 1
    },
    songName: mediaId => stock.names[(mediaId ?? 0) - 1] ?? ''
  }
}

/** What was made so far: the names of songs from song 1 on, and the tracks of each playlist. */
interface Stock {
  readonly random: RandomSource
  readonly names: string[]
  readonly rows: Map<string, readonly TrackRow[]>
}

function makePlaylist(playlist: ExamplePlaylist, id: number, stock: Stock): Playlist {
  const { count: _count, isSpoken: _spoken, seconds: _seconds, songsOf: _songs, ...settings } = playlist
  const rows = makeTracks(playlist, stock)
  stock.rows.set(playlist.name, rows)
  return {
    id,
    ...newPlaylistSettings,
    ...settings,
    tracks: buildTrackColumns(rows.map((row, index) => ({ ...row, id: id * 10_000 + index })))
  }
}

function makeTracks(playlist: ExamplePlaylist, stock: Stock): readonly TrackRow[] {
  const { name, count, seconds: [least, most] = [150, 300], isSpoken = false, songsOf = '' } = playlist
  const shared = stock.rows.get(songsOf)
  if (shared) return shared.slice(0, count)
  return Array.from({ length: count }, (_, index): TrackRow => {
    const media = stock.names.length + 1
    const song = isSpoken
      ? { name: `${name} ${index + 1}`, song: media, title: media, artists: [] }
      : makeSong(stock.random)
    stock.names.push(song.name)
    const durationMs = Math.floor((least + stock.random() * (most - least)) * 1_000)
    return { ...song, id: media, media, durationMs, lastPass: 0, lastAiredMs: 0 }
  })
}

const artists = 900
const titles = 1_600
/** Larger than the keys of spoken tracks. */
const keyBase = 1_000_000

/** Some artists have many songs, most have a few, and one song in fifteen has a guest. */
function makeSong(random: RandomSource): SongKeys & { readonly name: string } {
  const artist = Math.floor(random() ** 2 * artists)
  const guest = random() < 1 / 15 ? (artist + 1 + Math.floor(random() * (artists - 1))) % artists : null
  const title = Math.floor(random() * titles)
  const singers = guest === null ? [artist] : [artist, guest]
  const artistText = singers.map(singer => combine(firstNames, lastNames, singer)).join(' feat. ')
  return {
    name: `${artistText} - ${combine(qualities, things, title)}`,
    song: keyBase + (artist * artists + (guest ?? artist)) * titles + title,
    title: keyBase + title,
    artists: singers.map(singer => keyBase + singer)
  }
}

/** Combines two words by number. */
function combine(first: readonly string[], second: readonly string[], number: number): string {
  return `${first[number % first.length]} ${second[Math.floor(number / first.length) % second.length]}`
}

const firstNames =
  words(`Mira Nils Ada Tomas Lena Jonas Iris Samir Greta Paolo Noor Erik Clara Ravi Hanna Diego Yuki Anton
  Maeve Luca Zofia Emil Rosa Kofi Elin Marek Sana Oskar Nadia Hugo`)
const lastNames =
  words(`Holm Okada Lindqvist Reyes Brandt Costa Novak Sato Keller Moreau Hansen Silva Fischer Mensah Berg
  Duarte Kowal Iversen Rossi Haddad Laurent Petrov Nakamura Weber Osei Jansen Moretti Larsen Vogel Amari`)
const qualities =
  words(`Paper Slow Silver Quiet Golden Distant Broken Northern Early Electric Hollow Open Last Hidden Warm
  Second Falling Salt Blue Winter Endless Little Burning Glass Empty Summer Wild Silent Iron Velvet Crooked Bright Heavy
  Lost Morning Paler Deep Simple Red Faded`)
const things =
  words(`Lanterns Harbour Letters Rivers Windows Machines Stations Gardens Signals Mountains Shadows Trains Houses
  Islands Mirrors Bridges Voices Rooms Streets Skies Engines Orchards Flags Tides Strangers Fires Clocks Roads Feathers
  Anchors Cities Rain Echoes Fields Ladders Doors Maps Ships Bells Weather`)

function words(text: string): string[] {
  return text.split(/\s+/)
}
