import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { doctorCommand } from '../../src/doctor/doctor-command.ts'
import type { Finding } from '../../src/doctor/finding.ts'
import { openDatabaseSecrets } from '../../src/security/secrets-key.ts'
import { commandRunner } from '../support/command.ts'
import { test } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const run = commandRunner('src/doctor/main.ts', doctorCommand)

async function examine(env: Record<string, string>) {
  const { code, stdout } = await run(env, '--json')
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout)
  return { code, ok, ...Object.fromEntries(findings.map(each => [each.check, each])) }
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

  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  try {
    await sql`delete from processes where kind = 'workers'`
    const GEO_DATABASE = join(folder, 'missing.mmdb')
    const ill = { ...env, SECRETS_KEY: 'ab'.repeat(32), BASE_URL: 'http://127.0.0.1:1', GEO_DATABASE }
    expect(await examine(ill)).toMatchObject({
      code: 1,
      ok: false,
      configuration: { status: 'problem', message: expect.stringContaining('it does not exist') },
      Redis: { status: 'problem', advice: expect.stringContaining('noeviction') },
      'secrets key': { status: 'problem', message: expect.stringContaining('another key') },
      processes: { status: 'warning', advice: expect.stringContaining('npm run workers') },
      BASE_URL: { status: 'problem', message: expect.stringContaining('ECONNREFUSED') }
    })
  } finally {
    await redis.config('SET', 'maxmemory-policy', 'noeviction')
  }
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
  expect(await examine({ DATA_DIR: folder })).toMatchObject({
    code: 1,
    Postgres: {
      status: 'problem',
      message: expect.stringContaining('is of Postgres 17, and this release has Postgres 18')
    }
  })
})
