import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { airtimeMs } from '../../../src/autodj/estimate.ts'
import type { Playlist } from '../../../src/autodj/library.ts'
import { hourlyTarget, windowAt } from '../../../src/autodj/schedule.ts'
import {
  type Action,
  actionLists,
  dayOf,
  type Doing,
  everyDoing,
  type PlaylistSpec,
  playlistSpecs,
  type StationSpec,
  stationSpecs
} from '../../support/autodj/days.ts'
import { minuteMs } from '../../support/autodj/library.ts'
import type { Heard, TestStation } from '../../support/autodj/station.ts'

const runs = Number(process.env['RUNS'] ?? 40)
const hours = 5

/** Days of stations with playlists of a kind, to which anything happens but for what is named. */
function daysOf(
  check: (station: TestStation, spec: StationSpec) => void,
  {
    kind = playlistSpecs,
    without = [],
    first = []
  }: { kind?: fc.Arbitrary<PlaylistSpec>; without?: Doing[]; first?: PlaylistSpec[] } = {}
): void {
  const doings = everyDoing.filter(doing => !without.includes(doing))
  const property = fc.property(stationSpecs(kind), actionLists(doings), (spec, actions: Action[]) => {
    const whole = { ...spec, playlists: [...first, ...spec.playlists] }
    check(dayOf(whole, actions, hours), whole)
  })
  fc.assert(property, { numRuns: runs })
}

const only = (parts: Partial<PlaylistSpec>) => playlistSpecs.map(spec => ({ ...spec, ...parts }))

/** What was heard of a playlist, without what nobody can take back. */
const playsOf = (station: TestStation, { id }: Playlist): Heard[] =>
  station.heard.filter(each => each.playlistId === id)

const indexIn = ({ id }: Playlist, { trackId }: Heard) => (trackId ?? 0) - id * 100

describe('the order of a list', () => {
  test('a sequence is never changed', () => {
    daysOf(
      station => {
        for (const playlist of station.library.playlists) {
          if (playlist.options.has('loop_once') || playlist.options.has('merge')) continue
          if (playlist.source === 'stream') continue
          const indices = playsOf(station, playlist).map(play => indexIn(playlist, play))
          const inOrder = indices.map((_, place) => ((indices[0] ?? 0) + place) % playlist.tracks.ids.length)
          expect(indices).toEqual(inOrder)
        }
      },
      { kind: only({ order: 'sequential' }), without: ['refuse'] }
    )
  })

  test('no shuffled track comes twice in a pass, nor twice more often than another', () => {
    daysOf(
      station => {
        for (const playlist of station.library.playlists) {
          if (playlist.options.has('loop_once') || playlist.options.has('merge')) continue
          if (playlist.source === 'stream') continue
          const plays = playsOf(station, playlist)
          const inPasses = plays.map(({ trackId, pass }) => `${trackId} in ${pass}`)
          expect(inPasses).toEqual([...new Set(inPasses)])
          const counts = [...playlist.tracks.ids].map(
            id => plays.filter(({ trackId }) => trackId === id).length
          )
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2)
        }
      },
      { kind: only({ order: 'shuffle' }), without: ['refuse'] }
    )
  })
})

