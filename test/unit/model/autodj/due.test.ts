import { describe, expect, test } from 'vitest'

import { checkPlaylistDue } from '../../../../src/model/autodj/due.ts'
import type { PlayOrRow } from '../../../../src/model/autodj/library.ts'
import type { PlaylistObstacle } from '../../../../src/model/autodj/log-entry.ts'
import {
  aLibrary,
  anItem,
  aPlay,
  aPlaylist,
  aPlayOf,
  aSlot,
  dayMs,
  hourMs,
  type LibraryParts,
  minuteMs,
  noonMs,
  type PlaylistParts,
  timeOf
} from '../../../support/autodj/library.ts'

/** Why a playlist with the id 1 is not due. */
function whyNot(
  playlist: PlaylistParts,
  atMs: number,
  {
    zone = 'UTC',
    rowsBefore = [],
    ...parts
  }: LibraryParts & { zone?: string; rowsBefore?: readonly PlayOrRow[] } = {}
): PlaylistObstacle | null {
  const one = aPlaylist({ id: 1, ...playlist })
  return checkPlaylistDue(
    one,
    aSlot(aLibrary({ playlists: [one], rules: { zone }, ...parts }), atMs, { rowsBefore })
  ).obstacle
}

const hourly = (hourMinute: number): PlaylistParts => ({ type: 'once_per_hour', hourMinute })
const ago = (minutes: number) => noonMs - minutes * minuteMs

describe('a playlist with an interval in minutes', () => {
  const everyHalfHour: PlaylistParts = { type: 'once_per_x_minutes', everyMinutes: 30 }

  test.for<[minutesAgo: number, why: PlaylistObstacle | null]>([
    [20, 'too_soon'],
    [30, null],
    [40, null]
  ])('with the last play %d minutes ago: %s', ([minutesAgo, why]) => {
    expect(whyNot(everyHalfHour, noonMs, { plays: [aPlayOf(1, 101, ago(minutesAgo))] })).toBe(why)
  })

  test('a playlist that was never played is due', () => {
    expect(whyNot(everyHalfHour, noonMs)).toBeNull()
  })

  test('an earlier row of the queue counts as played', () => {
    expect(whyNot(everyHalfHour, noonMs, { rowsBefore: [aPlayOf(1, 101, ago(20))] })).toBe('too_soon')
  })

  test('an older play counts', () => {
    const older = new Map([[1, { startsAtMs: ago(20), visibleAfter: 6 }]])
    expect(whyNot(everyHalfHour, noonMs, { older })).toBe('too_soon')
  })
})

describe('a playlist with an interval in songs', () => {
  const everyTwo: PlaylistParts = { type: 'once_per_x_songs', everySongs: 2, isJingle: true }
  const kinds: Record<string, (atMs: number) => PlayOrRow> = {
    J: atMs => aPlayOf(1, 101, atMs, { isVisible: false }),
    J2: atMs => aPlayOf(2, 201, atMs, { isVisible: false }),
    song: atMs => aPlay(7, atMs),
    request: atMs => aPlay(8, atMs, { requestId: 1 }),
    live: atMs => aPlay(9, atMs, { mediaId: null })
  }
  const rows = (names: string) =>
    names.split(' ').map((name, index, { length }) => kinds[name]?.(ago(3 * (length - index))) ?? aPlay(1, 0))

  test.for<[airOrder: string, why: PlaylistObstacle | null]>([
    ['J song song', null],
    ['J song J2 song', null],
    ['J song', 'not_enough_songs'],
    ['J request live', null],
    ['J J2 J2', 'not_enough_songs'],
    ['song song J song', 'not_enough_songs']
  ])('after %s: %s', ([airOrder, why]) => {
    const all = rows(airOrder)
    expect(whyNot(everyTwo, noonMs, { plays: all })).toBe(why)
    for (let aired = 0; aired <= all.length; aired++)
      expect(whyNot(everyTwo, noonMs, { plays: all.slice(0, aired), rowsBefore: all.slice(aired) })).toBe(why)
  })

  test('a playlist that was never played is due', () => {
    expect(whyNot(everyTwo, noonMs)).toBeNull()
    expect(whyNot({ ...everyTwo, everySongs: 100 }, noonMs, { plays: rows('song') })).toBeNull()
  })

  test('songs are counted up to an older play', () => {
    const older = new Map([[1, { startsAtMs: ago(600), visibleAfter: 98 }]])
    expect(whyNot({ ...everyTwo, everySongs: 100 }, noonMs, { older, plays: rows('song') })).toBe(
      'not_enough_songs'
    )
    expect(whyNot({ ...everyTwo, everySongs: 100 }, noonMs, { older, plays: rows('song song') })).toBeNull()
  })
})

