import { randomBytes } from 'node:crypto'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

import { expect, inject } from 'vitest'

import { backupCommand } from '../../src/backup/backup-command.ts'
import { restoreCommand } from '../../src/backup/restore-command.ts'
import { parseConfig } from '../../src/config.ts'
import { migrate, runMigrations } from '../../src/db/migrate.ts'
import { openSql, type Sql } from '../../src/db/sql.ts'
import { openDatabaseSecrets } from '../../src/security/secrets-key.ts'
import { commandRunner } from '../support/command.ts'
import { test as base } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStations } from '../support/stations.ts'

const signal = () => AbortSignal.timeout(120_000)
const program = 'src/backup/main.ts'
const runBackup = commandRunner(program, call => backupCommand(call, signal()))
const runRestore = commandRunner(program, call => restoreCommand(call, signal()))

const test = base.extend('empty', async ({ databaseUrl }, { onCleanup }) => {
  const name = `cuewire_restored_${randomBytes(6).toString('hex')}`
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  const server = openSql(inject('templateUrl').replace(/\/[^/]*$/, '/postgres'), { max: 1, name: 'test' })
  await server`create database ${server(name)} template template0`
  const sql = openSql(url.href, { max: 2, name: 'test' })
  onCleanup(async () => {
    await sql.end({ timeout: 1 })
    await server`drop database ${server(name)} with (force)`
    await server.end({ timeout: 1 })
  })
  return { url: url.href, sql }
})

async function countRows(sql: Sql): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ rows: number }[]>`select count(*) as rows from ${sql(name)}`
    counts[name] = row?.rows ?? 0
  }
  return counts
}

/** A hash of all rows of each table that a backup contains. */
async function hashRows(sql: Sql): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {}
  for (const name of Object.keys(await countRows(sql))) {
    if (['migrations', 'processes', 'uploads', 'cover_lookup_lease', 'listener_salts'].includes(name))
      continue
    const columns = name === 'stations' ? sql`to_jsonb(t) - 'epoch' - 'epoch_since'` : sql`to_jsonb(t)`
    const [row] = await sql<{ hash: string }[]>`
      select count(*) || ' ' || coalesce(md5(string_agg(x::text, ',' order by x::text)), '') as hash
      from (select ${columns} as x from ${sql(name)} t) r`
    hashes[name] = row?.hash ?? ''
  }
  return hashes
}

const odd = 'Ünï\tcödé 🎧 \u001A \\N \\. \' " % \r\n'

async function seedOddRows(sql: Sql): Promise<void> {
  const [station] = await seedStations(sql, { stations: 2, tracks: 4 })
  const stationId = station?.id ?? 0
  await sql`update stations set name = ${odd} where id = ${stationId}`
  await sql`insert into artwork (hash, content_type, bytes) values ('ab', 'image/png', ${randomBytes(5_000)})`
  await sql`update media set artwork_hash = 'ab', lyrics = ${odd} where station_id = ${stationId}`
  await sql`insert into webhooks (station_id, name, type, triggers, config)
    values (${stationId}, ${odd}, 'generic', ${sql.json(['song_changed'])}, ${sql.json({ webhook_url: odd })})`
  // Ids of deleted records are not given to others.
  await sql`delete from webhooks`
}

test('a restored database has the same rows, files and next ids, and knows nothing of the live states before', async ({
  databaseUrl,
  sql,
  redisUrl,
  redis,
  empty
}) => {
  await seedOddRows(sql)
  const from = await scratchFolder()
  const to = await scratchFolder()
  const config = { ...parseConfig({}), DATA_DIR: from }
  const sealed = (await openDatabaseSecrets(sql, config)).seal('hush', 'test')
  const fallback = join('stations', '1', 'config', 'fallback.mp3')
  const song = join('stations', '1', 'media', 'a', 'song.mp3')
  for (const path of [fallback, song]) {
    await mkdir(join(from, path, '..'), { recursive: true })
    await writeFile(join(from, path), randomBytes(700_000))
  }
  const rows = await hashRows(sql)
  const archive = join(from, 'backup.tar.gz')
  const keyFile = join(from, 'key')
  const written = await runBackup(
    { DATABASE_URL: databaseUrl, DATA_DIR: from },
    '--media',
    '--secrets-key',
    keyFile,
    archive
  )
  expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining('read back without differences') })
  expect((await stat(archive)).mode & 0o777).toBe(0o600)
  const again = await runBackup({ DATABASE_URL: databaseUrl, DATA_DIR: from }, archive)
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })

  await redis.mset('cuewire:{bd}:station:64', 'x', 'bull:{cuewire}deliver:id', '7', 'other', 'kept')
  const env = { DATABASE_URL: empty.url, REDIS_URL: redisUrl, DATA_DIR: to }
  const restored = await runRestore(env, '--secrets-key', keyFile, archive)
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('and 2 files') })
  expect(await redis.keys('*')).toEqual(['other'])
  expect(await hashRows(empty.sql)).toEqual(rows)
  const nextId = async (each: Sql) => {
    const [row] =
      await each`insert into webhooks (station_id, name, type) values (1, 'w', 'generic') returning id`
    return row?.['id']
  }
  expect(await nextId(empty.sql)).toBe(await nextId(sql))
  for (const path of [fallback, song])
    expect((await readFile(join(to, path))).equals(await readFile(join(from, path)))).toBe(true)
  const secrets = await openDatabaseSecrets(empty.sql, { ...config, DATA_DIR: to })
  expect(secrets.open(sealed, 'test')).toBe('hush')
  expect([...(await empty.sql`select distinct epoch from stations`)]).toEqual([{ epoch: '' }])

  expect(await runRestore(env, archive)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the database is not empty')
  })
  const server = openSql(empty.url, { max: 1, name: 'server' })
  await server`select 1`
  expect(await runRestore(env, '--replace', archive)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the database is in use (cuewire server)')
  })
  await server.end({ timeout: 1 })
  expect(await runRestore(env, '--replace', archive)).toMatchObject({ code: 0 })
  expect(await hashRows(empty.sql)).toEqual(rows)
})

