import { expect, test } from 'vitest'

import { findSilenceNow } from '../../../../web/dashboard/schedule/silence.ts'
import { describePlaySource, backendPlaysQueue } from '../../../../web/dashboard/station/play-source.ts'

test.for([
  [{ streamer: 'Anna', playlist: '' }, 'clock', 'Anna'],
  [{ streamer: '', playlist: 'Rotation' }, 'clock', 'Rotation'],
  [{ streamer: '', playlist: '', is_request: true }, 'clock', 'Request'],
  [{ streamer: '', playlist: '' }, 'liquidsoap', 'Manual'],
  [{ streamer: '', playlist: '', is_visible: false }, 'clock', 'Manual, hidden'],
  [{ streamer: '', playlist: '' }, 'none', '']
] as const)('the source of a play: %j with %s', ([play, backend, text]) => {
  expect(
    describePlaySource({ is_request: false, is_visible: true, ...play }, backendPlaysQueue(backend))
  ).toBe(text)
})

test('a simulation that begins with silence, also after the current song, is silent now', () => {
  const block = (name: string, from: number, until: number) => ({
    playlist_id: name === 'silence' ? null : 1,
    name,
    from,
    until,
    songs: 1
  })
  const song = block('Rotation', 0, 200)
  const silence = block('silence', 200, 4_000)
  expect(findSilenceNow({ from: 0, blocks: [song, silence] })).toBe(silence)
  expect(findSilenceNow({ from: 0, blocks: [song] })).toBeNull()
  expect(findSilenceNow({ from: 0, blocks: [song, block('silence', 601, 4_000)] })).toBeNull()
})
