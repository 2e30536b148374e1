import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  compareIdentities,
  maxIdentities,
  matchStoredHashes
} from '../../../src/engine/listeners/identities.ts'

const nobody = new Map<string, string>()

test('stored hashes cannot be compared with identities without the salt', () => {
  const [one, other] = ['monday', 'tuesday'].map(salt => compareIdentities(nobody, ['a'], [salt]).came)
  expect(one).toHaveLength(1)
  expect(one).not.toEqual(other)
  expect(one).not.toContain('a')
})

test('a listener who stays over midnight keeps the salt, and a new one gets the new salt', () => {
  const { came: stored } = compareIdentities(nobody, ['a', 'b'], ['monday'])
  const connected = matchStoredHashes(new Set(stored), ['b', 'c'], ['tuesday', 'monday'])
  const { came, left } = compareIdentities(connected, ['b', 'c'], ['tuesday', 'monday'])
  expect(came).toEqual(compareIdentities(nobody, ['c'], ['tuesday']).came)
  expect(left).toEqual(compareIdentities(nobody, ['a'], ['monday']).came)
})

test('of too many listeners the same ones are stored, in any order', () => {
  const people = Array.from({ length: maxIdentities + 100 }, (_, n) => `listener ${n}`)
  const { came, hashes } = compareIdentities(nobody, people, ['salt'])
  expect(came).toHaveLength(maxIdentities)
  expect(compareIdentities(hashes, people.toReversed(), ['salt'])).toMatchObject({ came: [], left: [] })
})

test('after the changes exactly the reported listeners are connected, by the cache and by what is stored', () => {
  const people = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'))
  fc.assert(
    fc.property(people, people, (before, now) => {
      const was = compareIdentities(nobody, before, ['salt'])
      for (const known of [was.hashes, matchStoredHashes(new Set(was.came), now, ['salt'])]) {
        const { came, left } = compareIdentities(known, now, ['salt'])
        const after = new Set([...was.came.filter(hash => !left.includes(hash)), ...came])
        expect(after).toEqual(new Set(compareIdentities(nobody, now, ['salt']).came))
        expect(was.came).toEqual(expect.arrayContaining([...left]))
      }
    })
  )
})
