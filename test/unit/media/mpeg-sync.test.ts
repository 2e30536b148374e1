import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { hasMpegFrames } from '../../../src/media/audio-file.ts'
import { mp3 } from '../../support/audio-bytes.ts'

test('frames are found after any prefix', () => {
  const frames = mp3({}, 3).subarray(10)
  expect(hasMpegFrames(frames)).toBe(true)
  expect(hasMpegFrames(Buffer.concat([Buffer.alloc(500, 0xff), frames]))).toBe(true)
})

test('two frames in a row are not enough; text and noise have none', () => {
  expect(hasMpegFrames(mp3({}, 2).subarray(10))).toBe(false)
  expect(hasMpegFrames(Buffer.from('no music at all'))).toBe(false)
  expect(hasMpegFrames(Buffer.alloc(32_768, 0xff))).toBe(false)
  fc.assert(fc.property(fc.uint8Array({ maxLength: 500 }), bytes => !hasMpegFrames(bytes)))
})
