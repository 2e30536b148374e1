import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { openHeard } from '../../../src/autodj/heard.ts'

const keys = fc.oneof(
  fc.nat(20),
  fc.integer({ min: 0, max: 2 ** 52 - 1 }),
  fc.constantFrom(0, 2 ** 32, 2 ** 52 - 1)
)
const notes = fc.array(fc.tuple(keys, fc.integer({ min: -5, max: 2 ** 45 })), { maxLength: 60 })

test('what was heard last is known of every key, and of no other', () => {
  fc.assert(
    fc.property(notes, fc.array(keys), (noted, others) => {
      const heard = openHeard(noted.length)
      const expected = new Map<number, number>()
      for (const [key, atMs] of noted) {
        heard.note(key, atMs)
        expected.set(key, Math.max(expected.get(key) ?? -Infinity, atMs))
      }
      for (const key of [...others, ...expected.keys()])
        expect(heard.last(key)).toBe(expected.get(key) ?? -Infinity)
    })
  )
})
