import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { PlaylistType } from '../../../../src/model/autodj/library.ts'
import { lastHourlyTarget } from '../../../../src/model/autodj/schedule.ts'
import { alike, dayOf, heardOf, onDays, type PlaylistSpec } from '../../../support/autodj/days.ts'
import { minuteMs } from '../../../support/autodj/library.ts'
import type { Heard, TestStation } from '../../../support/autodj/station.ts'
import { sized } from '../../../support/tier.ts'

const rotation: PlaylistSpec = { minutes: [3, 4, 5, 6] }

const ofType = ({ library }: TestStation, type: PlaylistType) =>
  library.playlists.filter(playlist => playlist.type === type)

/** Neither sent before a change, nor part of a batch that had begun. */
const isChosen = ({ isSent, batch }: Heard) => !isSent && batch === null

describe('whatever happens to a station', () => {
  test('at least the set number of songs is between two plays', () => {
    onDays({ kind: alike({ type: 'once_per_x_songs' }), first: [rotation] }, station => {
      const { heard } = station
      for (const { id, everySongs } of ofType(station, 'once_per_x_songs')) {
        const tooSoon = heard.filter((play, index) => {
          const before = heard.slice(0, index).findLastIndex(({ playlistId }) => playlistId === id)
          const between = heard.slice(before + 1, index).filter(({ isVisible }) => isVisible)
          return play.playlistId === id && before >= 0 && isChosen(play) && between.length < everySongs
        })
        expect(tooSoon).toEqual([])
      }
    })
  })

  test('plays start at least the set number of minutes apart', () => {
    onDays({ kind: alike({ type: 'once_per_x_minutes' }), first: [rotation] }, station => {
      for (const playlist of ofType(station, 'once_per_x_minutes')) {
        const plays = heardOf(station, playlist)
        const tooSoon = plays.filter((play, index) => {
          const apartMs = play.startsAtMs - (plays[index - 1]?.startsAtMs ?? -Infinity)
          return isChosen(play) && apartMs < playlist.everyMinutes * minuteMs
        })
        expect(tooSoon).toEqual([])
      }
    })
  })

  test('an hourly playlist plays once per target', () => {
    onDays({ kind: alike({ type: 'once_per_hour' }), first: [rotation] }, station => {
      const { zone } = station.library.rules
      for (const playlist of ofType(station, 'once_per_hour')) {
        const plays = heardOf(station, playlist).filter(isChosen)
        const targets = plays.map(({ startsAtMs }) => lastHourlyTarget(zone, playlist.hourMinute, startsAtMs))
        expect(targets).toEqual([...new Set(targets)])
      }
    })
  })

  test('an hourly playlist takes a free slot within its 15 minutes', () => {
    const hourly = fc.record({
      minutes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
      type: fc.constant('once_per_hour' as const),
      hourMinute: fc.nat(59)
    })
    const others: PlaylistSpec[] = [
      { minutes: [3, 4, 5, 6, 20] },
      { minutes: [0.2], type: 'once_per_x_songs', every: 1, isJingle: true },
      { minutes: [9, 12], type: 'once_per_x_minutes', schedule: [[0, 500]] }
    ]
    onDays({ kind: hourly, first: others, without: ['refuse', 'switch'] }, station => {
      const { heard, library } = station
      for (const { id, hourMinute } of ofType(station, 'once_per_hour')) {
        const missed = heard.filter((play, index) => {
          const targetMs = lastHourlyTarget(library.rules.zone, hourMinute, play.startsAtMs)
          const isInTime = play.startsAtMs - targetMs <= 15 * minuteMs
          if (!isInTime || play.isSent || (play.playlistId ?? Infinity) > others.length) return false
          // Its only track may have been late for the target before, and does not follow itself.
          if (heard[index - 1]?.playlistId === id) return false
          return !heard.slice(0, index).some(each => each.playlistId === id && each.startsAtMs >= targetMs)
        })
        expect(missed).toEqual([])
      }
    })
  })
})

test('exactly the set number of songs is between two jingles if nothing else intervenes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 2, max: 25 }), (every, queueLength) => {
      const jingles: PlaylistSpec = { minutes: [0.1, 0.2], type: 'once_per_x_songs', every, isJingle: true }
      const { heard } = dayOf({ playlists: [rotation, jingles], queueLength }, [], 2)
      const between = heard
        .map(({ isVisible }) => (isVisible ? '-' : 'J'))
        .join('')
        .split('J')
      expect(between.slice(1, -1)).toEqual(between.slice(1, -1).map(() => '-'.repeat(every)))
      expect(between.length).toBeGreaterThan(3)
    }),
    { numRuns: sized({ quick: 3, deep: 144 }) }
  )
})
