import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { findMpegFrames } from '../../../../src/library/media/formats/mpeg-frames.ts'
import { mp3 } from '../../../support/audio-bytes.ts'

test('frames are found after any prefix', () => {
  const frames = mp3({}, 3).subarray(10)
  expect(findMpegFrames(frames)).toBe(0)
  expect(findMpegFrames(Buffer.concat([Buffer.alloc(500, 0xff), frames]))).toBe(500)
})

test('two frames in a row are not enough; text and noise have none', () => {
  expect(findMpegFrames(mp3({}, 2).subarray(10))).toBe(-1)
  expect(findMpegFrames(Buffer.from('no music at all'))).toBe(-1)
  expect(findMpegFrames(Buffer.alloc(32_768, 0xff))).toBe(-1)
  fc.assert(fc.property(fc.uint8Array({ maxLength: 500 }), bytes => findMpegFrames(bytes) === -1))
})
