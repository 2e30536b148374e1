import { Socket } from 'node:net'

import { Redis } from 'ioredis'
import { expect, vi } from 'vitest'

import { openSql } from '../../src/stores/db/sql.ts'
import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { test } from '../support/fixtures.ts'

test('the commands of one tick are written with one system call, also after a reconnect', async ({
  redisUrl
}) => {
  const redis = openRedis(await resolveRedisPlace(redisUrl), 'test')
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

test('the statements of a transaction are written with one system call', async ({ databaseUrl }) => {
  const pool = openSql(databaseUrl, { max: 1, name: 'test' })
  const text = 'x'.repeat(1_000)
  const run = async () =>
    pool.begin('pipelined', async tx =>
      Promise.all(
        Array.from({ length: 10 }, (_, n) => tx`select ${n}::integer as n, ${text}::text`.execute())
      )
    )
  // The first time, each statement waits until it is prepared.
  await run()
  const spies = [vi.spyOn(Socket.prototype, '_write'), vi.spyOn(Socket.prototype, '_writev')]
  expect((await run()).map(([row]) => row?.['n'])).toEqual(Array.from({ length: 10 }, (_, n) => n))
  const port = Number(new URL(databaseUrl).port)
  const sockets = spies
    .flatMap(spy => spy.mock.contexts)
    .filter(each => each instanceof Socket && each.remotePort === port)
  expect(sockets.length).toBeLessThanOrEqual(3)
  for (const spy of spies) spy.mockRestore()
  await pool.end()
})