describe('the schedule', () => {
  /** Neither on its way when something changed, nor a part of something that had begun. */
  const isFree = (play: Heard, station: TestStation) =>
    !play.isSent && !(play.batch !== null && station.heard.find(({ batch }) => batch === play.batch) !== play)

  test('nothing begins outside the windows of its playlist', () => {
    daysOf(station => {
      const { zone } = station.library.rules
      for (const playlist of station.library.playlists.filter(({ schedule }) => schedule.length > 0))
        for (const play of playsOf(station, playlist).filter(each => isFree(each, station)))
          expect(windowAt(zone, playlist.schedule, play.startsAtMs)).not.toBeNull()
    })
  })

  test('only the first play of a window overruns it by more than the station allows', () => {
    daysOf(station => {
      const { zone, overrunMs } = station.library.rules
      for (const playlist of station.library.playlists) {
        if (playlist.options.has('merge') || playlist.schedule.length === 0) continue
        const plays = playsOf(station, playlist)
        for (const [index, play] of plays.entries()) {
          const window = windowAt(zone, playlist.schedule, play.startsAtMs)
          const before = plays[index - 1]
          if (!window || !before || before.startsAtMs < window.startMs || play.isSent) continue
          expect(play.startsAtMs + airtimeMs(play.durationMs)).toBeLessThanOrEqual(window.endMs + overrunMs)
        }
      }
    })
  })

  test('with single_track one track plays for each occurrence', () => {
    daysOf(
      station => {
        const { zone } = station.library.rules
        for (const playlist of station.library.playlists) {
          if (playlist.options.has('merge') || !playlist.options.has('single_track')) continue
          if (playlist.schedule.length === 0) continue
          const occurrences = playsOf(station, playlist)
            .filter(({ isSent }) => !isSent)
            .map(({ startsAtMs }) =>
              playlist.type === 'once_per_hour'
                ? hourlyTarget(zone, playlist.hourMinute, startsAtMs)
                : windowAt(zone, playlist.schedule, startsAtMs)?.startMs
            )
          expect(occurrences).toEqual([...new Set(occurrences)])
        }
      },
      { kind: only({ options: ['single_track'] }) }
    )
  })

  test('with loop_once no track plays twice in a window', () => {
    daysOf(
      station => {
        const { zone } = station.library.rules
        for (const playlist of station.library.playlists) {
          if (playlist.options.has('merge') || playlist.source === 'stream') continue
          const inWindows = playsOf(station, playlist)
            .filter(({ isSent }) => !isSent)
            .flatMap(({ trackId, startsAtMs }) => {
              const window = windowAt(zone, playlist.schedule, startsAtMs)
              return window ? [`${trackId} from ${window.startMs}`] : []
            })
          expect(inWindows).toEqual([...new Set(inWindows)])
        }
      },
      { kind: only({ options: ['loop_once'] }) }
    )
  })
})

describe('due by a count or a clock', () => {
  const isCounted = (play: Heard) => !play.isSent && play.batch === null

  test('at least so many songs lie between two plays', () => {
    daysOf(
      station => {
        for (const playlist of station.library.playlists.filter(({ id }) => id > 1)) {
          let between = Infinity
          for (const play of station.heard) {
            if (play.playlistId === playlist.id) {
              if (isCounted(play)) expect(between).toBeGreaterThanOrEqual(playlist.everySongs)
              between = 0
            } else if (play.isVisible) between++
          }
        }
      },
      { kind: only({ type: 'once_per_x_songs' }), first: [{ minutes: [3, 4, 5, 6] }] }
    )
  })

  test('exactly so many songs lie between two jingles where nothing else intervenes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 2, max: 25 }), (every, queueLength) => {
        const jingles: PlaylistSpec = { minutes: [0.1, 0.2], type: 'once_per_x_songs', every, isJingle: true }
        const station = dayOf({ playlists: [{ minutes: [3, 4, 5] }, jingles], queueLength }, [], 2)
        const kinds = station.heard.map(({ playlistId }) => (playlistId === 2 ? 'J' : '-')).join('')
        expect(kinds).toMatch(new RegExp(`^(J-{${every}})*J?-*$`))
        expect(kinds.split('J').slice(1, -1)).toEqual(
          kinds
            .split('J')
            .slice(1, -1)
            .map(() => '-'.repeat(every))
        )
      }),
      { numRuns: runs }
    )
  })

  test('plays begin at least so many minutes apart', () => {
    daysOf(
      station => {
        for (const playlist of station.library.playlists.filter(({ id }) => id > 1)) {
          const plays = playsOf(station, playlist)
          for (const [index, play] of plays.entries()) {
            const before = plays[index - 1]
            if (before && isCounted(play))
              expect(play.startsAtMs - before.startsAtMs).toBeGreaterThanOrEqual(
                playlist.everyMinutes * minuteMs
              )
          }
        }
      },
      { kind: only({ type: 'once_per_x_minutes' }), first: [{ minutes: [3, 4, 5, 6] }] }
    )
  })

  test('an hourly playlist plays once for its minute, whenever it can', () => {
    daysOf(
      station => {
        const { zone } = station.library.rules
        for (const playlist of station.library.playlists.filter(({ type }) => type === 'once_per_hour')) {
          const plays = playsOf(station, playlist).filter(isCounted)
          const targets = plays.map(({ startsAtMs }) => hourlyTarget(zone, playlist.hourMinute, startsAtMs))
          expect(targets).toEqual([...new Set(targets)])
        }
      },
      { kind: only({ type: 'once_per_hour' }), first: [{ minutes: [3, 4, 5, 6] }] }
    )
  })

  test('an hourly playlist misses no slot of its quarter of an hour that nothing else may take', () => {
    const hourly = fc.record({
      minutes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
      type: fc.constant('once_per_hour' as const),
      hourMinute: fc.nat(59)
    })
    daysOf(
      station => {
        const { zone } = station.library.rules
        for (const playlist of station.library.playlists.filter(({ type }) => type === 'once_per_hour'))
          for (const [index, play] of station.heard.entries()) {
            const targetMs = hourlyTarget(zone, playlist.hourMinute, play.startsAtMs)
            const mayTake = play.playlistId !== 1 || play.isSent
            if (mayTake || play.startsAtMs - targetMs > 15 * minuteMs) continue
            const heard = station.heard.slice(0, index)
            expect(heard.some(each => each.playlistId === playlist.id && each.startsAtMs >= targetMs)).toBe(
              true
            )
          }
      },
      {
        kind: hourly,
        first: [{ minutes: [3, 4, 5, 6, 20] }, { minutes: [0.2], type: 'once_per_x_songs', isJingle: true }],
        without: ['refuse', 'switch']
      }
    )
  })
})

