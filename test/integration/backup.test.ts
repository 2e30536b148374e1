import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

import { expect, inject } from 'vitest'

import { dispatchBackupCommand } from '../../src/commands/backup/commands.ts'
import { parseConfig } from '../../src/config.ts'
import { openLocalFiles } from '../../src/library/storage/local-files.ts'
import { migrateSchema, runMigrations } from '../../src/stores/db/migrate.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { openDatabaseSecrets } from '../../src/stores/secrets/secrets-key.ts'
import { parseBackupHeader } from '../../src/upkeep/archives/archive-contents.ts'
import type { ArchiveWriter } from '../../src/upkeep/archives/archive-writer.ts'
import { dumpTables, tablesLeftOut } from '../../src/upkeep/archives/dump-tables.ts'
import { restoreTables } from '../../src/upkeep/archives/restore-tables.ts'
import { runScheduledBackup } from '../../src/upkeep/archives/scheduled-backup.ts'
import { commandRunner } from '../support/command.ts'
import { editArchive, type EditedArchive, setColumn } from '../support/edited-archive.ts'
import { openEmptyDatabase } from '../support/empty-database.ts'
import { test as base } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStations } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const run = commandRunner('src/commands/backup/main.ts', call =>
  dispatchBackupCommand(call, AbortSignal.timeout(120_000))
)
type Environment = Record<string, string>
const runBackup = (env: Environment, ...args: string[]) => run(env, 'backup', ...args)
const runRestore = (env: Environment, ...args: string[]) => run(env, 'restore', ...args)
const runMove = (env: Environment, ...args: string[]) => run(env, 'move', ...args)

// Vitest determines the dependencies of a fixture from the pattern of its first argument, so it is required.
// oxlint-disable-next-line no-empty-pattern
const test = base.extend('empty', async ({}, { onCleanup }) => {
  const { value, close } = await openEmptyDatabase()
  onCleanup(close)
  return value
})

/** The URL of the database of a pool on the Postgres of the tests. */
function databaseUrlOf(sql: Sql): string {
  const url = new URL(inject('templateUrl'))
  url.pathname = `/${sql.options.database}`
  return url.href
}

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
    if (tablesLeftOut.includes(name)) continue
    const columns = name === 'stations' ? sql`to_jsonb(t) - 'epoch' - 'epoch_since'` : sql`to_jsonb(t)`
    const [row] = await sql<{ hash: string }[]>`
      select count(*) || ' ' || coalesce(md5(string_agg(x::text, ',' order by x::text)), '') as hash
      from (select ${columns} as x from ${sql(name)} t) r`
    hashes[name] = row?.hash ?? ''
  }
  return hashes
}

const odd = 'Ünï\tcödé 🎧 \u001A \\N \\. \' " % \r\n'

const oddName = odd.replace(/\p{Cc}/gu, '').trim()

/** Adds the second song of the playlists of a station two more times, at the end. */
const repeatSecondSong = (sql: Sql, stationId: number) => sql`
  insert into playlist_tracks (playlist_id, repeated_media_id, position)
  select t.playlist_id, t.media_id, place
  from playlist_tracks t join playlists p on p.id = t.playlist_id cross join generate_series(20, 21) place
  where p.station_id = ${stationId} and t.position = 2`

async function seedOddRows(sql: Sql): Promise<void> {
  const [station] = await seedStations(sql, { stations: 2, tracks: 4 })
  const stationId = station?.id ?? 0
  await sql`update stations set name = ${odd} where id = ${stationId}`
  await repeatSecondSong(sql, stationId)
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
  const runNightly = async (file: string, name: string) =>
    runBackup({ DATABASE_URL: databaseUrl, DATA_DIR: from }, '--secrets-key', file, join(from, name))
  expect(await runNightly(keyFile, 'second.tar.gz')).toMatchObject({ code: 0 })
  const otherKey = join(from, 'other-key')
  await writeFile(otherKey, 'ab'.repeat(32))
  expect(await runNightly(otherKey, 'third.tar.gz')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('does not have the key of this database')
  })
  expect(await readdir(from)).not.toContain('third.tar.gz')

  await redis.mset('cuewire:{bd}:station:64', 'x', 'bull:{cuewire}deliver:id', '7', 'other', 'kept')
  const env = { DATABASE_URL: empty.url, REDIS_URL: redisUrl, DATA_DIR: to }
  const refusals: [env: Environment, file: string, problem: string][] = [
    [env, otherKey, 'does not have the key of this backup'],
    [{ ...env, SECRETS_KEY: 'ab'.repeat(32) }, keyFile, 'SECRETS_KEY is set to another key'],
    [{ ...env, DATA_DIR: '/proc/nope' }, keyFile, 'DATA_DIR /proc/nope is not writable (ENOENT)']
  ]
  for (const [at, file, problem] of refusals)
    expect(await runRestore(at, '--secrets-key', file, archive)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(problem)
    })
  expect([await countRows(empty.sql), await readdir(to), await redis.dbsize()]).toEqual([{}, [], 3])
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
})

