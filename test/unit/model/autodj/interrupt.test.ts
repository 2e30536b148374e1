import { describe, expect, test } from 'vitest'

import type { Playlist } from '../../../../src/model/autodj/library.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aRequest,
  aSong,
  aTrack,
  type LibraryParts,
  minuteMs,
  type PlaylistParts,
  secondMs,
  timeOf
} from '../../../support/autodj/library.ts'
import { aStation, type TestStation } from '../../../support/autodj/station.ts'

/** Songs of ten minutes, so that a song is always interrupted. */
const music = aPlaylist({
  id: 1,
  tracks: [101, 102, 103, 104].map(id => aTrack(id, { durationMs: 10 * minuteMs }))
})

const cutting = (id: number, parts: PlaylistParts): Playlist =>
  aPlaylist({ id, options: ['interrupt'], tracks: [id * 100 + 1, id * 100 + 2], ...parts })

const hourly = (id: number, hourMinute: number, parts: PlaylistParts = {}) =>
  cutting(id, { type: 'once_per_hour', hourMinute, ...parts })

/** A station that started at 11:55, without interrupts. */
function stationWith(playlists: readonly Playlist[], parts: LibraryParts = {}): TestStation {
  const quiet = playlists.map(playlist => ({ ...playlist, isEnabled: playlist === music }))
  const station = aStation(aLibrary({ playlists: quiet, ...parts }), timeOf('11:55'))
  station.runTo(timeOf('11:55'))
  for (const { id } of playlists) station.change(id, playlist => ({ ...playlist, isEnabled: true }))
  return station
}

/** The starts and playlists of the plays from 11:55 until a time. */
function heardTo(station: TestStation, until: string): string {
  station.runTo(timeOf(until))
  return station.heard
    .map(({ startsAtMs, playlistId }) => {
      const time = new Date(startsAtMs).toISOString().slice(11, 19)
      return `${time.endsWith(':00') ? time.slice(0, 5) : time} ${playlistId}`
    })
    .join(', ')
}

describe('the current play is interrupted at the exact second', () => {
  test('of an hourly target', () => {
    const station = stationWith([music, hourly(2, 0)])
    expect(station.on?.dueMs).toBe(timeOf('12:00'))
    expect(station.queue[0]).toMatchObject({ playlistId: 2, startsAtMs: timeOf('12:00'), isInterrupt: true })
    expect(heardTo(station, '12:20')).toBe('11:55 1, 12:00 2, 12:03 1, 12:13 1')
  })

  test('at which a window opens', () => {
    const news = cutting(2, { schedule: [anItem(1204, 1300)], options: ['interrupt', 'single_track'] })
    expect(heardTo(stationWith([music, news]), '12:20')).toBe('11:55 1, 12:04 2, 12:07 1, 12:17 1')
  })

  test('at which a window ends that covered a longer one', () => {
    const tracks = [201, 202].map(id => aTrack(id, { durationMs: 8 * minuteMs }))
    const show = cutting(2, { schedule: [anItem(1100, 1400), anItem(1130, 1201)], tracks })
    const past = { rules: { overrunMs: 0 }, plays: [aPlay(201, timeOf('11:40'), { playlistId: 2 })] }
    expect(heardTo(stationWith([music, show], past), '12:10')).toBe('11:55 1, 12:01 2, 12:09 2')
  })

  test('at which the interval has passed', () => {
    const every = cutting(2, {
      type: 'once_per_x_minutes',
      everyMinutes: 7,
      tracks: [aTrack(201, { durationMs: 60 * secondMs })]
    })
    expect(heardTo(stationWith([music, every]), '12:12')).toBe(
      '11:55 1, 11:55 2, 11:56 1, 12:02 2, 12:03 1, 12:09 2, 12:10 1'
    )
  })

  test('and is not resumed', () => {
    const station = stationWith([music, hourly(2, 0)])
    station.runTo(timeOf('12:04'))
    const [first, , second] = station.heard
    expect(first?.untilMs).toBe(timeOf('12:00'))
    expect(second?.trackId).not.toBe(first?.trackId)
  })

  test('also a manual row, a request and a batch', () => {
    const batch = aPlaylist({ ...music, options: ['merge'], order: 'sequential', tracks: [101, 102, 103] })
    const short = { ...batch, tracks: aPlaylist({ tracks: [101, 102, 103] }).tracks }
    const station = aStation(aLibrary({ playlists: [short, hourly(2, 10)] }), timeOf('12:03'))
    expect(heardTo(station, '12:15')).toBe('12:03 1, 12:06 1, 12:09 1, 12:10 2, 12:13 1')
    const asked = stationWith([music, hourly(2, 10)], {
      requests: [aRequest(5, { dueAtMs: timeOf('12:00') })]
    })
    asked.add(aPlay(9, 0, { durationMs: 4 * minuteMs }))
    expect(heardTo(asked, '12:14')).toBe('11:55 1, 12:05 null, 12:09 null, 12:10 2, 12:13 1')
  })
})

