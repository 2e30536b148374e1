import * as fc from 'fast-check'

import type {
  AutodjLibrary,
  PlaylistOption,
  PlaylistOrder,
  Playlist,
  PlaylistType
} from '../../../src/model/autodj/library.ts'
import type { PlannerInput } from '../../../src/model/autodj/queue-draft.ts'
import type { QueuePlan } from '../../../src/model/autodj/queue-planner.ts'
import { sized } from '../tier.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aRequest,
  aSong,
  aTrack,
  minuteMs,
  secondMs,
  timeOf
} from './library.ts'
import { aStation, type Heard, type Observer, type TestStation } from './station.ts'

/** A compact playlist, so that a failing example is readable. */
export interface PlaylistSpec {
  /** The lengths of its tracks in minutes. */
  minutes: number[]
  type?: PlaylistType
  order?: PlaylistOrder
  options?: PlaylistOption[]
  /** Start and end as HHMM. */
  schedule?: [number, number][]
  /** Songs, or tens of minutes. */
  every?: number
  hourMinute?: number
  weight?: number
  isJingle?: boolean
  isLoose?: boolean
  /** All tracks by one artist. */
  isOfOne?: boolean
  /** Its songs are in other playlists too. */
  isShared?: boolean
  isStream?: boolean
}

export interface StationSpec {
  playlists: PlaylistSpec[]
  queueLength?: number
  rangeMinutes?: number
  thresholdMinutes?: number
  consecutiveRequests?: number
  overrunMinutes?: number
  overlapSeconds?: number
  seed?: number
  begins?: (typeof beginnings)[number]
}

/** An action on a station, some minutes after the action before. */
export type Action = { after: number } & (
  | { do: 'skip' | 'top' | 'send' | 'restart' }
  | { do: 'refuse' | 'withdraw' | 'add' | 'request' | 'cancel' | 'switch' | 'resize'; what: number }
  | { do: 'pause'; minutes: number }
)

/** The clock goes forward, back, or does not change in the following hours. */
const beginnings = ['2026-03-29T00:10+01:00', '2026-10-25T00:10+02:00', '2026-01-15T11:40+01:00'] as const

const optionsOf = (names: PlaylistOption[]) => fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 })
const hhmm = fc.tuple(fc.nat(23), fc.constantFrom(0, 5, 30, 45)).map(([hour, minute]) => hour * 100 + minute)
/** Most windows are in the night in which the clock changes. */
const window = fc.tuple(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(0, 30, 100, 130, 200, 230, 300, 1200, 1300, 2330) },
    { weight: 1, arbitrary: hhmm }
  ),
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(100, 200, 230, 300, 330, 500, 1230, 1400) },
    { weight: 1, arbitrary: hhmm }
  )
) satisfies fc.Arbitrary<[number, number]>

const types = fc.oneof(
  { weight: 3, arbitrary: fc.constant('default' as const) },
  { weight: 2, arbitrary: fc.constantFrom('once_per_x_songs', 'once_per_x_minutes', 'once_per_hour') }
)

const lengths = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 0.1, 20, 40) }
)

/** Playlists of all kinds. */
export const playlistSpecs: fc.Arbitrary<PlaylistSpec> = fc.record(
  {
    minutes: fc.array(lengths, { minLength: 1, maxLength: 6 }),
    type: types,
    order: fc.constantFrom('shuffle', 'random', 'sequential'),
    options: optionsOf(['interrupt', 'single_track', 'merge', 'prioritize', 'loop_once']),
    schedule: fc.array(window, { minLength: 1, maxLength: 2 }),
    every: fc.integer({ min: 1, max: 6 }),
    hourMinute: fc.nat(59),
    weight: fc.integer({ min: 1, max: 9 }),
    isJingle: fc.constant(true),
    isLoose: fc.constant(true),
    isOfOne: fc.constant(true),
    isShared: fc.constant(true),
    isStream: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true))
  },
  { requiredKeys: ['minutes'] }
)