test('a backup under writes holds one moment', async ({ databaseUrl, sql, empty }) => {
  await seedStations(sql, { stations: 20, tracks: 50 })
  const done = new AbortController()
  const writing = (async () => {
    for (let n = 0; !done.signal.aborted; n++)
      await sql.begin(async tx => {
        await tx`insert into sftp_users (station_id, username) values (1, ${`s${n}`})`
        await tx`insert into webhooks (station_id, name, type) values (1, ${`s${n}`}, 'generic')`
      })
  })()
  const folder = await scratchFolder()
  const archive = join(folder, 'backup.tar.gz')
  expect(await runBackup({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, archive)).toMatchObject({ code: 0 })
  done.abort()
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
    ['text', Buffer.from('hello'), 'is damaged: it is not compressed with gzip'],
    ['not tar', gzipSync(Buffer.alloc(2_000, 'x')), 'is damaged: it is not a tar archive'],
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

test('a backup that was changed is refused in one line, and nothing of it is restored', async ({
  databaseUrl,
  sql,
  empty
}) => {
  await seedStations(sql, { stations: 1, tracks: 2 })
  const folder = await scratchFolder()
  const good = join(folder, 'good.tar.gz')
  expect(await runBackup({ DATABASE_URL: databaseUrl, DATA_DIR: folder }, good)).toMatchObject({ code: 0 })
  const addEntry = (header: EditedArchive['entries'][number]['header']) => (archive: EditedArchive) =>
    void archive.entries.push({ header, content: Buffer.alloc(0) })
  const cases: [edit: (archive: EditedArchive) => void, problem: string][] = [
    [
      archive => setColumn(archive, 'playlists', 'station_id', '999'),
      'playlists.station_id is not accepted: '
    ],
    [archive => setColumn(archive, 'media', 'path', 'same.mp3'), 'media.station_id, path is not accepted: '],
    [archive => setColumn(archive, 'stations', 'queue_length', '99'), 'the table stations'],
    [archive => setColumn(archive, 'stations', 'queue_length', 'many'), 'the table stations'],
    [archive => setColumn(archive, 'stations', 'unknown', '1'), 'the column stations.unknown'],
    [
      addEntry({ name: 'data/stations/1/media/x', type: 'symlink', linkname: '/etc' }),
      'is a link or a device'
    ],
    [addEntry({ name: 'data/stations/../../x' }), 'is no path of a file'],
    [addEntry({ name: 'etc/passwd' }), 'does not belong to it']
  ]
  const env = { DATABASE_URL: empty.url, DATA_DIR: folder }
  for (const [edit, problem] of cases) {
    const result = await runRestore(env, await editArchive(good, join(folder, 'edited.tar.gz'), edit))
    const [last = ''] = result.stderr.trimEnd().split('\n').slice(-1)
    expect([result.code, last]).toEqual([1, expect.stringContaining(problem)])
    expect(result.stderr).not.toMatch(/\n +at /)
  }
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
  expect(await migrateSchema(empty.sql)).toEqual([])

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

test('a move copies everything to an empty database, but not while Cuewire writes', async ({
  databaseUrl,
  sql,
  empty
}) => {
  await seedStations(sql, { stations: 2, tracks: 4 })
  await sql`update stations set epoch = 'kept'`
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: await scratchFolder() }
  const workers = openSql(databaseUrl, { max: 1, name: 'workers' })
  await workers`select 1`
  expect(await runMove(env, '--to', empty.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the database is in use (cuewire workers)')
  })
  await workers.end({ timeout: 1 })
  expect(await runMove(env, '--to', empty.url)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('without differences')
  })
  expect(await hashRows(empty.sql)).toEqual(await hashRows(sql))
  expect([...(await empty.sql`select distinct epoch from stations`)]).toEqual([{ epoch: 'kept' }])
  expect(await runMove(env, '--to', empty.url)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/the database is not empty .*: use an empty one\n$/)
  })
})

test('a restore without the key or some files exits with 2, and credentials without a key can be removed', async ({
  databaseUrl,
  sql,
  empty
}) => {
  const from = await scratchFolder()
  const to = await scratchFolder()
  const config = { ...parseConfig({}), DATA_DIR: from }
  const secrets = await openDatabaseSecrets(sql, config)
  const [station] = await seedStations(sql, { stations: 1, tracks: 1 })
  const stationId = station?.id ?? 0
  const song = join(from, 'outside.mp3')
  await writeFile(song, 'audio')
  await sql`update media set path = ${song} where station_id = ${stationId}`
  await sql`update stations set short_name = 'sealed', source_password = ${secrets.seal('hush', 'x')} where id = ${stationId}`
  const hookConfig = [
    { key: 'webhook_url', value: 'https://example.com' },
    { key: 'basic_auth_password', value: secrets.seal('hush', 'x') }
  ]
  await sql`insert into webhooks (station_id, name, type, config, former_secret) values
    (${stationId}, 'hook', 'generic', ${sql.json(hookConfig)}, ${secrets.seal('hush', 'x')})`
  const archive = join(from, 'backup.tar.gz')
  expect(await runBackup({ DATABASE_URL: databaseUrl, DATA_DIR: from }, '--media', archive)).toMatchObject({
    code: 0
  })
  const env = { DATABASE_URL: empty.url, DATA_DIR: to }
  const restored = await runRestore(env, archive)
  expect(restored).toMatchObject({ code: 2, stdout: expect.stringContaining(`STORAGE_ROOTS: ${song}`) })
  expect(restored.stdout).toContain('cannot be decrypted')

  const there = { ...config, DATA_DIR: to }
  await expect(openDatabaseSecrets(empty.sql, there)).rejects.toThrow('npm run forget-credentials')
  const listed = `  stations ${stationId} (sealed): source_password\n  webhooks 1 (sealed hook): basic_auth_password\n`
  const forget = (...args: string[]) => run(env, 'forget-credentials', ...args)
  expect(await forget()).toMatchObject({ code: 1, stdout: expect.stringContaining(listed) })
  await expect(openDatabaseSecrets(empty.sql, there)).rejects.toThrow('npm run forget-credentials')
  expect(await forget('--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining(listed) })
  expect([...(await empty.sql`select source_password from stations`)]).toEqual([{ source_password: '' }])
  expect([...(await empty.sql`select config, former_secret, is_enabled from webhooks`)]).toEqual([
    {
      config: [hookConfig[0], { key: 'basic_auth_password', value: '' }],
      former_secret: null,
      is_enabled: false
    }
  ])
  await openDatabaseSecrets(empty.sql, there)
  expect(await forget('--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('can be decrypted with the key here')
  })
})

test('an exported station is imported with new ids and without credentials, and plays on', async ({
  databaseUrl,
  sql,
  program
}) => {
  const folder = await scratchFolder()
  await seedStations(sql, { stations: 1, tracks: 2 })
  const [station] = await seedStations(sql, { stations: 1, tracks: 4 })
  const stationId = station?.id ?? 0
  await repeatSecondSong(sql, stationId)
  // Paths of songs have no other schemes than those of URLs.
  await sql`update media set path = replace(path, ':', '/') where station_id = ${stationId}`
  const [field] = await sql<{ id: number }[]>`
    insert into custom_fields (name, short_name) values ('Mood', 'mood_of_backup') returning id`
  await sql`
    update stations set name = ${oddName}, description = ${odd}, short_name = 'exported', source_password = 'v1.secretsecretsecretsecretsecretsecret'
    where id = ${stationId}`
  await sql`insert into media_custom_fields (media_id, field_id, value)
    select id, ${field?.id ?? 0}, 'calm' from media where station_id = ${stationId}`
  await sql`update media set artists = '{Alpha,"Beta, The"}', artists_for = artist where station_id = ${stationId}`
  await sql`update playlists set schedule_items = '[{"id": 7, "start_time": 0, "end_time": 0, "days": []}]' where station_id = ${stationId}`
  await sql`insert into song_history (station_id, media_id, song_id, started_at_ms, ended_at_ms)
    select station_id, id, song_id, 1000 * id, 1000 * id + 500 from media where station_id = ${stationId}`
  const sealed = `v1.${'s'.repeat(60)}`
  await sql`insert into webhooks (station_id, name, type, config) values
    (${stationId}, 'sealed', 'generic', ${sql.json([{ key: 'basic_auth_password', value: sealed }])}),
    (${stationId}, 'plain', 'generic', ${sql.json([{ key: 'webhook_url', value: 'https://example.com' }])})`
  const song = join('stations', String(stationId), 'media', 'song.mp3')
  await mkdir(join(folder, song, '..'), { recursive: true })
  await writeFile(join(folder, song), 'audio')
  // As `npm run import` leaves it.
  const imported = join(folder, "somebody's music", 'tune.mp3')
  await mkdir(join(imported, '..'))
  await writeFile(imported, 'a tune')
  await sql`
    update media set path = ${imported} where id = (select min(id) from media where station_id = ${stationId})`

  // Folders of the library are below that of the station, and outside.
  const stationFolder = join(folder, 'stations', String(stationId), 'media')
  await sql`
    insert into playlist_folders (playlist_id, path)
    select id, unnest(array['Jazz', ${`${stationFolder}/Rock`}]) from playlists where station_id = ${stationId}`
  await sql`
    update playlist_tracks t set is_from_folder = true from media m
    where m.id = t.media_id and m.station_id = ${stationId} and m.path in (${imported}, 'test/2')`

  const file = join(folder, 'station.tar.gz')
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: folder }
  expect(await run(env, 'export-station', '--media', 'exported', file)).toMatchObject({ code: 0 })
  expect(gunzipSync(await readFile(file)).includes('v1.s')).toBe(false)
  expect(await run(env, 'import-station', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`the short name exported belongs to station ${stationId}`)
  })
  expect(await runRestore(env, '--replace', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('export of one station')
  })

  const there = { DATABASE_URL: databaseUrlOf(program.sql), DATA_DIR: folder }
  const shortName = `imported_${randomBytes(4).toString('hex')}`
  expect(await run(there, 'import-station', '--short-name', shortName, file)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/with 2 files\.\n1 web hooks are disabled/)
  })
  const values = await program.sql`
    with removed as (delete from custom_fields where short_name = 'mood_of_backup' returning id)
    select v.value from removed r join media_custom_fields v on v.field_id = r.id join media m on m.id = v.media_id`
  expect(values.map(({ value }) => value)).toEqual(Array(4).fill('calm'))
  const playing = await waitFor(
    async () => {
      const { status, body } = await program.ask('GET', `/api/nowplaying/${shortName}`)
      return status === 200 && body.now_playing?.song.title ? body : null
    },
    { deadlineMs: 15_000, what: 'the imported station to play' }
  )
  expect(playing.station).toMatchObject({ name: oddName, description: odd })
  const { id } = playing.station
  const artists =
    await program.sql`select distinct artists, artists_for = artist as fits from media where station_id = ${id}`
  expect([...artists]).toEqual([{ artists: ['Alpha', 'Beta, The'], fits: true }])
  const media = join(folder, 'stations', String(id), 'media')
  expect(await readFile(join(media, 'song.mp3'), 'utf8')).toBe('audio')
  const [tune] = await program.sql<{ path: string }[]>`
    select path from media where station_id = ${id} and path like 'imported/%'`
  expect(tune?.path).toMatch(/^imported\/[0-9a-f]{12}-tune\.mp3$/)
  expect(await readFile(join(media, tune?.path ?? ''), 'utf8')).toBe('a tune')
  expect([
    ...(await program.sql`select name, is_enabled from webhooks where station_id = ${id} order by name`)
  ]).toEqual([
    { name: 'plain', is_enabled: true },
    { name: 'sealed', is_enabled: false }
  ])
  const [folders] = await program.sql`
    select array_agg(f.path order by f.path) as paths, (
        select array_agg(m.path) from playlist_tracks t join media m on m.id = t.media_id
        where m.station_id = ${id} and t.is_from_folder) as songs
    from playlists p join playlist_folders f on f.playlist_id = p.id where p.station_id = ${id}`
  expect(folders).toEqual({ paths: ['Jazz', 'Rock'], songs: ['test/2'] })
  const [entries] = await program.sql`
    select array_agg(m.path order by t.position) as paths from playlist_entries t join media m on m.id = t.media_id
    where m.station_id = ${id}`
  const [exported] = await sql`
    select array_agg(m.path order by t.position) as paths from playlist_entries t join media m on m.id = t.media_id
    where m.station_id = ${stationId}`
  expect(entries?.['paths']).toHaveLength(6)
  expect(entries?.['paths'].slice(1)).toEqual(exported?.['paths'].slice(1))
  const [rows] = await program.sql`
    select count(*) as plays, count(h.media_id) as songs from song_history h join media m on m.id = h.media_id
    where h.station_id = ${id} and m.station_id = ${id} and h.ended_at_ms < 1000000000`
  expect(rows).toEqual({ plays: 4, songs: 4 })
})