describe('nothing is interrupted', () => {
  test('by a playlist that is always due', () => {
    expect(heardTo(stationWith([music, cutting(2, {})]), '12:20')).toBe('11:55 1, 12:05 1, 12:15 1')
  })

  test('by a count of songs in the middle of a song', () => {
    const station = stationWith([music, cutting(2, { type: 'once_per_x_songs', everySongs: 1 })])
    station.runTo(timeOf('11:58'))
    station.top()
    expect(heardTo(station, '12:20')).toBe('11:55 1, 12:05 2, 12:08 1, 12:18 2')
  })

  test('by a playlist without a track that fits its window', () => {
    const parts = { schedule: [anItem(1150, 1201)], tracks: [aTrack(201, { durationMs: 20 * minuteMs })] }
    const library = {
      rules: { overrunMs: 5 * minuteMs },
      plays: [aPlay(201, timeOf('11:50'), { playlistId: 2 })]
    }
    const station = stationWith([music, hourly(2, 0, parts)], library)
    station.runTo(timeOf('11:58'))
    station.top()
    expect(station.on?.dueMs).toBe(timeOf('12:05'))
  })

  test('while a row was sent to the playout', () => {
    const station = stationWith([music, hourly(2, 0)])
    station.change(2, playlist => ({ ...playlist, isEnabled: false }))
    station.send()
    station.change(2, playlist => ({ ...playlist, isEnabled: true }))
    expect(station.on?.dueMs).toBe(timeOf('12:05'))
    expect(station.queue.slice(0, 2).map(({ playlistId }) => playlistId)).toEqual([1, 2])
    expect(station.queue[1]?.startsAtMs).toBe(timeOf('12:15'))
  })

  test('unless the playout keeps that row for later', () => {
    const station = stationWith([music, hourly(2, 0)], { rules: { cutsBeforeSent: true } })
    station.change(2, playlist => ({ ...playlist, isEnabled: false }))
    station.send()
    const [sent] = station.queue
    station.change(2, playlist => ({ ...playlist, isEnabled: true }))
    expect(station.on?.dueMs).toBe(timeOf('12:00'))
    const news = station.queue.find(({ playlistId }) => playlistId === 2)
    expect(news?.startsAtMs).toBe(timeOf('12:00'))
    expect(station.queue.find(({ id }) => id === sent?.id)?.startsAtMs).toBe(timeOf('12:03'))
    station.top()
    expect(station.queue.find(({ playlistId }) => playlistId === 2)).toEqual(news)
  })

  test('in an interrupt by a playlist of the same rank', () => {
    const first = hourly(2, 0)
    const second = hourly(3, 2)
    expect(heardTo(stationWith([music, first, second]), '12:15')).toBe('11:55 1, 12:00 2, 12:03 3, 12:06 1')
  })
})

describe('of several', () => {
  test('that are due at once, all play before anything else', () => {
    const heard = heardTo(stationWith([music, hourly(2, 0), hourly(3, 0)]), '12:10')
    expect(['11:55 1, 12:00 2, 12:03 3, 12:06 1', '11:55 1, 12:00 3, 12:03 2, 12:06 1']).toContain(heard)
  })

  test('the one of higher rank interrupts the other', () => {
    const show = cutting(2, {
      schedule: [anItem(1150, 1300)],
      tracks: music.tracks.ids.length ? [201, 202, 203, 204] : []
    })
    const long = {
      ...show,
      tracks: aPlaylist({ tracks: [201, 202, 203].map(id => aTrack(id, { durationMs: 9 * minuteMs })) })
        .tracks
    }
    expect(heardTo(stationWith([music, long, hourly(3, 0)]), '12:10')).toBe(
      '11:55 1, 11:55 2, 12:00 3, 12:03 2'
    )
  })

  test('one that splits a batch keeps its place while the rest of the batch follows', () => {
    const tracks = [1, 2].map(song => aTrack(200 + song, { ...aSong(song), durationMs: minuteMs }))
    const schedule = [anItem(1100, 1400)]
    const batches = cutting(2, { options: ['interrupt', 'merge'], schedule, tracks })
    const jingle = hourly(3, 0, { schedule, tracks: [aTrack(301, { ...aSong(1), durationMs: minuteMs })] })
    const station = stationWith([music, batches, jingle])
    station.runTo(timeOf('11:59') + 43 * secondMs)
    const before = station.queue
    expect(before.map(({ playlistId, trackId }) => `${playlistId} ${trackId}`)).toEqual([
      '3 301',
      '2 202',
      '2 201',
      '2 202'
    ])
    station.top()
    expect(station.queue).toEqual(before)
  })

  test('each plays regularly', () => {
    const every = (id: number) => cutting(id, { type: 'once_per_x_minutes', everyMinutes: 2 })
    const station = stationWith([music, every(2), every(3)])
    station.runTo(timeOf('13:55'))
    const counts = [2, 3].map(id => station.heard.filter(({ playlistId }) => playlistId === id).length)
    expect(Math.min(...counts)).toBeGreaterThan(10)
    const lengths = station.heard.slice(1, -1).map(({ startsAtMs, untilMs }) => untilMs - startsAtMs)
    expect(Math.min(...lengths)).toBeGreaterThan(0)
  })
})

