import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { hasMpegFrames } from '../../../src/media/audio-file.ts'
import { mp3 } from '../../support/audio-bytes.ts'

test('frames are found behind whatever comes first', () => {
  const frames = mp3({}, 3).subarray(10)
  expect(hasMpegFrames(frames)).toBe(true)
  expect(hasMpegFrames(Buffer.concat([Buffer.alloc(500, 0xff), frames]))).toBe(true)
})

test('two frames in a row may be chance, text and noise are no frames', () => {
  expect(hasMpegFrames(mp3({}, 2).subarray(10))).toBe(false)
  expect(hasMpegFrames(Buffer.from('no music at all'))).toBe(false)
  expect(hasMpegFrames(Buffer.alloc(32_768, 0xff))).toBe(false)
  fc.assert(fc.property(fc.uint8Array({ maxLength: 500 }), bytes => !hasMpegFrames(bytes)))
})
