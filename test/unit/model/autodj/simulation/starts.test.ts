import { expect, test } from 'vitest'

import { measureStarts } from '../../../../../src/model/autodj/simulation/starts.ts'
import { aPlaylist, aRun, at, type Heard } from '../../../../support/simulated.ts'

const rotation = aPlaylist(1)
const show = aPlaylist(2, { name: 'Show', schedule: [{ start_time: 100, end_time: 200 }] })
const hourly = aPlaylist(3, { name: 'ID', type: 'once_per_hour', isJingle: true })
const jingles = aPlaylist(4, { name: 'Jingles', type: 'once_per_x_songs', everySongs: 4, isJingle: true })
const lists = [rotation, show, jingles]

const song = { of: 1, minutes: 40 }
const rest = { of: 1, minutes: 120 }

const verdictOf = (heard: readonly Heard[], playlists = lists) => {
  const [start] = measureStarts(aRun(playlists, heard))
  return (
    start && [
      start.verdict,
      start.startedAtMs === null ? null : (start.startedAtMs - at(1)) / 60_000,
      start.before
    ]
  )
}

test('a program that starts at the end of the current track is on time', () => {
  expect(verdictOf([song, song, { of: 2, minutes: 40 }, rest])).toEqual(['on time', 20, []])
  expect(verdictOf([{ of: 1, minutes: 60 }, { of: 2, minutes: 60 }, rest])).toEqual(['on time', 0, []])
})

test('plays that take precedence may go first', () => {
  const heard = [song, song, { of: 4, minutes: 1 }, { of: 2, minutes: 40 }, rest]
  expect(verdictOf(heard)).toEqual(['behind others', 21, ['Jingles']])
  const request = { of: 1, minutes: 3, playlistId: null, requestId: 7 }
  expect(verdictOf([song, song, request, { of: 2, minutes: 9 }, rest])).toEqual([
    'behind others',
    23,
    ['request']
  ])
})

test('a rotation that starts first makes a program late', () => {
  const heard = [song, song, { of: 4, minutes: 1 }, { of: 1, minutes: 3 }, { of: 2, minutes: 40 }, rest]
  expect(verdictOf(heard)).toEqual(['late', 24, ['Jingles', 'List 1']])
})

test('a program that starts after silence is late, except at its second', () => {
  expect(verdictOf([song, { of: 0, minutes: 40 }, { of: 2, minutes: 60 }])).toEqual(['late', 20, ['silence']])
  expect(verdictOf([song, { of: 0, minutes: 20 }, { of: 2, minutes: 60 }])).toEqual(['on time', 0, []])
})

test('a program that does not play in its window never starts', () => {
  expect(verdictOf([song, song, song, { of: 2, minutes: 9 }, rest])).toEqual(['never', null, ['List 1']])
  expect(verdictOf([song, { of: 1, minutes: 90 }, rest])).toEqual(['never', null, []])
})

test('a start that was still possible at the end of the run is omitted', () => {
  expect(measureStarts(aRun(lists, [song, song]))).toEqual([])
  expect(measureStarts(aRun(lists, [song, song, { of: 4, minutes: 1 }]))).toEqual([])
  expect(verdictOf([song, song, { of: 1, minutes: 1 }])).toEqual(['never', null, ['List 1']])
})

test('a window that began before the run is omitted', () => {
  const early = aPlaylist(2, { schedule: [{ start_time: 2300, end_time: 200 }] })
  expect(measureStarts(aRun([rotation, early], [song, song, song]))).toEqual([])
})

test('an interrupt starts to the second, or is late', () => {
  const cutting = aPlaylist(2, { schedule: [{ start_time: 100, end_time: 200 }], options: ['interrupt'] })
  const playlists = [rotation, cutting, jingles]
  expect(verdictOf([{ of: 1, minutes: 60 }, { of: 2, minutes: 5 }, rest], playlists)).toEqual([
    'on time',
    0,
    []
  ])
  expect(verdictOf([song, song, { of: 2, minutes: 5 }, rest], playlists)).toEqual(['late', 20, []])
  const heard = [{ of: 1, minutes: 60 }, { of: 4, minutes: 1 }, { of: 2, minutes: 5 }, rest]
  expect(verdictOf(heard, playlists)).toEqual(['late', 1, ['Jingles']])
  // It is already on air from an earlier window.
  expect(verdictOf([song, { of: 2, minutes: 40 }, { of: 2, minutes: 5 }, rest], playlists)).toEqual([
    'on time',
    20,
    []
  ])
})

test('of two playlists with the same window either may go first', () => {
  const other = aPlaylist(5, { schedule: [{ start_time: 100, end_time: 200 }] })
  const run = aRun([rotation, show, other], [song, song, { of: 5, minutes: 3 }, { of: 2, minutes: 3 }, rest])
  expect(measureStarts(run).map(({ name, verdict }) => [name, verdict])).toEqual([
    ['Show', 'behind others'],
    ['List 5', 'on time']
  ])
})

test('each hourly target is a start, matched by the occurrence of the plays', () => {
  const id = (hour: number) => ({ of: 3, minutes: 1, occurrenceMs: at(hour), isVisible: false })
  const heard = [id(0), { of: 1, minutes: 61 }, id(1), { of: 1, minutes: 70 }, { of: 1, minutes: 50 }, rest]
  expect(
    measureStarts(aRun([rotation, hourly], heard)).map(({ dueAtMs, verdict, kind }) => [
      dueAtMs,
      verdict,
      kind
    ])
  ).toEqual([
    [at(0), 'on time', 'hour'],
    [at(1), 'on time', 'hour'],
    [at(2), 'never', 'hour'],
    [at(3), 'never', 'hour'],
    [at(4), 'never', 'hour']
  ])
})

test('an hourly playlist with a schedule has only the targets within it', () => {
  const news = aPlaylist(3, {
    type: 'once_per_hour',
    hourMinute: 30,
    schedule: [{ start_time: 100, end_time: 300 }]
  })
  const starts = measureStarts(aRun([rotation, news], [rest, rest, rest]))
  expect(starts.map(({ dueAtMs }) => dueAtMs)).toEqual([at(1, 30), at(2, 30)])
})
