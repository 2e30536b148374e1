import { Redis } from 'ioredis'
import { expect, vi } from 'vitest'

import { checkRedis } from '../../src/stores/redis/check-redis.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { test } from '../support/fixtures.ts'

test('the commands of one tick are written with one system call, also after a reconnect', async ({
  redisUrl
}) => {
  const redis = openRedis(await checkRedis(redisUrl), 'test')
  if (!(redis instanceof Redis)) throw new Error('the tests use a single Redis')
  await redis.connect()
  const ping = async () => Promise.all(Array.from({ length: 10 }, (_, index) => redis.ping(`${index}`)))
  for (let attempt = 0; attempt < 2; attempt++) {
    const writes = vi.spyOn(redis.stream, '_writev')
    expect(await ping()).toEqual(Array.from({ length: 10 }, (_, index) => `${index}`))
    expect(writes).toHaveBeenCalledTimes(1)
    const closed = new Promise(resolve => redis.once('close', resolve))
    const ready = new Promise(resolve => redis.once('ready', resolve))
    redis.disconnect(true)
    await closed
    // Commands that wait for the connection are sent as well.
    const waited = redis.ping('waited')
    await ready
    expect(await waited).toBe('waited')
  }
  redis.disconnect()
})
