import { pino } from 'pino'
import { expect } from 'vitest'

import { migrateCommand } from '../../src/commands/migrate/migrate-command.ts'
import { findConnectionShortage } from '../../src/stores/db/connections/connection-budget.ts'
import { listMigrations, migrateSchema } from '../../src/stores/db/migrate.ts'
import { registerProcess, removeOldProcesses } from '../../src/stores/db/processes.ts'
import { runUpgradeStep } from '../../src/stores/db/upgrade-step.ts'
import { readRegisteredProcesses } from '../../src/upkeep/checks/running-processes.ts'
import { commandRunner } from '../support/command.ts'
import { openEmptyDatabase } from '../support/empty-database.ts'
import { test } from '../support/fixtures.ts'

const silentLog = pino({ level: 'silent' })

const self = { kind: 'test', readableSchemas: [3, 4], ownSchema: 4, settings: {} }

test('a new state format is used once no process with an older one was seen for five minutes', async ({
  sql
}) => {
  const alone = await registerProcess(sql, self, silentLog)
  expect(alone.schema()).toBe(4)
  const older = await registerProcess(sql, { ...self, ownSchema: 3 }, silentLog)
  const concurrent = await registerProcess(sql, self, silentLog)
  expect([older.schema(), concurrent.schema()]).toEqual([3, 3])
  await sql`update processes set seen_at = seen_at - interval '4 minutes 50 seconds' where own_schema = 3`
  expect((await registerProcess(sql, self, silentLog)).schema()).toBe(3)
  await sql`update processes set seen_at = seen_at - interval '20 seconds' where own_schema = 3`
  const later = await registerProcess(sql, self, silentLog)
  expect(later.schema()).toBe(4)
  await Promise.all([alone, older, concurrent, later].map(each => each.stop()))
})

test('stored rows are brought up to date once no older release runs, and again after one ran', async ({
  sql
}) => {
  let left = 3
  const step = {
    name: 'test',
    run: async () => {
      const rows = Math.min(left, 2)
      left -= rows
      return rows
    }
  }
  const done = { name: 'other', run: async () => 0 }
  const run = async () => runUpgradeStep(sql, [step, done])
  const heartbeat = async (minutesAgo: number) => sql`
    insert into processes (id, kind, version, readable_schemas, own_schema, seen_at)
    values ('00000000-0000-0000-0000-000000000001', 'workers', '0.2.0', '{3}', 3, clock_timestamp() - make_interval(mins => ${minutesAgo}))
    on conflict (id) do update set seen_at = excluded.seen_at`
  await heartbeat(4)
  expect(await run()).toBeNull()
  await heartbeat(6)
  const ran = [await run(), await run(), await run(), await run(), await run()]
  expect(ran.map(result => result?.rows ?? null)).toEqual([2, 1, 0, 0, null])
  expect(ran[3]).toEqual({ name: 'other', rows: 0 })
  // The older process was frozen, and wrote again.
  left = 1
  await heartbeat(0)
  expect(await run()).toBeNull()
  await heartbeat(6)
  expect([await run(), await run()]).toEqual([
    { name: 'test', rows: 1 },
    { name: 'test', rows: 0 }
  ])
})

test('a process that has ended in order no longer counts as running, and still as one of the last five minutes', async ({
  sql
}) => {
  for (let restart = 0; restart < 60; restart++) {
    const server = await registerProcess(sql, { ...self, kind: 'server', ownSchema: 3 }, silentLog)
    await server.markReady()
    await server.stop()
  }
  expect(await findConnectionShortage(sql)).toBeNull()
  expect(await readRegisteredProcesses(sql)).toMatchObject([{ ready: 0, starting: 0, failedStarts: 0 }])
  const next = await registerProcess(sql, self, silentLog)
  expect(next.schema()).toBe(3)
  await next.stop()
})

test('ended processes are removed after a day', async ({ sql }) => {
  const registration = await registerProcess(sql, self, silentLog)
  await registration.stop()
  expect(await removeOldProcesses(sql)).toBe(0)
  await sql`update processes set seen_at = seen_at - interval '25 hours'`
  expect(await removeOldProcesses(sql)).toBe(1)
})

test('a database with incompatible changes of a newer release is refused with one line', async ({ sql }) => {
  await sql`insert into migrations (name) values ('9999_newer.sql')`
  expect(await migrateSchema(sql)).toEqual([])
  await sql`insert into compatibility (least_migration) values (9999)`
  await expect(migrateSchema(sql)).rejects.toThrow(
    /^a newer release has changed the database, and version .+ cannot work with it/
  )
})

test('npm run migrate migrates a database once, and names what is wrong', async () => {
  const run = commandRunner('src/commands/migrate/main.ts', migrateCommand)
  const { value: empty, close } = await openEmptyDatabase()
  try {
    const names = await listMigrations()
    const env = { DATABASE_URL: empty.url }
    expect(await run(env)).toEqual({
      code: 0,
      stdout: names.map(name => `ran ${name}\n`).join(''),
      stderr: ''
    })
    expect(await run(env)).toEqual({
      code: 0,
      stdout: `The database has all ${names.length} migrations.\n`,
      stderr: ''
    })
  } finally {
    await close()
  }
  expect(await run({})).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^DATABASE_URL is not set: .*\n$/)
  })
  const unreachable = { DATABASE_URL: 'postgres://127.0.0.1:1/cuewire' }
  expect(await run(unreachable)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('does not answer')
  })
})
