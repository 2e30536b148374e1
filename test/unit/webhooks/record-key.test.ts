import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { recordKey } from '../../../src/webhooks/types/bluesky.ts'

/**
 * Microseconds in a key as the specification writes them: 13 characters of 5 bits, the last 10 bits left out.
 */
function microsIn(key: string): number {
  const digits = Array.from(key, each => '234567abcdefghijklmnopqrstuvwxyz'.indexOf(each))
  return Number(digits.reduce((sum, digit) => sum * 32n + BigInt(digit), 0n) / 1_024n)
}

test('a key is well-formed, tells the second, and is always the same', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), fc.string(), (seconds, name) => {
      const key = recordKey(seconds, name)
      // https://atproto.com/specs/tid
      expect(key).toMatch(/^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/)
      expect(Math.floor(microsIn(key) / 1e6)).toBe(seconds)
      expect(recordKey(seconds, name)).toBe(key)
    })
  )
})

test('names have keys of their own', () => {
  const keys = Array.from({ length: 1_000 }, (_, index) => recordKey(1_783_468_800, `evt_${index}`))
  expect(new Set(keys).size).toBe(1_000)
})
