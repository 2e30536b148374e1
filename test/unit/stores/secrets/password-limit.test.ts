import { setImmediate } from 'node:timers/promises'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

const inFlight = { now: 0, most: 0 }

// Counts concurrent calls instead of hashing, because 66 hashes take seconds on a busy machine.
const counting = () => {
  const work = async () => {
    inFlight.now += 1
    inFlight.most = Math.max(inFlight.most, inFlight.now)
    await setImmediate()
    inFlight.now -= 1
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

// Other test files of this process need the real module.
beforeAll(() => {
  vi.resetModules()
  vi.doMock('@node-rs/argon2', counting)
})
afterAll(() => {
  vi.doUnmock('@node-rs/argon2')
  vi.resetModules()
})

test('two calls run at a time, 64 wait, and more are refused', async () => {
  const {
    hashPassword,
    verifyDummyPassword: pretendToVerify,
    verifyPassword
  } = await import('../../../../src/api/auth/passwords.ts')
  const attempts = Array.from({ length: 72 }, async (_, index) => {
    if (index % 3 === 0) return hashPassword('mic check')
    return index % 3 === 1 ? pretendToVerify('mic check') : verifyPassword('phc', 'mic check')
  })
  const results = await Promise.allSettled(attempts)
  const refused = results.map(result => result.status === 'rejected' && result.reason.status === 429)
  expect(refused).toEqual(Array.from({ length: 72 }, (_, index) => index >= 66))
  expect(inFlight.most).toBe(2)
  // Failed calls release their place as well.
  expect(await pretendToVerify('mic check')).toBe(false)
})
