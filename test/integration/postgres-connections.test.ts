import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:tls'

import postgres from 'postgres'
import { expect, onTestFinished } from 'vitest'

import { readOnlySessionCode } from '../../src/platform/runtime/store-errors.ts'
import { assertPostgresUsable } from '../../src/stores/db/connections/check-postgres.ts'
import {
  findPoolerShortage,
  findPoolerShortageForAll
} from '../../src/stores/db/connections/connection-budget.ts'
import { openSql } from '../../src/stores/db/sql.ts'
import { createCertificate } from '../support/certificates.ts'
import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { startPgbouncer } from '../support/pgbouncer.ts'

const refusal = async (url: string) =>
  assertPostgresUsable(url).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )

const withParameters = (url: string, query: string) => `${url}${url.includes('?') ? '&' : '?'}${query}`

/** Creates a database with an encoding for this test. */
async function createDatabase(databaseUrl: string, encoding: string): Promise<string> {
  const name = `encoded_${randomBytes(4).toString('hex')}`
  const admin = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  await admin.unsafe(`create database ${name} encoding '${encoding}' locale 'C' template template0`)
  onTestFinished(async () => {
    await admin.unsafe(`drop database ${name} with (force)`)
    await admin.end()
  })
  const url = new URL(databaseUrl)
  url.pathname = name
  return url.href
}

test('a database that cannot store all titles is refused with the command that creates another', async ({
  databaseUrl
}) => {
  for (const encoding of ['SQL_ASCII', 'LATIN1', 'WIN1251'])
    expect(await refusal(await createDatabase(databaseUrl, encoding))).toMatch(
      new RegExp(
        `^the database encoded_\\w+ has the encoding ${encoding}, .* \\(createdb --encoding UTF8 --template template0 --owner \\w+ NAME\\), and set DATABASE_URL to it$`
      )
    )
  expect(await refusal(await createDatabase(databaseUrl, 'UTF8'))).toBeNull()
})

