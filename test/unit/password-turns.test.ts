import { setImmediate } from 'node:timers/promises'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

const underWay = { now: 0, most: 0 }

// Counts what is asked for at the same time instead of hashing: 66 real hashes take seconds on a busy
// machine.
const counting = () => {
  const work = async () => {
    underWay.now += 1
    underWay.most = Math.max(underWay.most, underWay.now)
    await setImmediate()
    underWay.now -= 1
  }
  return {
    parseOptions: () => ({ memoryCost: 19_456, timeCost: 2, parallelism: 1 }),
    hash: async () => work(),
    verify: async () => {
      await work()
      throw new Error('the hash cannot be read')
    }
  }
}

// Other files of this process hash in earnest.
beforeAll(() => {
  vi.resetModules()
  vi.doMock('@node-rs/argon2', counting)
})
afterAll(() => {
  vi.doUnmock('@node-rs/argon2')
  vi.resetModules()
})

test('two are worked on at a time, 64 wait, and more are refused until there is room', async () => {
  const { hashPassword, verifyNoPassword, verifyPassword } = await import('../../src/security/passwords.ts')
  const attempts = Array.from({ length: 72 }, async (_, index) => {
    if (index % 3 === 0) return hashPassword('mic check')
    return index % 3 === 1 ? verifyNoPassword('mic check') : verifyPassword('phc', 'mic check')
  })
  const results = await Promise.allSettled(attempts)
  const refused = results.map(result => result.status === 'rejected' && result.reason.status === 429)
  expect(refused).toEqual(Array.from({ length: 72 }, (_, index) => index >= 66))
  expect(underWay.most).toBe(2)
  // Those that failed have given their turns back as well.
  expect(await verifyNoPassword('mic check')).toBe(false)
})
