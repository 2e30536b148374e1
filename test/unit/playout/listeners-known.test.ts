import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { movementOf, identitiesAtMost } from '../../../src/playout/listeners/identities.ts'
import type { ListenerSource } from '../../../src/playout/listeners/sources.ts'

const source = (id: number): ListenerSource => ({
  kind: 'mounts',
  id,
  path: `/${id}`,
  key: `mount:${id}`,
  total: 0,
  unique: 0
})
const counted = (id: number, identities?: readonly string[]) => ({
  source: source(id),
  count: { id, total: 0, unique: 0, ...(identities ? { identities } : {}) }
})

test('a listener in the report for the first time has joined, and one who is missing has left', () => {
  const connected = [
    { source: 'mount:1', identity: 'a' },
    { source: 'mount:1', identity: 'b' },
    { source: 'mount:2', identity: 'a' }
  ]
  expect(movementOf(connected, [counted(1, ['b', 'c', 'c'])])).toEqual({
    came: [{ source: 'mount:1', identity: 'c' }],
    left: [{ source: 'mount:1', identity: 'a' }]
  })
})

test('all listeners of a source without identities have left', () => {
  expect(movementOf([{ source: 'mount:1', identity: 'a' }], [counted(1)])).toEqual({
    came: [],
    left: [{ source: 'mount:1', identity: 'a' }]
  })
})

test('of too many listeners the same ones are stored, in any order', () => {
  const people = Array.from({ length: identitiesAtMost + 100 }, (_, n) => `listener ${n}`)
  const { came } = movementOf([], [counted(1, people)])
  expect(came).toHaveLength(identitiesAtMost)
  expect(movementOf(came, [counted(1, people.toReversed())])).toEqual({ came: [], left: [] })
})

test('after the changes exactly the reported listeners are connected', () => {
  const people = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'))
  fc.assert(
    fc.property(people, people, people, people, (before1, before2, now1, now2) => {
      const rows = (id: number, identities: string[]) =>
        identities.map(identity => ({ source: `mount:${id}`, identity }))
      const connected = [...rows(1, before1), ...rows(2, before2)]
      const { came, left } = movementOf(connected, [counted(1, now1), counted(2, now2)])
      const isLeft = new Set(left.map(each => `${each.source} ${each.identity}`))
      const after = [...connected, ...came]
        .map(each => `${each.source} ${each.identity}`)
        .filter(each => !isLeft.has(each))
      const expected = [...rows(1, now1), ...rows(2, now2)].map(each => `${each.source} ${each.identity}`)
      expect(after.toSorted()).toEqual(expected.toSorted())
    })
  )
})
