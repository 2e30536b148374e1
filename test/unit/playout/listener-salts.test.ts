import { expect, test } from 'vitest'

import { movementOf, saltIdentities } from '../../../src/playout/listeners/identities.ts'
import type { ReportedSource } from '../../../src/playout/listeners/sources.ts'

const source = { kind: 'mounts', id: 7, path: '/radio', key: 'mount:7', total: 0, unique: 0 } as const

const counted = (...identities: string[]): ReportedSource[] => [
  { source, count: { id: 7, total: identities.length, unique: identities.length, identities } }
]

const storedOf = (matched: readonly ReportedSource[]) =>
  (matched[0]?.count.identities ?? []).map(identity => ({ source: source.key, identity }))

test('stored hashes cannot be compared with identities without the salt', () => {
  const [one, other] = [
    saltIdentities(counted('a'), [], ['monday']),
    saltIdentities(counted('a'), [], ['tuesday'])
  ]
  expect(storedOf(one)).not.toEqual(storedOf(other))
  expect(JSON.stringify(one)).not.toContain('"a"')
})

test('a listener who stays over midnight keeps the salt, and a new one gets the new salt', () => {
  const connected = storedOf(saltIdentities(counted('a', 'b'), [], ['monday']))
  const after = saltIdentities(counted('b', 'c'), connected, ['tuesday', 'monday'])
  const { came, left } = movementOf(connected, after)
  expect(came).toEqual(storedOf(saltIdentities(counted('c'), [], ['tuesday'])))
  expect(left).toEqual(storedOf(saltIdentities(counted('a'), [], ['monday'])))
})

test('a source that does not identify listeners is unchanged', () => {
  const plain: ReportedSource[] = [{ source, count: { id: 7, total: 3, unique: 3 } }]
  expect(saltIdentities(plain, [], ['monday'])).toEqual(plain)
})
