import { expect, test } from 'vitest'

import { judgeRotation, type RotationPlay } from '../../chaos/judge-rotation.ts'

/** Plays of one playlist, as `track in pass`. */
const playsOf = (...list: readonly [trackId: number, pass: number][]): RotationPlay[] =>
  list.map(([trackId, pass], index) => ({ id: index + 1, playlistId: 1, trackId, pass }))

const rules = (plays: readonly RotationPlay[]) => judgeRotation(1, plays).map(({ rule }) => rule)

test('passes in turn are valid, also with a song of the next pass before the rest of one', () => {
  expect(rules([])).toEqual([])
  expect(rules(playsOf([1, 1], [2, 1], [1, 2], [3, 1], [2, 2], [3, 2]))).toEqual([])
})

test('a song that is added later joins the current pass', () => {
  expect(rules(playsOf([1, 7], [2, 7], [1, 8], [3, 8], [2, 8], [3, 9]))).toEqual([])
})

test('a song that is added later fails if it makes up for passes before it', () => {
  const plays = playsOf([1, 7], [2, 7], [3, 1], [3, 2], [3, 6])
  expect(rules(plays)).toEqual(['no song is a pass ahead', 'no song is a pass ahead'])
})

test('a song that skips a pass fails', () => {
  expect(rules(playsOf([1, 1], [2, 1], [1, 3]))).toEqual(['no song is a pass ahead'])
})

test('a song that is played twice in a pass fails', () => {
  expect(rules(playsOf([1, 1], [2, 1], [1, 1]))).toEqual(['no song twice in a pass'])
})

test('playlists have passes of their own', () => {
  const other = playsOf([1, 1], [2, 1]).map(play => ({ ...play, playlistId: 2, trackId: play.trackId + 10 }))
  expect(rules([...playsOf([1, 7], [2, 7]), ...other])).toEqual([])
})
