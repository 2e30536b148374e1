import { expect } from 'vitest'

import { openSql } from '../../src/stores/db/sql.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { aStation } from '../support/builders.ts'
import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { test } from '../support/fixtures.ts'
import { followRedis } from '../support/live-server.ts'
import { putState } from '../support/put-state.ts'
import { readHistory, seedStation } from '../support/stations.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

// A firewall drops connections, or a machine disappears: no more packets arrive, and neither side is
// notified.

test('a half-open connection to Postgres fails queries in flight, and idle connections are replaced', async ({
  databaseUrl
}) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  const pool = openSql(proxy.url, { max: 4, name: 'half-open', statementSeconds: 1 })
  await Promise.all(Array.from({ length: 4 }, () => pool`select pg_sleep(0.1)`))
  expect(proxy.open()).toBe(4)
  proxy.freeze()
  const startedAtMs = performance.now()
  await expect(pool`select 1`.execute()).rejects.toThrow('CONNECTION_CLOSED')
  expect(performance.now() - startedAtMs).toBeLessThan(6_000)
  const responses = await Promise.all(Array.from({ length: 8 }, () => pool`select 1 as one`))
  expect(responses.flat()).toHaveLength(8)
  expect(performance.now() - startedAtMs).toBeLessThan(8_000)
  await pool.end({ timeout: 1 })
})

test('a statement behind one that was answered fails as well', async ({ databaseUrl }) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  const pool = openSql(proxy.url, { max: 1, name: 'half-open', statementSeconds: 1 })
  await pool`select 1`
  const [first, second] = [pool`select 1`.execute(), pool`select pg_sleep(0.5)`.execute()]
  await first
  proxy.freeze()
  await expect(second).rejects.toThrow('CONNECTION_CLOSED')
  await pool.end({ timeout: 1 })
})

test('a connection that answers is kept, and a lost one is not given up again', async ({ databaseUrl }) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  const lost = openSql(proxy.url, { max: 1, name: 'lost', statementSeconds: 1 })
  await lost`select 1`
  const doomed = lost`select pg_sleep(1)`.execute()
  proxy.cut()
  await expect(doomed).rejects.toThrow(/CONNECTION_CLOSED|ECONNRESET/)
  const pool = openSql(databaseUrl, { max: 1, name: 'answering', statementSeconds: 1 })
  const pids = new Set<unknown>()
  // Longer than an answer may take.
  for (let round = 0; round < 5; round++) {
    const [row] = await pool`select pg_backend_pid() as pid, pg_sleep(0.5)`
    pids.add(row?.['pid'])
  }
  expect(pids.size).toBe(1)
  await Promise.all([pool.end({ timeout: 1 }), lost.end({ timeout: 1 })])
})

test('a transaction on a half-open connection fails as a whole', async ({ databaseUrl, sql }) => {
  await sql`create table witness (n int)`
  await using proxy = await openCuttableProxy(databaseUrl)
  const pool = openSql(proxy.url, { max: 1, name: 'half-open', statementSeconds: 1 })
  const lost = pool.begin(async tx => {
    await tx`insert into witness values (1)`
    proxy.freeze()
    await tx`insert into witness values (2)`
  })
  await expect(lost).rejects.toThrow('CONNECTION_CLOSED')
  await pool`insert into witness values (3)`
  expect(await sql`select n from witness`).toEqual([{ n: 3 }])
  await pool.end({ timeout: 1 })
})

test('queries do not wait for the reconnect backoff once Postgres is back', async ({ databaseUrl }) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  const pool = openSql(proxy.url, { max: 10, name: 'away' })
  const askTen = () => Array.from({ length: 10 }, async () => pool`select pg_sleep(0.05)`)
  await Promise.all(askTen())
  proxy.refuse('reset')
  proxy.cut()
  for (let turn = 0; turn < 3; turn++) await Promise.allSettled(askTen())
  proxy.refuse(false)
  const startedAtMs = performance.now()
  await Promise.all(askTen())
  expect(performance.now() - startedAtMs).toBeLessThan(3_000)
  await pool.end({ timeout: 1 })
})