test('a backup under writes holds one moment', async ({ databaseUrl, sql, empty }) => {
  await seedStations(sql, { stations: 20, tracks: 50 })
  let isDone = false
  const writing = (async () => {
    for (let n = 0; !isDone; n++)
      await sql.begin(async tx => {
        await tx`insert into sftp_users (station_id, username) values (1, ${`s${n}`})`
        await tx`insert into webhooks (station_id, name, type) values (1, ${`s${n}`}, 'generic')`
      })
  })()
  const folder = await scratchFolder()
  const archive = join(folder, 'backup.tar.gz')
  expect(await runBackup({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, archive)).toMatchObject({ code: 0 })
  isDone = true
  await writing
  expect(await runRestore({ DATABASE_URL: empty.url, DATA_DIR: folder }, archive)).toMatchObject({ code: 0 })
  const { sftp_users: users = 0, webhooks, ...others } = await countRows(empty.sql)
  const now = await countRows(sql)
  expect(webhooks).toBe(users)
  expect(users).toBeLessThan(now['sftp_users'] ?? 0)
  expect(others).toEqual({ ...now, sftp_users: undefined, webhooks: undefined })
})

test('a damaged, incomplete or foreign archive is refused before anything is written', async ({
  databaseUrl,
  sql,
  empty
}) => {
  await seedStations(sql, { stations: 2, tracks: 200 })
  const folder = await scratchFolder()
  const good = join(folder, 'good.tar.gz')
  expect(await runBackup({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, good)).toMatchObject({ code: 0 })
  const bytes = await readFile(good)
  const flipped = Buffer.from(bytes)
  flipped[Math.floor(bytes.length / 2)] = (flipped[Math.floor(bytes.length / 2)] ?? 0) ^ 1
  // A valid archive with other rows.
  const tar = gunzipSync(bytes)
  const at = tar.indexOf('Rotation')
  tar.write('Rotatiom', at)
  const cases: [name: string, content: Buffer, problem: string][] = [
    ['truncated', bytes.subarray(0, bytes.length - 1_000), 'is damaged: unexpected end of file'],
    ['flipped', flipped, 'is damaged'],
    ['changed', gzipSync(tar), 'or other content'],
    ['text', Buffer.from('hello'), 'is damaged: incorrect header check'],
    ['empty', gzipSync(Buffer.alloc(1_024)), 'is incomplete']
  ]
  for (const [name, content, problem] of cases) {
    const file = join(folder, name)
    await writeFile(file, content)
    const result = await runRestore({ DATABASE_URL: empty.url, DATA_DIR: folder }, file)
    expect([name, result]).toEqual([name, { code: 1, stdout: '', stderr: expect.stringContaining(problem) }])
  }
  const missing = await runRestore({ DATABASE_URL: empty.url, DATA_DIR: folder }, join(folder, 'none'))
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be read (ENOENT)') })
  expect(await countRows(empty.sql)).toEqual({})
})

test('a backup of an older schema is migrated, one of a newer release and another database are refused', async ({
  empty,
  sql,
  databaseUrl
}) => {
  const folder = await scratchFolder()
  const old = join(folder, 'old.tar.gz')
  const env = { DATABASE_URL: empty.url, DATA_DIR: folder }
  await empty.sql.begin(tx => runMigrations(tx, name => name < '0019'))
  await empty.sql`insert into stations (name, short_name) values ('Old', 'old')`
  expect(await runBackup(env, old)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('0018_uploads.sql')
  })
  expect(await runRestore(env, '--replace', old)).toMatchObject({ code: 0 })
  expect(await empty.sql`select name from stations`).toMatchObject([{ name: 'Old' }])
  expect(await empty.sql`select name from roles`).not.toHaveLength(0)
  expect(await migrate(empty.sql)).toEqual([])

  const newer = join(folder, 'newer.tar.gz')
  await sql.begin(async tx => {
    await tx`insert into migrations (name) values ('9999_later.sql')`
  })
  expect(await runBackup({ ...env, DATABASE_URL: databaseUrl }, newer)).toMatchObject({ code: 0 })
  await sql`delete from migrations where name = '9999_later.sql'`
  expect(await runRestore(env, '--replace', newer)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('written by a newer release')
  })
  expect(await empty.sql`select name from stations`).toMatchObject([{ name: 'Old' }])

  await empty.sql`drop table migrations`
  expect(await runRestore(env, '--replace', old)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the database belongs to another program')
  })
  expect(await runBackup(env, newer)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('exists already')
  })
  expect(await runBackup(env, join(folder, 'x'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the database is not one of Cuewire')
  })
})
