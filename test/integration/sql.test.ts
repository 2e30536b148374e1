import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'
import { expect } from 'vitest'

import { openSql, type Sql, type Tx } from '../../src/stores/db/sql.ts'
import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { test } from '../support/fixtures.ts'
import { waitFor } from '../support/wait.ts'

async function pidOf(sql: Sql | Tx): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return row?.pid ?? 0
}

/** Terminates a connection and waits until it is closed. */
async function terminate(sql: Sql, pid: number): Promise<void> {
  await sql`select pg_terminate_backend(${pid})`
  await waitFor(async () => (await sql`select from pg_stat_activity where pid = ${pid}`).length === 0, {
    deadlineMs: 5_000,
    what: 'the end of the connection'
  })
}

/** A proxy in front of Postgres. `forward` gets what a client sends, and both sockets. */
async function openDataProxy(
  databaseUrl: string,
  forward: (data: Buffer, client: Socket, server: Socket) => void
) {
  const target = new URL(databaseUrl)
  const proxy = createServer(client => {
    const server = connect(Number(target.port), target.hostname)
    const end = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    server.pipe(client)
    client.on('data', data => forward(data, client, server))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const address = proxy.address()
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return { url: url.href, [Symbol.dispose]: () => void proxy.close() }
}

test('ids and counts are numbers', async ({ sql }) => {
  const [row] = await sql`select 9007199254740991::bigint as big, count(*) as count from stations`
  expect(row).toEqual({ big: 9_007_199_254_740_991, count: 0 })
})

test('a lost connection fails its transaction and nothing else', async ({ sql, databaseUrl }) => {
  const pool = openSql(databaseUrl, { max: 3, name: 'doomed' })
  await sql`create table witness (n int)`
  for (let round = 0; round < 6; round++) {
    let queriesAfter: PromiseSettledResult<unknown>[] = []
    const lost = pool.begin(async tx => {
      const pid = await pidOf(tx)
      await tx`insert into witness values (${round})`
      await terminate(sql, pid)
      // Others soon use the slot; the remaining statements of this transaction must not use their connection.
      await wait(round * 10)
      queriesAfter = await Promise.allSettled([
        tx`insert into witness values (1000)`,
        tx`insert into witness values (1001)`
      ])
    })
    const others = Array.from({ length: 6 }, () => pool`select pg_sleep(0.01)`.catch(() => null))
    await expect(lost).rejects.toThrow(/CONNECTION_CLOSED|terminat/)
    await Promise.all(others)
    await waitFor(() => queriesAfter.length > 0, { deadlineMs: 5_000, what: 'the rest of the transaction' })
    expect(queriesAfter.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  }
  const responses = await Promise.all(Array.from({ length: 12 }, () => pool`select 1 as one`))
  expect(responses).toHaveLength(12)
  expect(await sql`select n from witness`).toHaveLength(0)
  await pool.end({ timeout: 5 })
})

test('a transaction that is queued behind a hundred queries is atomic', async ({ sql, databaseUrl }) => {
  const pool = openSql(databaseUrl, { max: 1, name: 'full' })
  await sql`create table witness (n int)`
  for (const count of [98, 99, 100, 101, 102]) {
    const others = Array.from({ length: count }, () => pool`select 1`.execute())
    const failing = pool.begin(async tx => {
      await tx`insert into witness values (1)`
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    await Promise.all(others)
    await pool`insert into witness values (2)`
    expect(await sql`select n from witness`).toEqual([{ n: 2 }])
    await sql`truncate witness`
  }
  await pool.end({ timeout: 5 })
})

test('remaining statements of a lost transaction are not sent over the replacement connection', async ({
  sql,
  databaseUrl
}) => {
  const pool = openSql(databaseUrl, { max: 1, name: 'replaced' })
  await sql`create table witness (n int)`
  let rest: PromiseSettledResult<unknown>[] = []
  let replaced = () => {}
  const isReplaced = new Promise<void>(resolve => (replaced = resolve))
  const lost = pool.begin(async tx => {
    await terminate(sql, await pidOf(tx))
    await isReplaced
    rest = await Promise.allSettled([tx`insert into witness values (1)`, tx`insert into witness values (2)`])
  })
  await expect(lost).rejects.toThrow(/CONNECTION_CLOSED|ECONNRESET|terminat/)
  expect(await pool`select 1 as one`).toEqual([{ one: 1 }])
  replaced()
  await waitFor(() => rest.length === 2, { deadlineMs: 5_000, what: 'the rest of the transaction' })
  expect(rest.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await sql`select n from witness`).toEqual([])
  await pool.end({ timeout: 5 })
})

test('a lost reserved connection rejects its statements', async ({ sql, databaseUrl }) => {
  const pool = openSql(databaseUrl, { max: 1, name: 'reserved' })
  const reserved = await pool.reserve()
  await terminate(sql, await pidOf(reserved))
  await expect(reserved`select 1`).rejects.toThrow(/CONNECTION_CLOSED|ECONNRESET|terminat/)
  await expect(reserved`select 1`).rejects.toThrow('CONNECTION_CLOSED')
  await pool.end({ timeout: 1 })
})

test('connections that are lost together, with statements waiting to be sent, are replaced', async ({
  databaseUrl
}) => {
  await using proxy = await openCuttableProxy(databaseUrl)
  const pool = openSql(proxy.url, { max: 2, name: 'cut' })
  const sleep = async (seconds: number) => pool`select pg_sleep(${seconds})`
  const sleepOften = async () => Promise.allSettled(Array.from({ length: 6 }, async () => sleep(0.05)))
  for (let round = 0; round < 5; round++) {
    // Only a statement that its connection has prepared allows others behind it.
    await sleepOften()
    // The connection that closes first rejects its statement, and some of the following ones go to the other
    // connection.
    const queries = [sleep(5).catch(sleepOften), sleep(5).catch(sleepOften)]
    proxy.cut()
    await Promise.all(queries)
  }
  const responses = await Promise.all(Array.from({ length: 6 }, async () => pool`select 1 as one`))
  expect(responses).toHaveLength(6)
  const last = sleep(5)
  const settled = Promise.allSettled([last])
  proxy.cut()
  expect(await settled).toMatchObject([{ status: 'rejected', reason: { code: 'CONNECTION_CLOSED' } }])
  // No statement is in flight, so this does not wait.
  await pool.end()
})

test('queued statements of a lost connection are rejected', async ({ sql, databaseUrl }) => {
  const pool = openSql(databaseUrl, { max: 1, name: 'doomed' })
  let waiting: Promise<PromiseSettledResult<unknown>[]> | undefined
  const lost = pool.begin(async tx => {
    const pid = await pidOf(tx)
    // More than a connection accepts at once.
    waiting = Promise.allSettled(Array.from({ length: 150 }, () => tx`select pg_sleep(10)`))
    await sql`select pg_terminate_backend(${pid})`
    await waiting
  })
  await expect(lost).rejects.toThrow(/CONNECTION_CLOSED|ECONNRESET|terminat/)
  expect((await waiting)?.filter(({ status }) => status === 'rejected')).toHaveLength(150)
  expect(await pool`select 1 as one`).toEqual([{ one: 1 }])
  await pool.end({ timeout: 5 })
})

test('a library without its patch is refused', () => {
  const applied: unknown = Reflect.get(postgres, 'cuewirePatch')
  Reflect.deleteProperty(postgres, 'cuewirePatch')
  try {
    expect(() => openSql('postgres://127.0.0.1', { max: 1, name: 'test' })).toThrow(
      /^the package postgres lacks patches\/.+: run npm ci without --ignore-scripts/
    )
  } finally {
    Reflect.set(postgres, 'cuewirePatch', applied)
  }
})

test('a pipelined transaction sends its first statement with begin, and writes nothing if begin fails', async ({
  sql,
  databaseUrl
}) => {
  let spoiled = 0
  const begins: Buffer[] = []
  // Makes the first `begin` invalid, without closing the connection.
  using proxy = await openDataProxy(databaseUrl, (data, _client, server) => {
    const at = data.indexOf('begin\0')
    if (at !== -1) begins.push(data)
    if (at !== -1 && spoiled === 0) spoiled += data.write('began', at)
    server.write(data)
  })
  const pool = openSql(proxy.url, { max: 1, name: 'spoiled' })
  await sql`create table witness (n int)`
  await pool`select 1`
  let rest: PromiseSettledResult<unknown>[] = []
  const failed = pool.begin('pipelined', async tx => {
    // The second statement waits, because the first one is not prepared yet.
    await Promise.allSettled([tx`select ${1}::int`, tx`insert into witness values (1)`])
    rest = await Promise.allSettled([tx`insert into witness values (2)`])
  })
  await expect(failed).rejects.toThrow('syntax error at or near "began"')
  expect(rest.map(({ status }) => status)).toEqual(['rejected'])
  expect(await sql`select n from witness`).toEqual([])
  expect(spoiled).toBe(5)
  expect(begins[0]?.includes('select $1')).toBe(true)
  const rows = await pool.begin('pipelined', async tx => {
    await tx`insert into witness values (3)`
    return tx`select n from witness`
  })
  expect(rows).toEqual([{ n: 3 }])
  await pool.end({ timeout: 5 })
})

test('a transaction with a failed statement that was not awaited rejects with its error', async ({ sql }) => {
  await sql`create table witness (n int not null)`
  for (const options of ['', 'pipelined']) {
    const failed = sql.begin(options, async tx => {
      await tx`select 1`
      void tx`insert into witness values (1)`.execute()
      void tx`insert into witness values (null)`.execute()
    })
    await expect(failed).rejects.toThrow('violates not-null constraint')
  }
  expect(await sql`select n from witness`).toEqual([])
})

test('a statement in answer to the error of a reset connection settles', async ({ databaseUrl }) => {
  using proxy = await openDataProxy(databaseUrl, (data, client, server) => {
    if (data.includes('pg_sleep')) client.resetAndDestroy()
    else server.write(data)
  })
  const pool = openSql(proxy.url, { max: 1, name: 'reset' })
  await pool`select 1`
  const retried = pool`select pg_sleep(5)`.catch(async () => pool`select 1`)
  await expect(retried).rejects.toThrow('CONNECTION_CLOSED')
  expect(await pool`select 1 as one`).toEqual([{ one: 1 }])
  await pool.end({ timeout: 1 })
})

test('a connection that is lost during its setup is replaced', async ({ databaseUrl }) => {
  let cuts = 0
  // Resets the first connections when they query the array types.
  using proxy = await openDataProxy(databaseUrl, (data, client, server) => {
    if (cuts < 2 && data.includes('pg_catalog.pg_type')) {
      cuts++
      client.resetAndDestroy()
    } else server.write(data)
  })
  const pool = openSql(proxy.url, { max: 1, name: 'cut' })
  const responses = async () => pool`select array[1, 2] as list`
  await waitFor(async () => (await responses())[0]?.['list']?.length === 2, {
    deadlineMs: 10_000,
    what: 'an answer'
  })
  expect(cuts).toBe(2)
  await pool.end({ timeout: 1 })
})

test('the observer gets each statement that is sent, and how it ends', async ({ databaseUrl }) => {
  const seen: string[] = []
  const pool = openSql(databaseUrl, {
    max: 1,
    name: 'observed',
    onQuery: query => {
      const { resolve, reject } = query
      query.resolve = result => {
        seen.push(`${query.string}: done`)
        resolve(result)
      }
      query.reject = error => {
        seen.push(`${query.string}: failed`)
        reject(error)
      }
    }
  })
  await pool`select ${1}::int`
  await pool`select 1 / 0`.catch(() => {})
  expect(seen.slice(-2)).toEqual(['select $1::int: done', 'select 1 / 0: failed'])
  await pool.end({ timeout: 1 })
})

test('a pool tells how many connections are used, and how many statements wait', async ({ databaseUrl }) => {
  const pool = openSql(databaseUrl, { max: 2, name: 'used' })
  const first = pool`select 1`.execute()
  await nextTurn()
  expect(pool.use()).toEqual({ idle: 0, busy: 0, connecting: 1, waiting: 0 })
  await first
  expect(pool.use()).toEqual({ idle: 1, busy: 0, connecting: 0, waiting: 0 })
  let release = () => {}
  const isReleased = new Promise<void>(resolve => (release = resolve))
  const long = [pool.begin(async () => isReleased), pool.begin(async () => isReleased)]
  const other = pool`select ${1}::int`.execute()
  await waitFor(() => pool.use().waiting === 1, { deadlineMs: 5_000, what: 'the statement to wait' })
  await waitFor(() => pool.use().busy === 2, { deadlineMs: 5_000, what: 'both transactions' })
  release()
  await Promise.all([...long, other])
  expect(pool.use()).toEqual({ idle: 2, busy: 0, connecting: 0, waiting: 0 })
  await pool.end({ timeout: 1 })
})