test('scheduled backups are written once, to a folder or a storage location, the oldest are removed, and a failure is an alert', async ({
  databaseUrl,
  sql
}) => {
  const folder = await scratchFolder()
  const deps = {
    sql,
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, DATA_DIR: folder },
    openFiles: async () => openLocalFiles(folder),
    signal: AbortSignal.timeout(60_000)
  }
  const to = (BACKUP_STORAGE: string) => ({
    ...deps,
    config: { BACKUP_STORAGE, BACKUP_KEEP: 1, DATA_DIR: join(folder, 'data') }
  })
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 26, 3, minute))
  await writeFile(join(folder, 'cuewire-20261125-0300.tar.gz'), 'an old one')
  await writeFile(join(folder, 'other.tar.gz'), 'of somebody else')
  const runs = await Promise.all([
    runScheduledBackup(to(folder), at(0)),
    runScheduledBackup(to(folder), at(0))
  ])
  expect(runs.filter(name => name !== null)).toEqual(['cuewire-20261126-0300.tar.gz'])
  const names = async () => (await readdir(folder)).filter(name => name.endsWith('.gz')).toSorted()
  expect(await names()).toEqual(['cuewire-20261126-0300.tar.gz', 'other.tar.gz'])

  await expect(runScheduledBackup(to(join(folder, 'none')), at(1))).rejects.toThrow(
    'cannot be written (ENOENT)'
  )
  const alerts = () => sql`select title, type, source from notifications order by title`
  expect([...(await alerts())]).toEqual([
    { title: 'The scheduled backup failed', type: 'danger', source: 'storage' }
  ])
  for (const minute of [2, 3]) await runScheduledBackup(to('1'), at(minute))
  expect(await readdir(join(folder, 'backups'))).toEqual(['cuewire-20261126-0303.tar.gz'])
  expect(await readdir(join(folder, 'data', 'backups'))).toEqual([])
  expect([...(await sql`select fact from open_facts`)]).toEqual([])
})