test('if new connections are closed immediately, a query fails in time', async ({ databaseUrl }) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  const pool = openSql(proxy.url, { max: 1, name: 'closed' })
  proxy.refuse(true)
  const startedAtMs = performance.now()
  await expect(pool`select 1`.execute()).rejects.toThrow('CONNECTION_CLOSED')
  expect(performance.now() - startedAtMs).toBeLessThan(8_000)
  expect(proxy.taken()).toBeLessThan(100)
  proxy.refuse(false)
  expect(await pool`select 1 as one`).toEqual([{ one: 1 }])
  await pool.end({ timeout: 1 })
})

test('a pool that ends while it connects keeps no connection', async ({ databaseUrl }) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  // The answer to the question for TLS takes longer than the end.
  proxy.delay(100)
  const pool = openSql(`${proxy.url}${proxy.url.includes('?') ? '&' : '?'}sslmode=prefer`, {
    max: 3,
    name: 'ended'
  })
  const queries = Promise.allSettled(Array.from({ length: 3 }, async () => pool`select 1`))
  await waitFor(() => proxy.taken() === 3, { deadlineMs: 5_000, what: 'the connections' })
  await pool.end({ timeout: 0 })
  expect((await queries).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await waitFor(() => proxy.open() === 0, { deadlineMs: 5_000, what: 'the end of the connections' })
})

test('a pool that ends during the pause after a lost connection keeps no connection', async ({
  databaseUrl
}) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  const pool = openSql(proxy.url, { max: 1, name: 'ended' })
  proxy.refuse(true)
  await pool`select 1`.catch(() => {})
  proxy.refuse(false)
  const waiting = Promise.allSettled([pool`select 1`.execute()])
  await pool.end({ timeout: 0 })
  expect(await waiting).toMatchObject([{ reason: { code: 'CONNECTION_DESTROYED' } }])
  await waitFor(() => proxy.taken() === 2 && proxy.open() === 0, {
    deadlineMs: 5_000,
    what: 'the end of the connection'
  })
})

test('a half-open connection to Redis is replaced', async ({ redisUrl }) => {
  await using proxy = await openCuttableProxy(redisUrl)
  const redis = openRedis({ urls: [proxy.url], isCluster: false }, 'half-open')
  redis.on('error', () => {})
  await redis.set('key', 'value')
  proxy.freeze()
  await expect(redis.get('key')).rejects.toThrow('Command timed out')
  await waitFor(async () => (await redis.get('key').catch(() => null)) === 'value', {
    deadlineMs: 8_000,
    what: 'Redis to answer again'
  })
  redis.disconnect()
})

test('a feed with half-open connections is current again within 15 seconds', async ({ redisUrl }) => {
  await using proxy = await openCuttableProxy(redisUrl)
  const { feed, redis } = await followRedis(proxy.url)
  await putState(redis, aStation())
  await waitFor(() => feed.get(1), { deadlineMs: 5_000, what: 'the station' })
  proxy.freeze()
  await waitFor(() => !feed.isCurrent(), { deadlineMs: 12_000, what: 'the connection to be closed' })
  await waitFor(() => feed.isCurrent(), { deadlineMs: 12_000, what: 'the connection to be back' })
  const direct = openRedis({ urls: [redisUrl], isCluster: false }, 'direct')
  await putState(direct, aStation({ offset: 2 }))
  direct.disconnect()
  await waitFor(() => feed.get(1)?.state.offset === 2, { deadlineMs: 1_000, what: 'the change' })
})

test('workers with only half-open connections continue to play within 15 seconds', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  await using postgres = await openCuttableProxy(databaseUrl)
  await using redis = await openCuttableProxy(redisUrl)
  const stationId = await seedStation(sql, { songMs: 1_500 })
  const workers = startWorkers(postgres.url, redis.url)
  const count = async () => (await readHistory(sql, stationId)).length
  await waitFor(async () => (await count()) >= 3, { deadlineMs: 15_000, what: 'the first songs' })
  postgres.freeze()
  redis.freeze()
  const before = await count()
  const startedAtMs = performance.now()
  await waitFor(async () => (await count()) >= before + 3, {
    deadlineMs: 25_000,
    what: 'songs after the fault'
  })
  expect(performance.now() - startedAtMs).toBeLessThan(sized({ quick: 20_000, deep: 15_000 }))
  workers.kill('SIGKILL')
})
