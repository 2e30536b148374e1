import { describe, expect, test } from 'vitest'

import { isSequencePlaylist, type Playlist } from '../../../../src/model/autodj/library.ts'
import type { PlannerInput } from '../../../../src/model/autodj/queue-draft.ts'
import type { QueuePlan } from '../../../../src/model/autodj/queue-planner.ts'
import { applyQueuePlan, simulatePlays } from '../../../../src/model/autodj/simulate.ts'
import {
  forkTrackColumns,
  markTrackAired,
  findTrackIndex
} from '../../../../src/model/autodj/track-columns.ts'
import { libraryOf, onDays, type PlaylistSpec, type StationSpec } from '../../../support/autodj/days.ts'
import { aRequest, aSong, hourMs, minuteMs, timeOf } from '../../../support/autodj/library.ts'
import { sized } from '../../../support/tier.ts'

const minutes = (count: number, length = 3) => Array.from({ length: count }, () => length)
const jingle = (parts: Partial<PlaylistSpec> = {}): PlaylistSpec => ({
  minutes: [0.2],
  type: 'once_per_x_songs',
  every: 1,
  isJingle: true,
  ...parts
})
const several = [0.2, 0.2, 0.2]

/** The numbers of songs of the lists of a station. */
const rotations = [[12, 1], [1, 1], [1], [2], [3, 2], [1, 1, 12]]
const orders = ['shuffle', 'random', 'sequential'] as const
const jingleRules: readonly (readonly [name: string, lists: PlaylistSpec[]])[] = [
  ['no jingles', []],
  ['a jingle after every song', [jingle()]],
  ['one of three jingles after every song', [jingle({ minutes: several, order: 'random' })]],
  ['a jingle after two songs', [jingle({ every: 2 })]],
  ['a jingle every ten minutes', [jingle({ type: 'once_per_x_minutes', every: 1 })]],
  ['two lists of jingles', [jingle(), jingle({ type: 'once_per_x_minutes', every: 1 })]],
  ['an hourly jingle and others', [jingle({ type: 'once_per_hour' }), jingle({ minutes: several })]],
  ['jingles in the rotation', [jingle({ type: 'default', minutes: several })]],
  ['one jingle in the rotation', [jingle({ type: 'default' })]],
  [
    'jingles that interrupt',
    [jingle({ type: 'once_per_x_minutes', every: 1, options: ['interrupt'] }), jingle({ every: 3 })]
  ]
]
const allDay: [number, number][] = [
  [0, 1200],
  [1200, 0]
]
/** Settings of the rotations, or of the last of them. */
const variants: readonly (readonly [name: string, parts: Partial<PlaylistSpec>, onlyLast?: boolean])[] = [
  ['', {}],
  ['that allow duplicates', { isLoose: true }],
  ['that share their songs', { isShared: true }],
  ['of one artist', { isOfOne: true }],
  ['with a schedule', { schedule: allDay }],
  ['of which the last has a schedule', { schedule: allDay }, true],
  ['of which the last plays once per window', { schedule: allDay, options: ['loop_once'] }, true],
  ['of which the last is merged', { options: ['merge'] }, true],
  ['of which the last is hourly', { type: 'once_per_hour', hourMinute: 20 }, true]
]
const ranges = [0, 10, 1_440]
const queueLengths = [2, 3, 10, 25]

interface Cell {
  readonly name: string
  readonly spec: StationSpec
  readonly jingles: string
  readonly isRequested: boolean
}

const cells: readonly Cell[] = rotations.flatMap(counts =>
  orders.flatMap(order =>
    jingleRules.flatMap(([jingles, lists]) =>
      variants.flatMap(([variant, parts, onlyLast = false]) =>
        ranges.flatMap(rangeMinutes =>
          queueLengths.map((queueLength, index) => ({
            name: `${counts.join(' and ')} songs ${variant}, ${order}, ${jingles}, range ${rangeMinutes}, queue ${queueLength}`,
            spec: {
              playlists: [
                ...counts.map((count, place) => ({
                  minutes: minutes(count),
                  order,
                  ...(onlyLast && place < counts.length - 1 ? {} : parts)
                })),
                ...lists
              ],
              rangeMinutes,
              queueLength,
              thresholdMinutes: index % 2 === 0 ? 0 : 5,
              seed: counts.length * 100 + rangeMinutes + index
            },
            jingles,
            isRequested: index === 1
          }))
        )
      )
    )
  )
)