export function stationSpecs(
  playlists: fc.Arbitrary<PlaylistSpec> = playlistSpecs
): fc.Arbitrary<StationSpec> {
  return fc.record(
    {
      playlists: fc.array(playlists, { minLength: 1, maxLength: 4 }),
      queueLength: fc.oneof(
        { weight: sized({ quick: 11, deep: 1 }), arbitrary: fc.integer({ min: 2, max: 5 }) },
        // A long queue takes many times longer to plan.
        { weight: 1, arbitrary: fc.constant(25) }
      ),
      rangeMinutes: fc.constantFrom(0, 10, 1_440),
      thresholdMinutes: fc.constantFrom(0, 5),
      consecutiveRequests: fc.constantFrom(0, 1, 3),
      overrunMinutes: fc.constantFrom(0, 2),
      overlapSeconds: fc.constantFrom(1, 3),
      seed: fc.nat(),
      begins: fc.constantFrom(...beginnings)
    },
    { requiredKeys: ['playlists'] }
  )
}

/** The index of a playlist, a row of the queue, or a song, modulo their number. */
const what = fc.nat(9)
const after = fc.constantFrom(0, 1, 2, 7, 30)

export type Doing = Action['do']

/** Lists of actions of the given kinds. */
export function actionLists(doings: readonly Doing[], maxLength = 12): fc.Arbitrary<Action[]> {
  const each: fc.Arbitrary<Action> = fc
    .constantFrom(...doings)
    .chain((name): fc.Arbitrary<Action> =>
      name === 'pause'
        ? fc.record({ after, do: fc.constant(name), minutes: fc.constantFrom(0.05, 1, 20, 90) })
        : name === 'skip' || name === 'top' || name === 'send' || name === 'restart'
          ? fc.record({ after, do: fc.constant(name) })
          : fc.record({ after, do: fc.constant(name), what })
    )
  return fc.array(each, { maxLength })
}

const everyDoing: readonly Doing[] = [
  'skip',
  'top',
  'send',
  'restart',
  'refuse',
  'withdraw',
  'add',
  'request',
  'cancel',
  'switch',
  'resize',
  'pause'
]

export function libraryOf(spec: StationSpec): AutodjLibrary {
  const {
    rangeMinutes = 120,
    thresholdMinutes = 15,
    consecutiveRequests = 2,
    overrunMinutes = 10,
    overlapSeconds = 0,
    seed = 7
  } = spec
  return aLibrary({
    rules: {
      zone: 'Europe/Berlin',
      seed,
      duplicateRangeMs: rangeMinutes * minuteMs,
      requestThresholdMs: thresholdMinutes * minuteMs,
      consecutiveRequests,
      overrunMs: overrunMinutes * minuteMs,
      cutsBeforeSent: false,
      overlapMs: overlapSeconds * secondMs
    },
    playlists: spec.playlists.map((playlist, index) => playlistOf(playlist, index + 1))
  })
}

function playlistOf(spec: PlaylistSpec, id: number): Playlist {
  const { every = 2, minutes, isOfOne = false, isShared = false, schedule = [] } = spec
  return aPlaylist({
    id,
    type: spec.type ?? 'default',
    order: spec.order ?? 'shuffle',
    options: spec.options ?? [],
    source: spec.isStream ? 'stream' : 'songs',
    weight: spec.weight ?? 3,
    isJingle: spec.isJingle ?? false,
    avoidsDuplicates: !spec.isLoose,
    everySongs: every,
    everyMinutes: every * 10,
    hourMinute: spec.hourMinute ?? 0,
    schedule: schedule.map(([start, end], index) => anItem(start, end, { id: index + 1 })),
    tracks: minutes.map((length, index) => {
      const song = aSong(isShared ? index + 1 : id * 100 + index)
      return aTrack(id * 100 + index, {
        ...song,
        ...(isOfOne ? { artists: [id] } : {}),
        media: song.song,
        durationMs: length * minuteMs
      })
    })
  })
}

export interface DayOptions {
  readonly observe?: Observer
  /** Maximum number of plays; no limit by default. */
  readonly maxPlays?: number
}