describe('an interrupting show', () => {
  const show = (parts: PlaylistParts = {}) =>
    cutting(2, { schedule: [anItem(1200, 1215)], tracks: [201, 202, 203, 204, 205, 206], ...parts })

  test('plays to the end of its window', () => {
    expect(heardTo(stationWith([music, show()]), '12:20')).toBe(
      '11:55 1, 12:00 2, 12:03 2, 12:06 2, 12:09 2, 12:12 2, 12:15 1'
    )
  })

  test('with one song repeats it instead of alternating with the interrupted music', () => {
    const one = show({ tracks: [201] })
    const station = stationWith([music, one])
    for (const time of ['12:01', '12:04', '12:05', '12:08']) {
      station.runTo(timeOf(time))
      station.top()
    }
    expect(heardTo(station, '12:20')).toBe('11:55 1, 12:00 2, 12:03 2, 12:06 2, 12:09 2, 12:12 2, 12:15 1')
  })

  test('fills the queue until then', () => {
    const station = stationWith([music, show()])
    station.runTo(timeOf('12:00'))
    expect(station.queue.map(({ playlistId }) => playlistId)).toEqual([2, 2, 2])
  })
})

describe('a queued interrupt', () => {
  test('is withdrawn when its window changes, and the current play continues', () => {
    const station = stationWith([music, cutting(2, { schedule: [anItem(1200, 1300)] })])
    expect(station.on?.dueMs).toBe(timeOf('12:00'))
    station.change(2, playlist => ({ ...playlist, schedule: [anItem(1500, 1600)] }))
    expect(station.on?.dueMs).toBe(timeOf('12:05'))
    expect(station.queue.map(({ playlistId }) => playlistId)).toEqual([1, 1, 1])
    expect(heardTo(station, '12:06')).toBe('11:55 1, 12:05 1')
  })

  test('moves when its minute changes', () => {
    const station = stationWith([music, hourly(2, 0)])
    const [row] = station.queue
    station.change(2, playlist => ({ ...playlist, hourMinute: 8 }))
    expect(station.queue.slice(0, 2).map(({ id, startsAtMs }) => [id, startsAtMs])).toEqual([
      [expect.any(Number), timeOf('12:05')],
      [row?.id, timeOf('12:08')]
    ])
  })

  test.for<[what: string, change: (playlist: Playlist) => Playlist]>([
    ['disabled', playlist => ({ ...playlist, isEnabled: false })],
    ['emptied', playlist => ({ ...playlist, tracks: aPlaylist({ tracks: [] }).tracks })],
    ['without the interrupt option', playlist => ({ ...playlist, options: new Set() })]
  ])('leaves when its playlist is %s', ([, change]) => {
    const station = stationWith([music, hourly(2, 0)])
    station.change(2, change)
    expect(station.on?.dueMs).toBe(timeOf('12:05'))
    expect(station.queue.filter(({ isInterrupt }) => isInterrupt)).toEqual([])
  })

  test('is not planned again after an operator removes it', () => {
    const station = stationWith([music, hourly(2, 0)])
    station.refuse(0)
    expect(heardTo(station, '12:06')).toBe('11:55 1, 12:05 1')
  })
})

test('a playlist that becomes due in the middle of a song interrupts it at once', () => {
  const station = stationWith([music, cutting(2, { schedule: [anItem(1800, 1900)] })])
  station.runTo(timeOf('11:58'))
  station.change(2, playlist => ({
    ...playlist,
    schedule: [anItem(1130, 1300)],
    options: new Set(['interrupt', 'single_track'])
  }))
  expect(station.on?.dueMs).toBe(timeOf('11:58'))
  expect(heardTo(station, '12:03')).toBe('11:55 1, 11:58 2, 12:01 1')
})