describe('requests', () => {
  test('air once, in time, and never too many in a row', () => {
    daysOf(
      station => {
        const { consecutiveRequests } = station.library.rules
        const aired = station.heard.flatMap(({ requestId }) => requestId ?? [])
        expect(aired).toEqual([...new Set(aired)])
        for (const { requestId, startsAtMs } of station.heard) {
          const request = station.requests.find(({ id }) => id === requestId)
          if (request) expect(startsAtMs).toBeGreaterThanOrEqual(request.dueAtMs)
        }
        const states = new Map(station.requests.map(({ id, state }) => [id, state]))
        expect(aired.map(id => states.get(id))).toEqual(aired.map(() => 'aired'))
        expect([...states.values()].filter(state => state === 'aired').length).toBe(aired.length)
        if (consecutiveRequests === 0) return
        const kinds = station.heard.map(({ requestId }) => (requestId === null ? '-' : 'R')).join('')
        expect(kinds).not.toContain('R'.repeat(consecutiveRequests + 1))
      },
      { without: ['send'] }
    )
  })

  test('end aired, cancelled or expired, however long it takes', () => {
    const property = fc.property(
      stationSpecs(),
      actionLists(['request', 'cancel', 'skip', 'refuse', 'withdraw', 'top'], 8),
      (spec, actions) => {
        const station = dayOf(spec, actions, 12)
        station.top()
        for (const { state } of station.requests) expect(['aired', 'cancelled', 'expired']).toContain(state)
      }
    )
    fc.assert(property, { numRuns: runs / 2 })
  })
})

describe('silence', () => {
  test('there is none while a playlist may play at any time', () => {
    daysOf(
      station => {
        const { heard } = station
        expect(heard.slice(1).map(({ startsAtMs }) => startsAtMs)).toEqual(
          heard.slice(0, -1).map(({ untilMs }) => untilMs)
        )
        expect(heard.at(-1)?.untilMs).toBe(station.nowMs)
      },
      { first: [{ minutes: [3] }], without: ['switch', 'pause'] }
    )
  })
})
