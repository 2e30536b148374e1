import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer as createHttpsServer } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'

import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'

import { doctorCommand } from '../../src/commands/doctor/doctor-command.ts'
import { migrateCommand } from '../../src/commands/migrate/migrate-command.ts'
import { parseConfig } from '../../src/config.ts'
import { findBackupStorageProblem } from '../../src/library/storage/backup-storage.ts'
import { findConnectionShortage } from '../../src/stores/db/connections/connection-budget.ts'
import { ensureInstallationSettings } from '../../src/stores/db/installation-settings.ts'
import { openDatabaseSecrets } from '../../src/stores/secrets/secrets-key.ts'
import type { Finding } from '../../src/upkeep/checks/finding.ts'
import { startBackupWorker } from '../../workers/backups.ts'
import { createCertificate } from '../support/certificates.ts'
import { commandRunner } from '../support/command.ts'
import { test } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { waitFor } from '../support/wait.ts'

const run = commandRunner('src/commands/doctor/main.ts', doctorCommand)
const runMigrate = commandRunner('src/commands/migrate/main.ts', migrateCommand)

async function examine(env: Record<string, string>) {
  const { code, stdout } = await run(env, '--json')
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout)
  const all = findings.map(({ check, status, message }) => `${status} ${check}: ${message}`)
  return { code, ok, all, ...Object.fromEntries(findings.map(each => [each.check, each])) }
}

test('the doctor finds a healthy installation healthy, and says what to do about each problem', async ({
  program,
  databaseUrl,
  sql,
  redisUrl,
  redis
}) => {
  const folder = await scratchFolder()
  await openDatabaseSecrets(sql, { ...parseConfig({}), DATA_DIR: folder })
  await sql`insert into processes (id, kind, version, readable_schemas, own_schema)
    values (gen_random_uuid(), 'server', '0.2.0', '{2}', 2), (gen_random_uuid(), 'workers', '0.2.0', '{2}', 2)`
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DATA_DIR: folder,
    BASE_URL: program.baseUrl,
    SECRETS_KEY: ''
  }
  expect(await examine(env)).toMatchObject({
    code: 0,
    ok: true,
    program: { status: 'ok' },
    DATA_DIR: { status: 'ok' },
    schema: { status: 'ok' },
    'secrets key': { status: 'ok' },
    processes: { status: 'ok', message: '1 server (0.2.0), 1 workers (0.2.0)' },
    clocks: { status: 'ok' },
    BASE_URL: { status: 'warning', message: expect.stringContaining('only on this machine') }
  })

  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru', 'appendonly', 'no')
  try {
    await sql`delete from processes where kind = 'workers'`
    const ill = {
      ...env,
      SECRETS_KEY: 'ab'.repeat(32),
      BASE_URL: 'http://127.0.0.1:1',
      GEO_DATABASE: join(folder, 'missing.mmdb'),
      HLS_ACCESS_LOG: join(folder, 'missing.log'),
      BACKUP_SCHEDULE: '0 3 * * *',
      BACKUP_STORAGE: '99'
    }
    const found = await examine(ill)
    expect(found).toMatchObject({
      code: 1,
      ok: false,
      'secrets key': { status: 'problem', message: expect.stringContaining('another key') },
      processes: { status: 'problem', advice: expect.stringContaining('npm run workers') },
      backups: { status: 'problem', message: expect.stringContaining('no storage location with this id') },
      BASE_URL: { status: 'problem', message: expect.stringContaining('ECONNREFUSED') }
    })
    for (const part of [
      /^problem configuration: HLS_ACCESS_LOG /,
      /^problem configuration: GEO_DATABASE .* it does not exist/,
      /^problem Redis: .* allkeys-lru/,
      /^warning Redis: .* append-only file/
    ])
      expect(found.all).toContainEqual(expect.stringMatching(part))
  } finally {
    await redis.config('SET', 'maxmemory-policy', 'noeviction', 'appendonly', 'yes')
  }
  await sql`
    insert into processes (id, kind, version, readable_schemas, own_schema)
    values (gen_random_uuid(), 'workers', '0.2.0', '{2}', 2)`
  await sql`update processes set seen_at = clock_timestamp() - interval '1 minute'`
  const { port } = new URL(program.baseUrl)
  expect(await examine({ ...env, PORT: port })).toMatchObject({
    processes: {
      status: 'warning',
      message: expect.stringMatching(/^nothing runs; no server \(last seen 6\d s ago\)/)
    },
    ports: { status: 'problem', message: `PORT ${port} is in use on 127.0.0.1` }
  })
  const dead = { ...env, DATABASE_URL: 'postgres://127.0.0.1:1/x', REDIS_URL: 'redis://127.0.0.1:1' }
  expect(await examine(dead)).toMatchObject({
    code: 1,
    Postgres: { status: 'problem' },
    Redis: { status: 'problem' }
  })
})