test('parameters of the URL have an effect', async ({ databaseUrl }) => {
  const sql = openSql(
    withParameters(
      databaseUrl,
      'schema=elsewhere&application_name=radio&options=-c%20work_mem%3D5MB&target_session_attrs=read-write'
    ),
    { max: 1, name: 'test-parameters' }
  )
  try {
    const [row] = await sql`
      select current_setting('search_path') as path, current_setting('application_name') as name,
        current_setting('work_mem') as memory, current_setting('statement_timeout') as statement,
        current_setting('lock_timeout') as lock, current_setting('plan_cache_mode') as plans`
    expect(row).toEqual({
      path: '"elsewhere"',
      name: 'cuewire test-parameters (radio)',
      memory: '5MB',
      statement: '8s',
      lock: '3500ms',
      plans: 'force_generic_plan'
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
})

test('a session that is read-only, although it must be writable, is refused before it runs a statement', async ({
  sql,
  databaseUrl
}) => {
  await sql`create table witness (n int)`
  const pool = openSql(
    withParameters(
      databaseUrl,
      'target_session_attrs=read-write&options=-c%20default_transaction_read_only%3Don'
    ),
    { max: 1, name: 'read-only' }
  )
  // Long enough to be sent at once.
  const writing = `begin read write; insert into witness values (1); commit -- ${'long'.repeat(500)}`
  const first = pool`select 1`.execute()
  const [refused, other] = await Promise.allSettled([first, pool.unsafe(writing)])
  expect(refused).toMatchObject({ reason: { code: readOnlySessionCode } })
  expect(other.status).toBe('rejected')
  expect(await sql`select n from witness`).toEqual([])
  await pool.end({ timeout: 1 })
})

test('a server without TLS is refused if the URL requires TLS', async ({ databaseUrl }) => {
  const pool = openSql(withParameters(databaseUrl, 'sslmode=require'), { max: 1, name: 'test' })
  await expect(pool`select 1`.execute()).rejects.toThrow('CONNECTION_TLS_REFUSED')
  await pool.end({ timeout: 1 })
})

test('a server that asks for no password cannot bind it to its certificate', async ({ databaseUrl }) => {
  const pool = openSql(withParameters(databaseUrl, 'channel_binding=require'), { max: 1, name: 'test' })
  await expect(pool`select 1`.execute()).rejects.toThrow('CONNECTION_NOT_BOUND')
  await expect(pool`select 1`.execute()).rejects.toThrow(/CONNECTION_(CLOSED|NOT_BOUND)/)
  await pool.end({ timeout: 1 })
})

test('a server that cannot bind a password to its certificate gets no proof of the password', async () => {
  const mechanism = 'SCRAM-SHA-256\0\0'
  const offer = Buffer.concat([
    Buffer.from([0x52, 0, 0, 0, 8 + mechanism.length, 0, 0, 0, 10]),
    Buffer.from(mechanism)
  ])
  const received: Buffer[] = []
  const { cert, key } = await createCertificate(['IP:127.0.0.1'])
  const files = { cert: await readFile(cert), key: await readFile(key), ALPNProtocols: ['postgresql'] }
  const server = createServer(files, client => {
    client.on('data', data => {
      received.push(data)
      client.write(offer)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const query = 'sslmode=require&sslnegotiation=direct&channel_binding=require'
  const pool = openSql(`postgres://user:secret@127.0.0.1:${port}/db?${query}`, { max: 1, name: 'test' })
  await expect(pool`select 1`.execute()).rejects.toThrow('CONNECTION_NOT_BOUND')
  await pool.end({ timeout: 1 })
  expect(received).toHaveLength(1)
})

test.skipIf(whyWithout('pgbouncer'))(
  'PgBouncer in transaction mode is refused, also if it takes sessions in turn, and while others use it',
  async ({ databaseUrl }) => {
    for (const settings of [
      { pool_mode: 'transaction' },
      { pool_mode: 'transaction', server_round_robin: 1 },
      { pool_mode: 'statement' }
    ]) {
      using pooler = await startPgbouncer(databaseUrl, settings)
      expect(await refusal(pooler.url)).toMatch(/^a pooler in transaction mode is .* pool_mode to session/)
      const others = postgres(pooler.url, { max: 6, prepare: false, fetch_types: false })
      const ending = new AbortController()
      const load = Array.from({ length: 6 }, async () => {
        while (!ending.signal.aborted) await others`select pg_sleep(0.001)`.simple()
      })
      for (let round = 0; round < 5; round++) expect(await refusal(pooler.url)).toMatch(/transaction mode/)
      ending.abort()
      await Promise.allSettled(load)
      await others.end({ timeout: 1 })
    }
  }
)

test.skipIf(whyWithout('pgbouncer'))(
  'PgBouncer in session mode works, with all timeouts, and without settings of its own',
  async ({ databaseUrl }) => {
    using pooler = await startPgbouncer(databaseUrl, { pool_mode: 'session' })
    expect(await refusal(pooler.url)).toBeNull()
    const sql = openSql(pooler.url, { max: 3, name: 'pooled', statementSeconds: 2 })
    try {
      const rows = await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const [row] = await sql`
            select current_setting('statement_timeout') as statement, ${n}::int as n, ${[n, n + 1]}::int[] as list`
          return row
        })
      )
      expect(rows).toEqual(rows.map((_, n) => ({ statement: '2s', n, list: [n, n + 1] })))
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
)

test.skipIf(whyWithout('pgbouncer'))(
  'a PgBouncer with too few sessions is counted, and named when it gives none',
  { timeout: 60_000 },
  async ({ databaseUrl, sql }) => {
    expect(await findPoolerShortage(databaseUrl, 'server')).toBeNull()
    using large = await startPgbouncer(databaseUrl, { pool_mode: 'session', default_pool_size: 40 })
    expect(await findPoolerShortage(large.url, 'server')).toBeNull()
    expect(await findPoolerShortageForAll(sql, large.url)).toBeNull()

    using small = await startPgbouncer(databaseUrl, { pool_mode: 'session', default_pool_size: 13 })
    expect(await findPoolerShortage(small.url, 'server')).toBe(
      'a pooler in front of Postgres gives this process only 13 of 16 connections'
    )
    expect(await findPoolerShortage(small.url, 'workers')).toBeNull()
    expect(await findPoolerShortageForAll(sql, small.url)).toMatch(
      /^1 server and 1 workers processes use up to 28 connections, and a pooler in front of Postgres gives only \d+$/
    )

    const others = postgres(small.url, { max: 13, prepare: false, fetch_types: false })
    await Promise.all(Array.from({ length: 13 }, () => others`select 1`.simple()))
    expect(await refusal(small.url)).toMatch(
      /accepts connections at 127\.0\.0\.1:\d+, but gives no session .* raise its default_pool_size to 16 for each server and 12 for each workers process/
    )
    await others.end({ timeout: 1 })
    expect(await refusal('postgres://127.0.0.1:1/none')).toMatch(/does not answer at DATABASE_URL/)
  }
)