describe('once per hour', () => {
  test.for<[time: string, minute: number, zone: string, why: PlaylistObstacle | null]>([
    ['23:59', 50, 'UTC', null],
    ['2026-01-15T12:04Z', 50, 'UTC', null],
    ['2026-01-15T12:05:00Z', 50, 'UTC', null],
    ['23:49', 50, 'UTC', 'too_soon'],
    ['2026-01-15T12:06Z', 50, 'UTC', 'too_soon'],
    ['2026-01-15T00:30Z', 0, 'Asia/Kolkata', null],
    ['2026-01-15T00:00Z', 0, 'Asia/Kolkata', 'too_soon'],
    ['2026-01-15T00:46Z', 0, 'Asia/Kolkata', 'too_soon'],
    ['2026-01-15T00:15Z', 0, 'Asia/Kathmandu', null],
    ['2026-01-15T00:20Z', 0, 'Asia/Kathmandu', null],
    ['2026-01-15T00:00Z', 0, 'Asia/Kathmandu', 'too_soon']
  ])('at %s, minute %d in %s: %s', ([time, minute, zone, why]) => {
    expect(whyNot(hourly(minute), timeOf(time), { zone })).toBe(why)
  })

  test.for<[date: string, targets: number]>([
    ['2026-03-29', 23],
    ['2026-06-01', 24],
    ['2026-10-25', 25]
  ])('at half past in Berlin has on %s %d minutes', ([date, targets]) => {
    const playlist = aPlaylist({ id: 1, ...hourly(30) })
    const library = aLibrary({ playlists: [playlist], rules: { zone: 'Europe/Berlin' } })
    const { zone } = library.rules
    const day = Date.parse(date) / dayMs
    const found = new Set<number | null>()
    for (let atMs = Date.parse(date) - dayMs; atMs < Date.parse(date) + 2 * dayMs; atMs += 5 * minuteMs) {
      const { occurrenceMs } = checkPlaylistDue(playlist, aSlot(library, atMs))
      if (occurrenceMs !== null && zone.localDay(occurrenceMs) === day) found.add(occurrenceMs)
    }
    expect(found.size).toBe(targets)
  })

  const mix = (from: string) => [
    aPlay(8, timeOf('11:30')),
    aPlay(9, timeOf(from), { durationMs: timeOf('12:25') - timeOf(from) })
  ]

  test('a play across the target delays it', () => {
    expect(whyNot(hourly(0), timeOf('12:25'), { plays: mix('11:40') })).toBeNull()
    const [before, during] = mix('11:40')
    expect(
      whyNot(hourly(0), timeOf('12:25'), {
        plays: [before ?? aPlay(1, 0)],
        rowsBefore: during ? [during] : []
      })
    ).toBeNull()
  })

  test('after 45 minutes it is skipped', () => {
    const plays = [aPlay(9, timeOf('11:40'))]
    expect(whyNot(hourly(0), timeOf('12:44:59'), { plays })).toBeNull()
    expect(whyNot(hourly(0), timeOf('12:45'), { plays })).toBe('too_soon')
  })

  test('after a free slot in time it is skipped', () => {
    expect(whyNot(hourly(0), timeOf('12:25'), { plays: mix('12:05') })).toBe('too_soon')
  })

  test('it plays once per target', () => {
    const plays = [aPlayOf(1, 101, timeOf('12:01'))]
    expect(whyNot(hourly(0), timeOf('12:04'), { plays })).toBe('already_played')
    expect(whyNot(hourly(0), timeOf('13:00'), { plays })).toBeNull()
  })

  test('with single_track in a window it plays once per target', () => {
    const playlist: PlaylistParts = {
      ...hourly(0),
      options: ['single_track'],
      schedule: [anItem(1200, 1800)]
    }
    const rowsBefore = [aPlayOf(1, 101, timeOf('12:00'), { occurrenceMs: timeOf('12:00') })]
    expect(whyNot(playlist, timeOf('12:00'))).toBeNull()
    expect(whyNot(playlist, timeOf('13:00'), { rowsBefore })).toBeNull()
    const twice = [...rowsBefore, aPlayOf(1, 102, timeOf('13:00'), { occurrenceMs: timeOf('13:00') })]
    expect(whyNot(playlist, timeOf('13:10'), { rowsBefore: twice })).toBe('already_played')
  })
})