test('the doctor explains a wrong variable, and data of another version of Postgres', async () => {
  expect(await run({ PORT: 'abc' })).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^PROBLEM {2}configuration {2}invalid configuration: PORT .*\n +correct .*\n\n1 problem, 0 warnings\n$/
    ),
    stderr: ''
  })
  const folder = await scratchFolder()
  await mkdir(join(folder, 'postgres', 'data'), { recursive: true })
  await writeFile(join(folder, 'postgres', 'data', 'PG_VERSION'), '17\n')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  expect(await examine({ DATA_DIR: folder, PORT: port })).toMatchObject({
    code: 1,
    Postgres: {
      status: 'problem',
      message: expect.stringContaining('is of Postgres 17, and this release has Postgres 18')
    },
    processes: {
      status: 'warning',
      message: expect.stringMatching(/^no Cuewire runs .* not checked: .* WebSockets$/)
    },
    ports: { status: 'problem', message: `PORT ${port} is in use on 127.0.0.1` }
  })
  server.close()
  const unreadable = await scratchFolder()
  await mkdir(join(unreadable, 'postgres', 'data', 'PG_VERSION'), { recursive: true })
  expect(await examine({ DATA_DIR: unreadable })).toMatchObject({
    Postgres: { status: 'problem', message: expect.stringContaining('cannot be read (EISDIR)') }
  })
})

test('a role without privileges, and a read-only database, are explained in one line', async ({
  databaseUrl,
  sql
}) => {
  const role = `stranger_${randomBytes(6).toString('hex')}`
  await sql.unsafe(`create role ${role} login password 'secret'`)
  const url = new URL(databaseUrl)
  url.username = role
  url.password = 'secret'
  const env = { DATABASE_URL: url.href, DATA_DIR: await scratchFolder(), BASE_URL: 'http://127.0.0.1:1' }
  try {
    expect(await examine(env)).toMatchObject({
      code: 1,
      schema: { status: 'problem', message: expect.stringContaining(`${role} may not create tables`) }
    })
    await sql.unsafe(`grant create on schema public to ${role}`)
    expect(await examine(env)).toMatchObject({
      code: 1,
      Postgres: {
        status: 'problem',
        message: expect.stringContaining('permission denied for table migrations')
      }
    })
    expect(await runMigrate(env)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^the role of the database URL lacks privileges \(permission .*\): make .*\n$/
      )
    })
    await sql.unsafe(`alter role ${role} set default_transaction_read_only = on`)
    expect((await examine(env)).all).toContainEqual(
      expect.stringMatching(/^problem Postgres: .*, read-only /)
    )
    expect((await runMigrate(env)).stderr).toMatch(
      /^Postgres is read-only \(cannot execute .*\): connect .*\n$/
    )
  } finally {
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`)
  }
})

test('the doctor uses the settings of the servers that run, and names what differs', async ({
  program,
  databaseUrl,
  sql,
  redisUrl
}) => {
  const folder = await scratchFolder()
  await openDatabaseSecrets(sql, { ...parseConfig({}), DATA_DIR: folder })
  const settings = { BASE_URL: program.baseUrl, HOST: '127.0.0.1', PORT: 8080, TRUSTED_PROXIES: [] }
  await sql`
    insert into processes (id, kind, version, readable_schemas, own_schema, settings)
    values (gen_random_uuid(), 'server', '0.3.0', '{2}', 2, ${sql.json(settings)}),
      (gen_random_uuid(), 'workers', '0.3.0', '{2}', 2, ${sql.json(settings)})`
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DATA_DIR: folder,
    BASE_URL: '',
    SECRETS_KEY: ''
  }
  expect(await examine(env)).toMatchObject({
    BASE_URL: { message: expect.stringContaining(`${program.baseUrl} answers`) }
  })
  expect((await examine({ ...env, BASE_URL: 'http://127.0.0.1:1' })).all).toContain(
    `warning configuration: BASE_URL is http://127.0.0.1:1 here, and ${program.baseUrl} for the servers that run`
  )

  await ensureInstallationSettings(sql)
  await sql`
    insert into processes (id, kind, version, readable_schemas, own_schema)
    values (gen_random_uuid(), 'server', '0.2.0', '{2}', 2)`
  const { all } = await examine(env)
  expect(all).toContain(
    `problem BASE_URL: ${program.baseUrl} is another installation of Cuewire, with another database`
  )
  expect(all).toContain('warning processes: several releases run: 0.2.0, 0.3.0')
})

