import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'vitest'

import { openSql } from '../../src/db/sql.ts'
import { test } from '../support/fixtures.ts'
import { waitFor } from '../support/wait.ts'

test('ids and counts are numbers', async ({ sql }) => {
  const [row] = await sql`select 9007199254740991::bigint as big, count(*) as count from stations`
  expect(row).toEqual({ big: 9_007_199_254_740_991, count: 0 })
})

test('a lost connection costs its transaction and nothing else', async ({ sql, databaseUrl }) => {
  const pool = openSql(databaseUrl, { max: 3, name: 'doomed' })
  const pidOf = async (tx: { unsafe: (text: string) => PromiseLike<{ pid: number }[]> }) =>
    (await tx.unsafe('select pg_backend_pid() as pid'))[0]?.pid ?? 0
  await sql`create table witness (n int)`
  for (let round = 0; round < 6; round++) {
    let queriesAfter: PromiseSettledResult<unknown>[] = []
    const lost = pool.begin(async tx => {
      const pid = await pidOf(tx)
      await tx`insert into witness values (${round})`
      await sql`select pg_terminate_backend(${pid})`
      await waitFor(async () => (await sql`select from pg_stat_activity where pid = ${pid}`).length === 0, {
        deadlineMs: 5_000,
        what: 'the connection to be gone'
      })
      // The slot is soon taken by others; what is left of this transaction must not go over their connection.
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
  const answers = await Promise.all(Array.from({ length: 12 }, () => pool`select 1 as one`))
  expect(answers).toHaveLength(12)
  expect(await sql`select n from witness`).toHaveLength(0)
  await pool.end({ timeout: 5 })
})

test('a connection that is lost as soon as it is made costs nothing', async ({ databaseUrl }) => {
  const { hostname, port } = new URL(databaseUrl)
  let cuts = 0
  /** Cuts the first connections where they ask for the types of arrays. */
  const proxy = createServer(client => {
    const server = connect(Number(port), hostname)
    const end = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    server.pipe(client)
    client.on('data', data => {
      if (cuts < 2 && data.includes('pg_catalog.pg_type')) {
        cuts++
        client.resetAndDestroy()
      } else server.write(data)
    })
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(databaseUrl)
  const address = proxy.address()
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const pool = openSql(url.href, { max: 1, name: 'cut' })
  const answers = async () => pool`select array[1, 2] as list`
  await waitFor(async () => (await answers())[0]?.['list']?.length === 2, {
    deadlineMs: 10_000,
    what: 'an answer'
  })
  expect(cuts).toBe(2)
  await pool.end({ timeout: 1 })
  proxy.close()
})
