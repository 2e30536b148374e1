import { expect, test } from 'vitest'

import { openPrimaryFinder } from '../../../../../src/stores/db/connections/primary.ts'

/** Three servers, of which one may be the primary. */
function aCluster({ limitMs = 50 } = {}) {
  const state = { primary: 'b', asked: [] as string[], error: new Error('standby') }
  const finder = openPrimaryFinder(['a', 'b', 'c'], {
    ask: async server => {
      state.asked.push(server)
      if (server !== state.primary) throw state.error
    },
    mayPass: error => error instanceof Error && error.message === 'standby',
    limitMs,
    pauseMs: () => 5
  })
  return { state, finder }
}

test('servers are asked in turn, once for all who wait, and not again while none is in doubt', async () => {
  const { state, finder } = aCluster()
  expect(await Promise.all([finder.find(), finder.find()])).toEqual(['b', 'b'])
  finder.doubt('a')
  expect(await finder.find()).toBe('b')
  expect(state.asked).toEqual(['a', 'b'])
})

test('after a doubt the search begins with the last primary', async () => {
  const { state, finder } = aCluster()
  await finder.find()
  state.primary = 'a'
  finder.doubt('b')
  expect(await finder.find()).toBe('a')
  expect(state.asked).toEqual(['a', 'b', 'b', 'c', 'a'])
})

test('a search goes on in rounds until one becomes the primary, or ends with the last error', async () => {
  const { state, finder } = aCluster()
  state.primary = ''
  await expect(finder.find()).rejects.toThrow('standby')
  expect(state.asked.length).toBeGreaterThan(3)
  expect(state.asked.length % 3).toBe(0)
  const found = finder.find()
  state.primary = 'c'
  expect(await found).toBe('c')
})

test('an error that no other server can mend ends the search', async () => {
  const { state, finder } = aCluster()
  state.error = new Error('wrong password')
  await expect(finder.find()).rejects.toThrow('wrong password')
  expect(state.asked).toEqual(['a'])
})