/** Runs a station for some hours with the given actions. */
export function dayOf(
  spec: StationSpec,
  actions: readonly Action[],
  hours: number,
  { observe, maxPlays = Infinity }: DayOptions = {}
): TestStation {
  const { begins = '2026-01-15T11:40+01:00', queueLength = 3 } = spec
  const fromMs = timeOf(begins)
  const station = aStation(libraryOf(spec), fromMs, queueLength, observe)
  for (const action of actions) {
    runTo(station.nowMs + action.after * minuteMs)
    act(station, action)
  }
  runTo(Math.max(station.nowMs, fromMs + hours * 60 * minuteMs))
  return station

  function runTo(untilMs: number): void {
    do station.runTo(Math.min(untilMs, station.nowMs + 5 * minuteMs))
    while (station.nowMs < untilMs && station.heard.length < maxPlays)
  }
}

function act(station: TestStation, action: Action): void {
  switch (action.do) {
    case 'skip':
      return station.skip()
    case 'top':
      return station.top()
    case 'send':
      return station.send()
    case 'restart':
      return station.restart()
    case 'pause':
      return station.pauseTo(station.nowMs + action.minutes * minuteMs)
    case 'refuse':
      return station.refuse(action.what % Math.max(1, station.queue.length))
    case 'withdraw':
      return station.withdraw((_, index) => index % (action.what + 1) === 0)
    case 'add':
      return station.add(aPlay(action.what, station.nowMs))
    case 'request': {
      const id = station.requests.length + 1
      const dueAtMs = station.nowMs + (action.what % 4) * 5 * minuteMs
      const song = aSong(action.what + 1)
      return station.request(
        aRequest(id, { mediaId: song.song, song, dueAtMs, skipsDelay: action.what % 5 === 0 })
      )
    }
    case 'cancel':
      return station.cancel(action.what + 1)
    case 'switch': {
      const { playlists } = station.library
      const id = playlists[action.what % playlists.length]?.id ?? 0
      return station.change(id, playlist => ({ ...playlist, isEnabled: !playlist.isEnabled }))
    }
    case 'resize':
      return station.resize(2 + action.what)
    default:
      return action satisfies never
  }
}

/** The number of days per property. */
const dayRuns = sized({ quick: 3, deep: 100, soak: 5_000 })

/** Options of simulated days. */
export interface DayParts {
  /** The playlists; all kinds by default. */
  readonly kind?: fc.Arbitrary<PlaylistSpec>
  /** Playlists that come before them. */
  readonly first?: PlaylistSpec[]
  /** Kinds of actions that are excluded. */
  readonly without?: readonly Doing[]
  readonly hours?: number
  readonly numRuns?: number
  /**
   * Maximum number of plays. Days with very short tracks would take as long as all others together.
   */
  readonly maxPlays?: number
  /** Returns the faults of a plan. */
  readonly faultsOf?: (situation: PlannerInput, plan: QueuePlan) => readonly unknown[]
}

/** Checks a property on days with random playlists and actions. */
export function onDays(
  parts: DayParts,
  check: (station: TestStation, faults: readonly unknown[]) => void
): void {
  const { kind = playlistSpecs, first = [], without = [], hours = 5, faultsOf = () => [] } = parts
  const { numRuns = dayRuns, maxPlays = sized({ quick: 50, deep: Infinity }) } = parts
  const doings = everyDoing.filter(doing => !without.includes(doing))
  const days = fc.property(stationSpecs(kind), actionLists(doings), (spec, actions) => {
    const faults: unknown[] = []
    const whole = { ...spec, playlists: [...first, ...spec.playlists] }
    const observe: Observer = (...planned) => faults.push(...faultsOf(...planned))
    const station = dayOf(whole, actions, hours, { observe, maxPlays })
    check(station, faults.slice(0, 1))
  })
  fc.assert(days, { numRuns })
}

/** Playlists of all kinds with some equal settings. */
export const alike = (parts: Partial<PlaylistSpec>) => playlistSpecs.map(spec => ({ ...spec, ...parts }))

/** The plays of a playlist. */
export const heardOf = ({ heard }: TestStation, { id }: Playlist): Heard[] =>
  heard.filter(({ playlistId }) => playlistId === id)
