import { EventEmitter, once } from 'node:events'

import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { loadOnce, openCache } from '../../../../src/platform/runtime/cache.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('a value expires after its time', () => {
  const cache = openCache<string, number>({ maxEntries: 10, ttlMs: 1_000 })
  cache.set('a', 1)
  vi.advanceTimersByTime(999)
  expect(cache.get('a')).toBe(1)
  cache.set('b', 2)
  vi.advanceTimersByTime(1)
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 2])
})

test('above the maximum, the values that were stored first are evicted', () => {
  const cache = openCache<string, number>({ maxEntries: 2 })
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4]
  ] as const)
    cache.set(key, value)
  expect(['a', 'b', 'c'].map(cache.get)).toEqual([3, undefined, 4])
})

test('concurrent loads of a key are one, and null is a value', async () => {
  const cache = openCache<string, null>({ maxEntries: 2 })
  const load = vi.fn<() => Promise<null>>(async () => null)
  expect(await Promise.all([cache.load('a', load), cache.load('a', load), cache.load('b', load)])).toEqual([
    null,
    null,
    null
  ])
  expect(await cache.load('a', load)).toBeNull()
  expect(load).toHaveBeenCalledTimes(2)
})

test('a failed load rejects for all who wait, and is repeated', async () => {
  const cache = openCache<string, number>({ maxEntries: 1 })
  const fail = async () => Promise.reject(new Error('away'))
  const results = await Promise.allSettled([cache.load('a', fail), cache.load('a', async () => 1)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await cache.load('a', async () => 2)).toBe(2)
})

test('a value that is deleted while it is loaded is not kept', async () => {
  const cache = openCache<string, string>({ maxEntries: 1 })
  const first = new EventEmitter()
  const before = cache.load('a', async () => {
    const [value] = await once(first, 'loaded')
    return String(value)
  })
  cache.delete('a')
  const after = cache.load('a', async () => 'new')
  first.emit('loaded', 'old')
  expect([await before, await after, cache.get('a')]).toEqual(['old', 'new', 'new'])
})

test('a lifetime may follow from how long loading took', async () => {
  const cache = openCache<string, number>({ maxEntries: 1, ttlMs: loadedInMs => loadedInMs * 10 })
  await cache.load('a', async () => {
    vi.advanceTimersByTime(50)
    return 1
  })
  vi.advanceTimersByTime(499)
  expect(cache.get('a')).toBe(1)
  vi.advanceTimersByTime(1)
  expect(cache.get('a')).toBeUndefined()
})

test('values are deleted by what they are', () => {
  const cache = openCache<string, number>({ maxEntries: 3 })
  for (const value of [1, 2, 3]) cache.set(String(value), value)
  cache.deleteWhere(value => value > 1)
  expect(['1', '2', '3'].map(cache.get)).toEqual([1, undefined, undefined])
})

test('loadOnce loads at the first call, and again after a failure', async () => {
  let calls = 0
  const read = loadOnce(async () => {
    calls += 1
    if (calls === 1) throw new Error('away')
    return calls
  })
  await expect(read()).rejects.toThrow('away')
  expect([await read(), await read()]).toEqual([2, 2])
})
