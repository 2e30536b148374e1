import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { NowPlaying } from '../../../web/client/interface.ts'
import { addDocument, findShownIndex, openTimeline } from '../../../web/client/timeline.ts'
import { renderDocument } from '../../support/web-client.ts'

const base = renderDocument()
const play = (id: number, playedAt: number): NowPlaying => ({
  ...base,
  song_history: [],
  now_playing: { ...base.now_playing, sh_id: id, played_at: playedAt, duration: 180 }
})
const document = (np: NowPlaying, offset: number) => ({ np, epoch: 'e1', offset })

/** Shows documents at a delay, at times in milliseconds. The server's clock is the local one. */
function openTest() {
  const heard = { delay: 0 }
  const timeline = openTimeline(() => heard.delay)
  const show = (np: NowPlaying, offset: number, atMs: number) =>
    timeline.show(document(np, offset), { atMs, aheadMs: 0 })?.now_playing.sh_id
  return { heard, timeline, show }
}

test('a document is shown when its sound is heard', () => {
  const { heard, timeline, show } = openTest()
  expect(show(play(1, 0), 1, 1_000)).toBe(1)
  heard.delay = 8
  expect(show(play(2, 100), 2, 100_300)).toBe(1)
  expect(timeline.nextCheckMs(108_200)).toBe(108_300)
  expect(show(play(2, 100), 2, 108_299)).toBe(1)
  expect(show(play(2, 100), 2, 108_300)).toBe(2)
})

test('without a sound the newest document is shown, and with the first sound the one that is heard', () => {
  const { heard, show } = openTest()
  expect(show(play(1, 0), 1, 500)).toBe(1)
  expect(show(play(2, 100), 2, 100_200)).toBe(2)
  heard.delay = 5
  expect(show(play(2, 100), 2, 102_000)).toBe(1)
  heard.delay = 0
  expect(show(play(2, 100), 2, 102_100)).toBe(2)
})

test('a delay that varies a little does not bring an earlier song back', () => {
  const { heard, show } = openTest()
  heard.delay = 8
  show(play(1, 0), 1, 500)
  show(play(2, 100), 2, 100_000)
  expect(show(play(2, 100), 2, 108_000)).toBe(2)
  heard.delay = 8.3
  expect(show(play(2, 100), 2, 108_100)).toBe(2)
  heard.delay = 10
  expect(show(play(2, 100), 2, 108_200)).toBe(1)
})

test('a page that is opened soon after the start of a song shows the song before it, from the history', () => {
  const { heard, show } = openTest()
  const { elapsed: _elapsed, remaining: _remaining, ...past } = base.now_playing
  const live = { ...base.live, is_live: false, streamer_name: '' }
  const np = { ...play(9, 100), live, song_history: [{ ...past, sh_id: 8, streamer: '' }] }
  heard.delay = 8
  expect(show(np, 1, 104_000)).toBe(8)
  expect(show(np, 1, 109_000)).toBe(9)
})

test('a station that disappears is shown as missing at once', () => {
  const { heard, timeline, show } = openTest()
  heard.delay = 8
  show(play(1, 0), 1, 500)
  expect(timeline.show(null, { atMs: 20_000, aheadMs: 0 })).toBeNull()
})

test('times never go back, what is needed is kept, and memory is bounded', () => {
  const arrivals = fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 400_000 })), {
    maxLength: 60
  })
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 0, max: 200_000 }), (given, delayMs) => {
      const sorted = given.toSorted(([, one], [, other]) => one - other)
      const entries = sorted.reduce<ReturnType<typeof addDocument>>(
        (timeline, [id, atMs]) =>
          addDocument(timeline, play(id, Math.floor(atMs / 1_000)), { atMs, aheadMs: 0 }),
        []
      )
      const times = entries.map(({ fromMs }) => fromMs)
      expect(times).toEqual(times.toSorted((one, other) => one - other))
      const atMs = sorted.at(-1)?.[1] ?? 0
      const targetMs = atMs - Math.min(delayMs, 120_000)
      const expected = sorted.findLast(([, arrivedMs]) => arrivedMs <= targetMs) ?? sorted[0]
      const shown = entries[findShownIndex(entries, { atMs, delayMs, shown: null })]
      expect(shown?.np.now_playing.sh_id).toBe(expected?.[0])
    })
  )
  const long = Array.from({ length: 5_000 }).reduce<ReturnType<typeof addDocument>>(
    (timeline, _, index) => addDocument(timeline, play(1, 0), { atMs: index, aheadMs: 0 }),
    []
  )
  expect(long.length).toBeLessThanOrEqual(1_000)
})
