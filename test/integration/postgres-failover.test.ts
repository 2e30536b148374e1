import { copyFile, chmod, chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, onTestFinished } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { errorCodeOf } from '../../src/platform/runtime/errors.ts'
import { assertPostgresUsable } from '../../src/stores/db/connections/check-postgres.ts'
import { migrateDatabase } from '../../src/stores/db/migrate.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { createCertificate } from '../support/certificates.ts'
import { test } from '../support/fixtures.ts'
import { openCrowd } from '../support/live-crowd.ts'
import {
  createCluster,
  startConfiguredPostgres,
  startPostgresPair,
  waitUntilResponding
} from '../support/postgres-pair.ts'
import { startProgram } from '../support/program.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep, sized } from '../support/tier.ts'
import { patience, waitFor } from '../support/wait.ts'

const sockets = sized({ quick: 20, deep: 500 })
/** How long changes go on before and after the failover, in addition to what it takes. */
const changesMs = sized({ quick: 0, deep: 20_000, soak: 300_000 })

const refusal = async (url: string) =>
  assertPostgresUsable(url).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )

test('writes go on behind several hosts when the primary is lost, and none that was acknowledged is', async () => {
  await using pair = await startPostgresPair()
  // The standby first: sessions of it are refused.
  const [one = '', two = ''] = [pair.primaryUrl, pair.standbyUrl].map(url => new URL(url).host)
  const sql = openSql(pair.url.replace(`${one},${two}`, `${two},${one}`), { max: 4, name: 'failover' })
  onTestFinished(() => sql.end({ timeout: 1 }))
  await sql`create table written (n int primary key)`
  const acknowledged: number[] = []
  let last = { n: 0, atMs: 0 }
  let next = 0
  let failures = 0
  const ending = new AbortController()
  const writers = Array.from({ length: 4 }, async () => {
    while (!ending.signal.aborted) {
      const n = next++
      await sql`insert into written values (${n})`.then(
        () => {
          acknowledged.push(n)
          last = { n, atMs: performance.now() }
        },
        () => {
          failures += 1
          return sleep(20)
        }
      )
    }
  })
  await waitFor(() => acknowledged.length > 200, { deadlineMs: 10_000, what: 'writes' })
  pair.kill()
  await waitFor(() => failures > 0, { deadlineMs: 10_000, what: 'a write that fails' })
  await pair.promote()
  const promotedAtMs = performance.now()
  await waitFor(() => last.atMs > promotedAtMs, { deadlineMs: 10_000, what: 'writes after the failover' })
  expect(last.atMs - promotedAtMs).toBeLessThan(10_000 * patience)
  ending.abort()
  await Promise.all(writers)
  const rows = await sql<{ n: number }[]>`select n from written`
  const stored = new Set(rows.map(({ n }) => n))
  expect(acknowledged.filter(n => !stored.has(n))).toEqual([])
}, 120_000)

test(
  'a program behind several hosts goes on after a failover, with its sockets',
  async ({ redisUrl }) => {
    await using pair = await startPostgresPair()
    const admin = openSql(pair.url, { max: 1, name: 'test' })
    onTestFinished(() => admin.end({ timeout: 1 }))
    await migrateDatabase(pair.url)
    const stationId = await seedStation(admin)
    await using folder = await openTempFolder()
    await using program = await startProgram(pair.url, redisUrl, folder.path)
    const shape = { streams: 0, pollers: 0, longPollers: 0 }
    const shortName = await shortNameOf(admin, stationId)
    using crowd = openCrowd({ baseUrl: program.baseUrl, shortName, sockets, ...shape })
    await crowd.settle(20_000)
    let acknowledged = 0
    let n = 0
    const ending = new AbortController()
    const edits = (async () => {
      while (!ending.signal.aborted) {
        n += 1
        const body = { description: `edit ${n}` }
        const { status } = await program.ask('PUT', `/api/admin/station/${stationId}`, { body })
        expect([200, 503]).toContain(status)
        if (status === 200) acknowledged = n
        await sleep(100)
      }
    })()
    await waitFor(() => acknowledged > 10, { deadlineMs: 20_000, what: 'edits' })
    await sleep(changesMs)
    const before = acknowledged
    pair.kill()
    const postgresState = async () => (await program.ask('GET', '/api/health')).body.postgres
    await waitFor(async () => (await postgresState()) === 'down', {
      deadlineMs: 10_000,
      what: 'the outage to show'
    })
    await pair.promote()
    const promotedAtMs = performance.now()
    await waitFor(() => acknowledged > before, { deadlineMs: 10_000, what: 'an edit after the failover' })
    expect(performance.now() - promotedAtMs).toBeLessThan(10_000 * patience)
    await sleep(changesMs)
    ending.abort()
    await edits
    const shown = await waitFor(
      async () => {
        const { body, headers } = await program.ask('GET', `/api/nowplaying/${stationId}`)
        return body.station.description === `edit ${acknowledged}` && headers
      },
      { deadlineMs: 10_000, what: 'the newest edit' }
    )
    const position = {
      epoch: shown.get('X-Cuewire-Epoch') ?? '',
      offset: Number(shown.get('X-Cuewire-Offset'))
    }
    await waitFor(() => crowd.behind(position).length === 0, {
      deadlineMs: 10_000,
      what: 'the newest edit on each socket'
    })
    expect(crowd.faults).toEqual([])
    expect(crowd.counts).toMatchObject({ connects: sockets, ends: {} })
    expect((await program.ask('GET', '/api/health/ready')).body).toMatchObject({
      status: 'ready',
      live_state: 'current'
    })
    expect(await postgresState()).toBe('up')
  },
  180_000 + 2 * changesMs
)