describe('by default', () => {
  test('a playlist is due, within its windows if it has any', () => {
    expect(whyNot({}, noonMs)).toBeNull()
    expect(whyNot({ schedule: [anItem(1200, 1300)] }, noonMs)).toBeNull()
    expect(whyNot({ schedule: [anItem(1200, 1300)] }, noonMs + hourMs)).toBe('not_scheduled')
  })

  test('single_track allows one track per window', () => {
    const playlist: PlaylistParts = {
      options: ['single_track'],
      schedule: [anItem(1200, 1300), anItem(1500, 1600)]
    }
    const plays = [aPlayOf(1, 101, timeOf('12:10'), { occurrenceMs: noonMs })]
    expect(whyNot(playlist, timeOf('12:20'))).toBeNull()
    expect(whyNot(playlist, timeOf('12:20'), { plays })).toBe('already_played')
    expect(whyNot(playlist, timeOf('15:00'), { plays })).toBeNull()
  })

  const single: PlaylistParts = { options: ['single_track'], schedule: [anItem(1200, 1300)] }

  test.for<[play: string, startsAt: string, occurrenceMs: number | null, why: PlaylistObstacle | null]>([
    ['that belongs to the window and began before it', '11:59', noonMs, 'already_played'],
    ['queued manually at its opening', '12:00', null, 'already_played'],
    ['queued manually in it', '12:05', null, 'already_played'],
    ['queued manually before it', '11:59', null, null],
    ['of the window before', '11:59', timeOf('11:00'), null]
  ])('single_track and a play %s (%s, %s): %s', ([, startsAt, occurrenceMs, why]) => {
    const play = aPlayOf(1, 101, timeOf(startsAt), { occurrenceMs })
    expect(whyNot(single, timeOf('12:20'), { plays: [play] })).toBe(why)
    expect(whyNot(single, timeOf('12:20'), { rowsBefore: [play] })).toBe(why)
    expect(whyNot(single, timeOf('12:20'), { plays: [{ ...play, playlistId: 2 }] })).toBeNull()
  })

  test('an occurrence begins with the minute of an hourly playlist, else with the window', () => {
    const occurrenceOf = (parts: PlaylistParts) => {
      const one = aPlaylist(parts)
      return checkPlaylistDue(one, aSlot(aLibrary({ playlists: [one] }), timeOf('12:20'))).occurrenceMs
    }
    const schedule = [anItem(1130, 1300)]
    expect(occurrenceOf({ ...hourly(10), schedule })).toBe(timeOf('12:10'))
    expect(occurrenceOf({ schedule })).toBe(timeOf('11:30'))
    expect(occurrenceOf({})).toBeNull()
  })

  test('single_track has no effect without a schedule', () => {
    expect(whyNot({ options: ['single_track'] }, noonMs, { plays: [aPlayOf(1, 101, ago(5))] })).toBeNull()
  })

  test.for<[name: string, playlist: PlaylistParts]>([
    ['the option of the playlist', { options: ['loop_once'], schedule: [anItem(1200, 1300)] }],
    ['the item of the schedule', { schedule: [anItem(1200, 1300, { loop_once: true })] }]
  ])('loop_once as %s ends when every track was heard in the window', ([, playlist]) => {
    const plays = [aPlayOf(1, 103, ago(5)), aPlayOf(1, 102, noonMs), aPlayOf(1, 101, noonMs + minuteMs)]
    expect(whyNot(playlist, noonMs + 2 * minuteMs, { plays })).toBeNull()
    expect(
      whyNot(playlist, noonMs + 4 * minuteMs, { plays, rowsBefore: [aPlayOf(1, 103, noonMs + 2 * minuteMs)] })
    ).toBe('loop_done')
  })
})

describe('never due', () => {
  test.for<[name: string, playlist: PlaylistParts, why: PlaylistObstacle]>([
    ['every 0 minutes', { type: 'once_per_x_minutes', everyMinutes: 0 }, 'not_configured'],
    ['every 0 songs', { type: 'once_per_x_songs', everySongs: 0 }, 'not_configured'],
    ['custom', { type: 'custom' }, 'disabled'],
    ['disabled', { isEnabled: false }, 'disabled'],
    ['without tracks', { tracks: [] }, 'empty']
  ])('%s', ([, playlist, why]) => {
    expect(whyNot(playlist, noonMs)).toBe(why)
  })
})

describe('a removed row counts as played', () => {
  const removed = [
    { playlistId: 1, trackId: 101, pass: 1, startsAtMs: ago(10), occurrenceMs: ago(10) },
    { playlistId: 1, trackId: 101, pass: 1, startsAtMs: ago(90), occurrenceMs: ago(90) }
  ]

  test.for<[name: string, playlist: PlaylistParts, why: PlaylistObstacle]>([
    ['minutes', { type: 'once_per_x_minutes', everyMinutes: 11 }, 'too_soon'],
    ['songs', { type: 'once_per_x_songs', everySongs: 3 }, 'not_enough_songs'],
    ['hours', hourly(50), 'already_played'],
    ['windows', { options: ['single_track'], schedule: [anItem(1100, 1300)] }, 'already_played']
  ])('by %s', ([, playlist, why]) => {
    const plays = [11, 8, 5].map(minutes => aPlay(minutes, ago(minutes)))
    expect(whyNot(playlist, noonMs, { plays, removed })).toBe(why)
    expect(whyNot(playlist, noonMs, { plays })).toBeNull()
  })

  test('until enough songs have followed', () => {
    const plays = [11, 9, 6, 3].map(minutes => aPlay(minutes, ago(minutes)))
    expect(whyNot({ type: 'once_per_x_songs', everySongs: 3 }, noonMs, { plays, removed })).toBeNull()
  })

  test('also if it is older than the known plays', () => {
    const plays = [9, 6, 3].map(minutes => aPlay(minutes, ago(minutes)))
    const older = new Map([[1, { startsAtMs: ago(200), visibleAfter: 40 }]])
    const parts = { plays, older, removed }
    expect(whyNot({ type: 'once_per_x_songs', everySongs: 43 }, noonMs, parts)).toBeNull()
    expect(whyNot({ type: 'once_per_x_minutes', everyMinutes: 11 }, noonMs, parts)).toBe('too_soon')
  })
})
