import { expect, onTestFinished } from 'vitest'

import { openSharedTokenBuckets } from '../../src/api/core/shared-buckets.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { test } from '../support/fixtures.ts'

function connect(redisUrl: string) {
  const redis = openRedis({ urls: [redisUrl], isCluster: false }, 'test')
  onTestFinished(() => redis.disconnect())
  return { redis }
}

test('two processes share a bucket, and each keeps counting while Redis is unavailable', async ({
  redisUrl,
  redis
}) => {
  const deps = connect(redisUrl)
  const [one, other] = [openSharedTokenBuckets('test', 1 / 20, 4), openSharedTokenBuckets('test', 1 / 20, 4)]
  for (const process of [one, other, one]) expect(await process.take(deps, 'anna')).toBe(0)
  expect(await other.peek(deps, 'anna')).toBe(0)
  expect(await other.take(deps, 'anna')).toBe(0)
  for (const process of [one, other]) {
    const wait = await process.take(deps, 'anna')
    expect(wait).toBeGreaterThan(15)
    expect(wait).toBeLessThanOrEqual(20)
  }
  expect(await one.take(deps, 'ben')).toBe(0)

  const [key = ''] = await redis.keys('cuewire:tokens:test:*')
  expect(key).not.toContain('anna')
  expect(await redis.pttl(key)).toBeGreaterThan(0)

  deps.redis.disconnect()
  // Of its own tokens this process has used two for one name, and the refused one took none.
  expect([await one.take(deps, 'anna'), await one.take(deps, 'anna')]).toEqual([0, 20])
})
