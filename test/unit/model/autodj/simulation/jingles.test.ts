import { expect, test } from 'vitest'

import { measureJingles } from '../../../../../src/model/autodj/simulation/totals.ts'
import { aPlaylist, aRun } from '../../../../support/simulated.ts'

const rotation = aPlaylist(1)
const jingles = aPlaylist(2, { type: 'once_per_x_songs', everySongs: 2, isJingle: true })
const hourly = aPlaylist(3, { type: 'once_per_hour', isJingle: true })
const lists = [rotation, jingles, hourly]

const song = { of: 1, minutes: 3 }
const jingle = { of: 2, minutes: 1, isVisible: false }
const id = { of: 3, minutes: 1, isVisible: false }

test('jingles in a row are counted, and separately those next to an hourly playlist', () => {
  const measured = measureJingles(
    aRun(lists, [jingle, jingle, song, jingle, jingle, jingle, id, song, id, jingle, song])
  )
  expect(measured).toMatchObject({ inARow: 3, besideHourly: 2 })
  expect(measureJingles(aRun(lists, [jingle, song, id, song, jingle]))).toMatchObject({
    inARow: 0,
    besideHourly: 0
  })
})

test('silence separates two jingles', () => {
  expect(measureJingles(aRun(lists, [jingle, { of: 0, minutes: 5 }, jingle])).inARow).toBe(0)
})

test('songs between two plays are counted, jingles and silence are not', () => {
  const heard = [
    song,
    song,
    song,
    jingle,
    song,
    id,
    song,
    jingle,
    { of: 0, minutes: 1 },
    song,
    jingle,
    song,
    song,
    song,
    song,
    song,
    jingle,
    song
  ]
  expect(measureJingles(aRun(lists, heard)).spacings).toEqual([
    { playlistId: 2, name: 'List 2', everySongs: 2, plays: 4, least: 1, median: 2, most: 5 }
  ])
})

test('a visible playlist that counts songs does not count itself', () => {
  const visible = aPlaylist(2, { type: 'once_per_x_songs', everySongs: 2 })
  const shown = { of: 2, minutes: 1 }
  expect(
    measureJingles(aRun([rotation, visible], [shown, song, shown, song, song, shown])).spacings
  ).toMatchObject([{ plays: 3, least: 1, median: 1, most: 2 }])
})