test('the doctor tells processes that end during their start from those that run', async ({
  databaseUrl,
  sql,
  redisUrl
}) => {
  const folder = await scratchFolder()
  await openDatabaseSecrets(sql, { ...parseConfig({}), DATA_DIR: folder })
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const METRICS_PORT = typeof address === 'object' ? address?.port : 0
  const settings = {
    BASE_URL: 'http://127.0.0.1:1',
    HOST: '127.0.0.1',
    PORT: 8080,
    TRUSTED_PROXIES: [],
    METRICS_HOST: '127.0.0.1',
    METRICS_PORT
  }
  await sql`
    insert into processes (id, kind, version, readable_schemas, own_schema)
    values (gen_random_uuid(), 'server', '0.3.0', '{2}', 2)`
  await sql`
    insert into processes (id, kind, version, readable_schemas, own_schema, is_ready, settings, seen_at)
    select gen_random_uuid(), 'workers', '0.3.0', '{2}', 2, false, ${sql.json(settings)}, clock_timestamp() - make_interval(secs => 20 * n)
    from generate_series(1, 3) n`
  const { code, all } = await examine({
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DATA_DIR: folder,
    BASE_URL: 'http://127.0.0.1:1',
    SECRETS_KEY: ''
  })
  expect(code).toBe(1)
  expect(all).toContain(
    'problem processes: workers started 3 times in the last two minutes and ended before it was ready'
  )
  expect(all).toContain(`problem ports: METRICS_PORT ${METRICS_PORT} is in use on 127.0.0.1`)
  expect(all).toContainEqual(expect.stringMatching(/^problem processes: 1 server \(0\.3\.0\); no workers/))
})

test('the doctor names what is wrong with the certificate of BASE_URL', async ({ databaseUrl, redisUrl }) => {
  const { cert, key } = await createCertificate(['IP:127.0.0.1'])
  const server = createHttpsServer({ cert: await readFile(cert), key: await readFile(key) }, (_, response) =>
    response.end()
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const BASE_URL = `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const { all } = await examine({
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    DATA_DIR: await scratchFolder(),
    BASE_URL,
    SECRETS_KEY: ''
  })
  expect(all).toContainEqual(
    expect.stringMatching(
      /^problem BASE_URL: the certificate of https:\/\/127\.0\.0\.1:\d+ (is signed by|comes without)/
    )
  )
})

test('a shortage of connections is found', async ({ sql }) => {
  expect(await findConnectionShortage(sql)).toBeNull()
  await sql`
    insert into processes (id, kind, version, readable_schemas, own_schema)
    select gen_random_uuid(), 'server', '0.3.0', '{2}', 2 from generate_series(1, 40)`
  expect(await findConnectionShortage(sql)).toMatch(
    /^40 server and 1 workers processes use up to 652 connections, and max_connections is \d+, of which \d+ are reserved and others use \d+$/
  )
})

test('workers warn of a BACKUP_STORAGE that cannot be used', async ({ sql }) => {
  const folder = await scratchFolder()
  const config = { ...parseConfig({}), DATA_DIR: folder, BACKUP_STORAGE: join(folder, 'missing') }
  const lines: unknown[] = []
  const log = pino({ level: 'warn' }, { write: text => void lines.push(JSON.parse(text)) })
  const openFiles = () => Promise.reject(new Error('no backup is due'))
  const backups = startBackupWorker({ sql, config, env: {}, openFiles, log }, '0 3 * * *')
  await waitFor(() => lines.length > 0, { deadlineMs: 10_000, what: 'the warning' })
  await backups.stop()
  expect(lines).toMatchObject([
    {
      reason: `the folder ${config.BACKUP_STORAGE} does not exist`,
      msg: expect.stringContaining('scheduled backups cannot be written')
    }
  ])
  expect(await findBackupStorageProblem(sql, { ...config, BACKUP_STORAGE: folder })).toBe(null)
})
