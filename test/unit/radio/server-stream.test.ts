import { expect, test } from 'vitest'

import { parseBitrate, parseListenerCount, StreamingServerError } from '../../../src/radio/server-stream.ts'

test.for([
  [['128'], 128],
  [['64000'], 64],
  [['1411200'], 1_411],
  [['7999'], 7_999],
  [['8000'], 8],
  [['', 'Quality 0', ' 96 '], 96],
  [['128', '320000'], 320],
  [['999999999'], 10_000],
  [[], 0]
] as const)('the bitrate of %j is %d kbit/s', ([texts, kilobits]) => {
  expect(parseBitrate(...texts)).toBe(kilobits)
})

test('a listener count is a whole number; anything else is an error', () => {
  expect(parseListenerCount('12')).toBe(12)
  for (const text of ['', '-1', '1.5', 'many', '1234567890'])
    expect(() => parseListenerCount(text)).toThrow(StreamingServerError)
})
