import type { Option, Order, Playlist, PlaylistType } from '../autodj/library.ts'
import type { SongKeys } from '../autodj/recent.ts'
import type { ScheduleItem } from '../autodj/schedule.ts'
import { type TrackRow, tracksOf } from '../autodj/tracks.ts'
import { type Random, randomOf, type Zone } from '../autodj/zone.ts'
import type { Sql, Tx } from '../db/sql.ts'
import { pastOf, readLibraries } from '../playout/queue/libraries.ts'
import {
  followedAtMs,
  readOpenPlay,
  readQueues,
  readRefused,
  readRequests,
  readStations,
  rulesOf
} from '../playout/rows.ts'
import { OperatorError } from '../runtime/errors.ts'
import type { SimulatedStation } from './run.ts'

/** What is to be different from the station; null: nothing. */
export interface Wishes {
  readonly zone: Zone | null
  readonly seed: number | null
  /** The local date on which it begins, as days since 1970-01-01; null: when what is on air ends. */
  readonly fromDay: number | null
}

/**
 * Reads a station, found by id or short name, with its past, its queue and waiting requests, in one look that
 * holds nothing and cannot write. A simulation that begins on a date begins with an empty queue. Throws an
 * `OperatorError` for an unknown station, and for a database that another version of Cuewire made. It may be
 * switched off: it is checked before it goes on air.
 */
export async function readDatabaseStation(
  sql: Sql,
  name: string,
  nowMs: number,
  wishes: Wishes
): Promise<SimulatedStation> {
  try {
    return await sql.begin('isolation level repeatable read read only', tx => read(tx, name, nowMs, wishes))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    // An unknown table or column.
    if (code !== '42P01' && code !== '42703') throw error
    throw new OperatorError(
      'the database belongs to another version of Cuewire: start this one on it first',
      {
        cause: error
      }
    )
  }
}

async function read(tx: Tx, name: string, nowMs: number, wishes: Wishes): Promise<SimulatedStation> {
  const known = await findStation(tx, name)
  const ids = [known.id]
  const [station] = await readStations(tx, ids)
  if (!station) throw new OperatorError(`the station ${JSON.stringify(name)} went away`)
  const own = rulesOf(station)
  const zone = wishes.zone ?? own.zone
  const rules = { ...own, zone, seed: wishes.seed ?? own.seed }
  const play = await readOpenPlay(tx, station.id)
  const isNow = wishes.fromDay === null
  const endsAtMs = play ? (play.dueAtMs ?? followedAtMs(play, rules.overlapMs)) : nowMs
  const fromMs =
    wishes.fromDay === null ? Math.max(nowMs, endsAtMs) : zone.instant(wishes.fromDay, 0, 'first')
  const libraries = await readLibraries(tx, [station], Math.min(nowMs, fromMs), null)
  const { playlists, past } = libraries.get(station.id) ?? {
    playlists: [],
    past: { plays: [], older: new Map() }
  }
  const refused = await readRefused(tx, ids, nowMs)
  const names = await readNames(tx, station.id)
  return {
    name: known.name,
    beginning: {
      library: {
        rules,
        playlists,
        past: pastOf({ ...past, plays: past.plays.filter(each => each.startsAtMs < fromMs) }, refused),
        requests: await readRequests(tx, ids)
      },
      queue: isNow ? await readQueues(tx, ids) : [],
      startedAtMs: isNow && play ? play.startedAtMs : fromMs,
      fromMs,
      queueLength: station.queueLength,
      nextSeq: station.nextSeq
    },
    songName: mediaId => names.get(mediaId ?? 0) ?? ''
  }
}

const shownStations = 20

async function findStation(tx: Tx, name: string): Promise<{ readonly id: number; readonly name: string }> {
  const id = /^\d{1,15}$/.test(name) ? Number(name) : null
  const [station] = await tx<{ id: number; name: string }[]>`
    select id, name from stations where id = ${id} or short_name = ${name}`
  if (station) return station
  const others = await tx<{ short_name: string }[]>`
    select short_name from stations where deleted_at is null order by short_name limit ${shownStations + 1}`
  const names = others.slice(0, shownStations).map(row => row.short_name)
  const more = others.length > shownStations ? ' and more' : ''
  throw new OperatorError(
    `there is no station ${JSON.stringify(name)}; known: ${names.join(', ') || 'none'}${more}`
  )
}

async function readNames(tx: Tx, stationId: number): Promise<Map<number, string>> {
  const rows = await tx<{ id: number; artist: string; title: string }[]>`
    select id, artist, title from media where station_id = ${stationId}`
  return new Map(rows.map(({ id, artist, title }) => [id, [artist, title].filter(Boolean).join(' - ')]))
}

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
 * A made-up station of 5,000 tracks in 12 playlists: three rotations, programmes on weekdays, at night and at
 * weekends, a countdown that is heard once, a serial that goes on, an identification every hour, a jingle
 * every four songs, and news that cut in at half past. It begins with an empty past and queue; the same seed
 * makes the same station.
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

/** The name of an artist by number; 900 are different. */
function artistName(number: number): string {
  return `${pickWord(firstNames, number)} ${pickWord(lastNames, Math.floor(number / firstNames.length))}`
}

/** A title by number; 1,600 are different. */
function titleOf(number: number): string {
  return `${pickWord(qualities, number)} ${pickWord(things, Math.floor(number / qualities.length))}`
}

const pickWord = (list: readonly string[], number: number) => list[number % list.length] ?? ''

function words(text: string): string[] {
  return text.split(/\s+/)
}