async function shortNameOf(sql: Sql, stationId: number): Promise<string> {
  const [row] = await sql<{ name: string }[]>`select short_name as name from stations where id = ${stationId}`
  return row?.name ?? ''
}

test.runIf(isDeep)(
  'a standby alone is refused with the cause',
  async () => {
    await using pair = await startPostgresPair()
    expect(await refusal(pair.standbyUrl)).toMatch(
      /^Postgres is a standby, .* set DATABASE_URL to the primary/
    )
    expect(await refusal(pair.url)).toBeNull()
  },
  120_000
)

async function reload(admin: Sql) {
  const [before] = await admin`select pg_conf_load_time() as at`
  await admin`select pg_reload_conf()`
  await waitFor(async () => (await admin`select pg_conf_load_time() as at`)[0]?.['at'] > before?.['at'], {
    deadlineMs: 5_000,
    what: 'the configuration to be loaded'
  })
}

/** Makes a stopped or running server use a certificate. */
async function serve(home: string, { cert, key }: { readonly cert: string; readonly key: string }) {
  const { uid, gid } = await stat(join(home, 'data'))
  for (const [from, name] of [
    [cert, 'server.pem'],
    [key, 'server.key']
  ] as const) {
    const file = join(home, 'data', name)
    await copyFile(from, file)
    await chown(file, uid, gid)
    await chmod(file, 0o600)
  }
}

test('certificates are checked as sslmode says, and faults are named', async () => {
  const folder = await scratchFolder()
  await chmod(folder, 0o755)
  const home = join(folder, 'tls')
  const port = await findFreePort()
  const url = await createCluster(home, port)
  const names = ['DNS:localhost', 'IP:127.0.0.1']
  const { authority, ...first } = await createCertificate(names)
  await serve(home, first)
  const server = await startConfiguredPostgres(home, port, [
    'ssl = on',
    "ssl_cert_file = 'server.pem'",
    "ssl_key_file = 'server.key'"
  ])
  onTestFinished(() => server.stop())
  await waitUntilResponding(url)
  const stateOf = async (query: string) => {
    const sql = openSql(`${url}?${query}`, { max: 1, name: 'tls' })
    try {
      const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
      return row?.ssl
    } catch (error) {
      return errorCodeOf(error)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
  expect(await stateOf('sslmode=disable')).toBe(false)
  for (const query of [
    'sslmode=prefer',
    'sslmode=require',
    'sslmode=require&channel_binding=require',
    `sslmode=verify-full&sslrootcert=${authority}`,
    `sslmode=verify-ca&sslrootcert=${authority}&channel_binding=require`,
    `sslmode=require&sslrootcert=${authority}`,
    `sslmode=require&sslnegotiation=direct`
  ])
    expect([query, await stateOf(query)]).toEqual([query, true])
  const binding = 'sslmode=require&channel_binding=require'
  expect(await stateOf('sslmode=disable&channel_binding=require')).toBe('CONNECTION_NOT_BOUND')
  expect(await refusal(`${url}?sslmode=verify-full`)).toMatch(
    /^the certificate of Postgres is signed by|^the certificate of Postgres comes without .*sslrootcert in DATABASE_URL/
  )
  const admin = openSql(url, { max: 1, name: 'admin' })
  onTestFinished(() => admin.end({ timeout: 1 }))
  for (const [authorityKey, hash] of [
    ['ec', 'sha384'],
    ['ec', 'sha512'],
    ['rsa', 'sha256'],
    ['rsa', 'sha384'],
    ['rsa', 'sha512']
  ] as const) {
    await serve(home, await createCertificate(names, { authorityKey, hash }))
    await reload(admin)
    expect([authorityKey, hash, await stateOf(binding)]).toEqual([authorityKey, hash, true])
  }
  // A session that was bound says nothing about the next one.
  const bound = openSql(`${url}?${binding}`, { max: 1, name: 'bound' })
  onTestFinished(() => bound.end({ timeout: 1 }))
  const [{ pid } = {}] = await bound`select pg_backend_pid() as pid`
  await writeFile(join(home, 'data', 'pg_hba.conf'), 'host all all 127.0.0.1/32 trust\n')
  await reload(admin)
  await admin`select pg_terminate_backend(${pid})`
  await waitFor(
    async () => errorCodeOf(await bound`select 1`.catch(error => error)) === 'CONNECTION_NOT_BOUND',
    {
      deadlineMs: 5_000,
      what: 'the refusal'
    }
  )
  const other = await createCertificate(['DNS:db.example'])
  expect(await refusal(`${url}?sslmode=verify-full&sslrootcert=${other.authority}`)).toMatch(
    /^the certificate of Postgres /
  )
  expect(await refusal(`${url}?sslmode=verify-full&sslrootcert=/missing.pem`)).toMatch(
    /sslrootcert, whose file \/missing.pem cannot be read \(ENOENT\)/
  )
}, 120_000)
