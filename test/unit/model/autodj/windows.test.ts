import { describe, expect, test } from 'vitest'

import { airtimeMs } from '../../../../src/model/autodj/durations.ts'
import type { Playlist } from '../../../../src/model/autodj/library.ts'
import { lastHourlyTarget, findWindowAt } from '../../../../src/model/autodj/schedule.ts'
import { alike, heardOf, onDays } from '../../../support/autodj/days.ts'
import type { TestStation } from '../../../support/autodj/station.ts'

const scheduled = ({ library }: TestStation) =>
  library.playlists.filter(({ schedule }) => schedule.length > 0)

/** Plays in a slot of their own: neither sent before a change, nor part of a batch. */
function begunOf(station: TestStation, playlist: Playlist) {
  const plays = heardOf(station, playlist)
  return plays.filter(
    play => !play.isSent && (play.batch === null || plays.find(({ batch }) => batch === play.batch) === play)
  )
}

describe('whatever happens to a station', () => {
  test('nothing starts outside the windows of its playlist', () => {
    onDays({}, station => {
      const { zone } = station.library.rules
      for (const playlist of scheduled(station)) {
        const begun = begunOf(station, playlist)
        expect(begun.filter(({ startsAtMs }) => !findWindowAt(zone, playlist.schedule, startsAtMs))).toEqual(
          []
        )
      }
    })
  })

  test('only the first play of a window overruns it by more than the station allows', () => {
    onDays({}, station => {
      const { zone, overrunMs } = station.library.rules
      for (const playlist of scheduled(station).filter(({ options }) => !options.has('merge'))) {
        const plays = heardOf(station, playlist)
        const tooLong = plays.filter((play, index) => {
          const window = findWindowAt(zone, playlist.schedule, play.startsAtMs)
          const isFirst = !window || (plays[index - 1]?.startsAtMs ?? 0) < window.startMs
          if (isFirst || play.isSent) return false
          return play.startsAtMs + airtimeMs(play.durationMs) > window.endMs + overrunMs
        })
        expect(tooLong).toEqual([])
      }
    })
  })

  test('with single_track one track plays per occurrence', () => {
    onDays({ kind: alike({ options: ['single_track'] }) }, station => {
      const { zone } = station.library.rules
      for (const playlist of scheduled(station)) {
        const { type, hourMinute, schedule } = playlist
        const occurrences = begunOf(station, playlist).map(({ startsAtMs }) =>
          type === 'once_per_hour'
            ? lastHourlyTarget(zone, hourMinute, startsAtMs)
            : findWindowAt(zone, schedule, startsAtMs)?.startMs
        )
        expect(occurrences).toEqual([...new Set(occurrences)])
      }
    })
  })

  test('with loop_once no track plays twice in a window', () => {
    onDays({ kind: alike({ options: ['loop_once'] }) }, station => {
      const { zone } = station.library.rules
      for (const playlist of scheduled(station).filter(({ source }) => source === 'songs')) {
        const inWindows = begunOf(station, playlist).map(
          ({ trackId, startsAtMs }) =>
            `${trackId} from ${findWindowAt(zone, playlist.schedule, startsAtMs)?.startMs}`
        )
        expect(inWindows).toEqual([...new Set(inWindows)])
      }
    })
  })
})
