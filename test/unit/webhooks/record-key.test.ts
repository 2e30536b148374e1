import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { computeRecordKey } from '../../../src/webhooks/types/bluesky.ts'

/**
 * The microseconds in a key, as specified: 13 characters of 5 bits, without the last 10 bits.
 */
function microsIn(key: string): number {
  const digits = Array.from(key, each => '234567abcdefghijklmnopqrstuvwxyz'.indexOf(each))
  return Number(digits.reduce((sum, digit) => sum * 32n + BigInt(digit), 0n) / 1_024n)
}

test('a key is well-formed, contains the second, and is deterministic', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), fc.string(), (seconds, name) => {
      const key = computeRecordKey(seconds, name)
      // https://atproto.com/specs/tid
      expect(key).toMatch(/^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/)
      expect(Math.floor(microsIn(key) / 1e6)).toBe(seconds)
      expect(computeRecordKey(seconds, name)).toBe(key)
    })
  )
})

test('different names have different keys', () => {
  const keys = Array.from({ length: 1_000 }, (_, index) => computeRecordKey(1_783_468_800, `evt_${index}`))
  expect(new Set(keys).size).toBe(1_000)
})