test('a fault in the middle is the error that is reported, and a restore that it ends leaves nothing', async ({
  sql,
  empty
}) => {
  await seedStations(sql, { stations: 1, tracks: 2_000 })
  const options = { media: 'by reference', signal: AbortSignal.timeout(30_000), onRows: () => {} } as const
  let header = ''
  const full: ArchiveWriter = {
    addText: async (path, content) => {
      if (path === 'backup.json') header = String(content)
      else if (path.startsWith('tables/media/')) throw new Error('the disk is full')
    },
    addFile: async () => null,
    finish: async () => {}
  }
  const pool = openSql(databaseUrlOf(sql), { max: 1, name: 'test' })
  await expect(dumpTables(pool, full, options)).rejects.toThrow('the disk is full')
  await pool.end({ timeout: 0 })

  const restoring = restoreTables(
    empty.sql,
    parseBackupHeader(header),
    async sink => {
      await sink('custom_fields', Buffer.from('7\tMood\tmood\t\n'))
      throw new Error('the archive has gone')
    },
    { ifNotEmpty: 'refuse', resetLiveStates: true, onRows: () => {}, onIndexes: () => {} }
  )
  await expect(restoring).rejects.toThrow('the archive has gone')
  expect(await countRows(empty.sql)).toEqual({})
})