/** Only cells at this distance are run. It is coprime with the sizes of all dimensions. */
const distance = sized({ quick: 1_621, deep: 23, soak: 1 })

describe('no song plays twice in a row while another one is possible', () => {
  test.for(jingleRules.map(([name]) => name))('%s', jingles => {
    const faults = cells
      .filter((cell, index) => index % distance === 0 && cell.jingles === jingles)
      .flatMap(cell => needlessRepeats(cell).map(fault => `${cell.name}: ${fault}`))
    expect(faults).toEqual([])
  })
})

/** The repeats of some hours at which another song was possible. */
function needlessRepeats({ spec, isRequested }: Cell): string[] {
  const fromMs = timeOf('04:00')
  const library = libraryOf(spec)
  const requests = [0, 0, 1, 2, 2].map((song, index) =>
    aRequest(index + 1, { mediaId: song, song: aSong(100 + song), dueAtMs: fromMs + index * 25 * minuteMs })
  )
  const start = { queue: [], startedAtMs: fromMs, fromMs, queueLength: spec.queueLength ?? 3, nextSeq: 1 }
  const playlists = library.playlists.map(each => ({ ...each, tracks: forkTrackColumns(each.tracks) }))
  const faults: string[] = []
  let last = { song: 0, playlistId: 0 }
  for (const { play, startsAtMs } of simulatePlays({
    library: { ...library, requests: isRequested ? requests : [] },
    ...start
  })) {
    if (startsAtMs > fromMs + 3 * hourMs) break
    if (!play) continue
    const own = playlists.find(({ id }) => id === play.playlistId)
    const isOwnSequence = own && isSequencePlaylist(own) && last.playlistId === own.id
    if (play.isVisible && play.song.song === last.song && !isOwnSequence) {
      const others = playlists.filter(each => mayOffer(each, last.song))
      if (others.length > 0) faults.push(`${new Date(startsAtMs).toISOString()} ${last.song}`)
    }
    if (own && play.trackId !== null)
      markTrackAired(own.tracks, findTrackIndex(own.tracks, play.trackId), play.pass, startsAtMs)
    if (play.isVisible) last = { song: play.song.song, playlistId: play.playlistId ?? 0 }
  }
  return faults
}

/** Whether a rotation has another song for a slot, regardless of how the AutoDJ chooses. */
function mayOffer(playlist: Playlist, last: number): boolean {
  const { tracks, order, options, isJingle, type } = playlist
  if (isJingle || type !== 'default' || options.has('loop_once')) return false
  const passes = [...tracks.lastPass]
  const current = Math.min(...passes) + 1
  const isOther = (index: number) => tracks.songs[index] !== last
  // In its order, a sequence has one song only.
  if (order === 'sequential') return isOther(passes.findIndex(pass => pass < current))
  return passes.some((pass, index) => isOther(index) && (order === 'random' || pass <= current))
}

test('whatever happens to a station, no row repeats the song before it while a rotation has others', () => {
  const first: PlaylistSpec[] = [
    { minutes: minutes(6), order: 'random' },
    { minutes: minutes(1) },
    jingle({ minutes: [0.2, 0.2] })
  ]
  const faultsOf = ({ library, queue }: PlannerInput, plan: QueuePlan) => {
    const rows = applyQueuePlan(queue, plan)
    return rows.filter((row, index) => {
      const before = [...library.past.plays, ...rows.slice(0, index)]
      const last = before.findLast(({ isVisible }) => isVisible)
      const own = library.playlists.find(({ id }) => id === row.playlistId && id === last?.playlistId)
      // Nothing else can interrupt.
      const isFree = row.isVisible && !row.isInterrupt && !(own && isSequencePlaylist(own))
      return isFree && last?.song.song === row.song.song
    })
  }
  const without = ['add', 'send', 'switch'] as const
  const numRuns = sized({ quick: 4, deep: 150, soak: 7_500 })
  onDays({ first, faultsOf, without, numRuns }, (_, faults) => expect(faults).toEqual([]))
})
