import type { Option, Order, Playlist, PlaylistType } from '../autodj/library.ts'
import { type Random, randomOf } from '../autodj/random.ts'
import type { ScheduleItem } from '../autodj/schedule.ts'
import type { SongKeys } from '../autodj/song-keys.ts'
import { type TrackRow, tracksOf } from '../autodj/tracks.ts'
import type { Zone } from '../autodj/zone.ts'
import { artistName, titleOf } from './example-names.ts'
import type { SimulatedStation } from './station.ts'

/** A playlist of the example; what is not said is as a new playlist has it. */
interface Plan {
  readonly name: string
  readonly count: number
  /** News, jingles and the like: each has a title of its own, and nobody sings. */
  readonly isSpoken?: boolean
  /** The shortest and the longest of its tracks. */
  readonly seconds?: readonly [number, number]
  /** A playlist above, whose first songs it has. */
  readonly songsOf?: string
  readonly type?: PlaylistType
  readonly order?: Order
  readonly weight?: number
  readonly isJingle?: boolean
  readonly avoidsDuplicates?: boolean
  readonly everySongs?: number
  readonly hourMinute?: number
  readonly options?: readonly Option[]
  readonly schedule?: readonly Omit<ScheduleItem, 'id' | 'start_date' | 'end_date'>[]
}

const song = [150, 300] as const
const workdays = [1, 2, 3, 4, 5]
const weekend = [6, 7]

const on = (days: readonly number[], start_time: number, end_time: number, loop_once = false) => [
  { days, start_time, end_time, loop_once }
]

const plans: readonly Plan[] = [
  { name: 'Hits', count: 500, seconds: song, weight: 5 },
  { name: 'Gold', count: 1_400, seconds: song, weight: 3 },
  { name: 'New music', count: 600, seconds: song, weight: 2 },
  { name: 'Morning', count: 600, seconds: song, schedule: on(workdays, 600, 1000) },
  { name: 'Drive', count: 600, seconds: song, schedule: on(workdays, 1600, 1900) },
  { name: 'Overnight', count: 800, seconds: [200, 420], schedule: on([], 2200, 400) },
  { name: 'Weekend brunch', count: 400, seconds: song, schedule: on(weekend, 930, 1400) },
  {
    name: 'Countdown',
    count: 20,
    songsOf: 'Hits',
    order: 'sequential',
    schedule: on([6], 1800, 2000, true)
  },
  {
    name: 'Serial',
    count: 30,
    isSpoken: true,
    seconds: [1_500, 1_680],
    order: 'sequential',
    options: ['single_track'],
    schedule: on([1, 2, 3, 4], 2015, 2045)
  },
  {
    name: 'Legal ID',
    count: 6,
    isSpoken: true,
    seconds: [8, 12],
    type: 'once_per_hour',
    hourMinute: 0,
    isJingle: true,
    avoidsDuplicates: false
  },
  {
    name: 'Jingles',
    count: 40,
    isSpoken: true,
    seconds: [5, 20],
    type: 'once_per_x_songs',
    everySongs: 4,
    isJingle: true,
    avoidsDuplicates: false
  },
  {
    name: 'News',
    count: 4,
    isSpoken: true,
    seconds: [120, 180],
    type: 'once_per_hour',
    hourMinute: 30,
    order: 'random',
    avoidsDuplicates: false,
    options: ['interrupt'],
    schedule: on(workdays, 530, 1930)
  }
]

const artists = 900
const titles = 1_600
/** Above the keys of what is spoken. */
const keyBase = 1_000_000
const minuteMs = 60_000

/**
 * A made-up station of 5,000 tracks in 12 playlists: three rotations, programmes on weekdays, at night and at weekends, a countdown
 * that is heard once, a serial that goes on, an identification every hour, a jingle every four songs, and news that cut in at
 * half past. It begins with an empty past and queue; the same seed makes the same station.
 */
export function exampleStation(zone: Zone, seed: number, fromMs: number): SimulatedStation {
  const stock: Stock = { random: randomOf(seed, 0), names: [], lists: new Map() }
  const playlists = plans.map((plan, index) => playlistOf(plan, index + 1, stock))
  return {
    name: 'Example station',
    beginning: {
      library: {
        rules: {
          zone,
          seed,
          queueLength: 3,
          duplicateRangeMs: 120 * minuteMs,
          overlapMs: 0,
          requestThresholdMs: 15 * minuteMs,
          consecutiveRequests: 2,
          overrunMs: 10 * minuteMs,
          cutsBeforeSent: false
        },
        playlists,
        past: { plays: [], older: new Map(), refused: [] },
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

/** What is made so far; the first of the names is that of song 1. */
interface Stock {
  readonly random: Random
  readonly names: string[]
  readonly lists: Map<string, readonly TrackRow[]>
}

function tracksFor({ name, count, seconds = song, isSpoken = false, songsOf = '' }: Plan, stock: Stock) {
  const borrowed = stock.lists.get(songsOf)
  if (borrowed) return borrowed.slice(0, count)
  return Array.from({ length: count }, (_, place): TrackRow => {
    const media = stock.names.length + 1
    const made = isSpoken ? spoken(`${name} ${place + 1}`, media) : sung(stock.random)
    stock.names.push(made.name)
    const [least, most] = seconds
    const durationMs = Math.floor((least + stock.random() * (most - least)) * 1_000)
    return { ...made, id: media, media, durationMs, lastPass: 0, lastAiredMs: 0 }
  })
}

function playlistOf(plan: Plan, id: number, stock: Stock): Playlist {
  const { name, options = [], schedule = [] } = plan
  const rows = tracksFor(plan, stock)
  stock.lists.set(name, rows)
  return {
    id,
    name,
    type: plan.type ?? 'default',
    source: 'songs',
    order: plan.order ?? 'shuffle',
    weight: plan.weight ?? 3,
    isEnabled: true,
    isJingle: plan.isJingle ?? false,
    avoidsDuplicates: plan.avoidsDuplicates ?? true,
    everySongs: plan.everySongs ?? 0,
    everyMinutes: 0,
    hourMinute: plan.hourMinute ?? 0,
    options: new Set(options),
    schedule: schedule.map((item, place) => ({
      ...item,
      id: id * 100 + place,
      start_date: '',
      end_date: ''
    })),
    pass: 1,
    tracks: tracksOf(rows.map((row, place) => ({ ...row, id: id * 10_000 + place })))
  }
}

const spoken = (name: string, number: number) => ({ name, song: number, title: number, artists: [] })

/** Some artists have many songs, most have a few, and one song in fifteen has a guest. */
function sung(random: Random): SongKeys & { readonly name: string } {
  const artist = Math.floor(random() ** 2 * artists)
  const guest = random() < 1 / 15 ? (artist + 1 + Math.floor(random() * (artists - 1))) % artists : null
  const title = Math.floor(random() * titles)
  const singers = guest === null ? [artist] : [artist, guest]
  const by = singers.map(artistName).join(' feat. ')
  return {
    name: `${by} - ${titleOf(title)}`,
    song: keyBase + (artist * artists + (guest ?? artist)) * titles + title,
    title: keyBase + title,
    artists: singers.map(number => keyBase + number)
  }
}
