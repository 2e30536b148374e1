import { expect, test } from 'vitest'

import { type CachedPast, trimPast } from '../../../src/engine/queue/library-past.ts'
import { aPlay, hourMs, minuteMs, noonMs } from '../../support/autodj/library.ts'

/** A song, and then jingles of playlist 9, one a minute. */
function aPast(jingles: number): CachedPast {
  const play = (id: number, isVisible: boolean) => ({
    ...aPlay(id, noonMs + id * minuteMs, { isVisible, playlistId: isVisible ? 1 : 9 }),
    stationId: 1,
    id
  })
  const plays = [1, 2].map(id => play(id, true))
  for (let id = 3; id < jingles + 3; id++) plays.push(play(id, false))
  return { plays, older: new Map() }
}

const idsOf = ({ plays }: CachedPast) => plays.map(({ id }) => id)

test('the last play that is not a jingle is kept, however old it is, and all jingles after it', () => {
  const past = aPast(300)
  trimPast(past, noonMs + 100 * hourMs)
  expect(idsOf(past)).toEqual(Array.from({ length: 301 }, (_, index) => index + 2))
  expect([...past.older]).toEqual([[1, { startsAtMs: noonMs + minuteMs, visibleAfter: 0 }]])
})

test('without a song, or after a thousand jingles, old jingles are not kept', () => {
  for (const past of [aPast(1_001), { ...aPast(300), plays: aPast(300).plays.slice(2) }]) {
    trimPast(past, noonMs + 100 * hourMs)
    expect(past.plays).toHaveLength(25)
  }
})
