import { expect, test } from 'vitest'

import { openLiveEdge, segmentSecondsAfter } from '../../../web/elements/live-edge.ts'

const segmentSeconds = 2

/** A stream that began at time 0: a segment appears every two seconds, and the playlist has the last five. */
function playlistAt(atMs: number) {
  const endSN = Math.floor(atMs / 1_000 / segmentSeconds) - 1
  const first = Math.max(0, endSN - 4)
  const segments = Array.from({ length: endSN + 1 - first }, () => `#EXTINF:${segmentSeconds},\nsegment.ts\n`)
  return {
    text: `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:${first}\n${segments.join('')}`,
    loaded: { url: 'https://radio.test/live.m3u8', endSN, edge: (endSN + 1) * segmentSeconds }
  }
}

/** A clock that `wait` moves. */
function openStage(startMs: number) {
  let nowMs = startMs
  let requests = 0
  const liveEdge = openLiveEdge({
    now: () => nowMs,
    async wait(ms) {
      nowMs += ms
    },
    async fetchText() {
      requests++
      return playlistAt(nowMs).text
    }
  })
  return { liveEdge, now: () => nowMs, requests: () => requests }
}

test.each([0, 1, 700, 1_300, 1_990])(
  'the live edge is known to 0.2 s if playlists are loaded %i ms after a segment has appeared',
  async lateMs => {
    const stage = openStage(20_000 + lateMs)
    stage.liveEdge.update(playlistAt(stage.now()).loaded)
    await expect.poll(() => stage.requests()).toBeGreaterThan(0)
    await expect
      .poll(() => Math.abs((stage.liveEdge.position() ?? 0) - stage.now() / 1_000))
      .toBeLessThan(0.2)
  }
)

test('the position is unknown before the first playlist', () => {
  expect(openStage(0).liveEdge.position()).toBeNull()
})

test('a playlist that does not change is not requested forever', async () => {
  let requests = 0
  const liveEdge = openLiveEdge({
    now: () => 0,
    wait: async () => {},
    async fetchText() {
      requests++
      return playlistAt(20_000).text
    }
  })
  liveEdge.update(playlistAt(20_000).loaded)
  await expect.poll(() => requests).toBe(60)
})

test('only segments after the sequence number count', () => {
  const playlist =
    '#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:7\n#EXTINF:2,\na.ts\n#EXTINF:1.5,\nb.ts\n#EXTINF:3,\nc.ts\n'
  expect(segmentSecondsAfter(playlist, 9)).toBe(0)
  expect(segmentSecondsAfter(playlist, 8)).toBe(3)
  expect(segmentSecondsAfter(playlist, 7)).toBe(4.5)
  expect(segmentSecondsAfter(playlist, 2)).toBe(6.5)
  expect(segmentSecondsAfter('not a playlist', 2)).toBe(0)
})
