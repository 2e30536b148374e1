import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { doctorCommand } from '../../src/commands/doctor/doctor-command.ts'
import { importCommand } from '../../src/commands/import/import-command.ts'
import { importMedia } from '../../src/commands/import/import.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { commandRunner } from '../support/command.ts'
import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey } from '../support/program.ts'
import { startS3 } from '../support/s3.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStation } from '../support/stations.ts'
import { serveUploads } from '../support/upload-server.ts'

const command = commandRunner('src/commands/import/main.ts', call =>
  importCommand(call, AbortSignal.timeout(60_000))
)

const examine = commandRunner('src/commands/doctor/main.ts', doctorCommand)

/** A station with an empty media folder, and a folder of music elsewhere, named `Music`. */
async function open({ sql, redisUrl, databaseUrl }: { sql: Sql; redisUrl: string; databaseUrl: string }) {
  const server = await serveUploads(sql, redisUrl)
  const music = join(await scratchFolder(), 'Music')
  await mkdir(join(music, 'Jazz'), { recursive: true })
  await writeFile(join(music, 'a.mp3'), mp3({ TIT2: 'A' }))
  await writeFile(join(music, 'Jazz', 'b.mp3'), mp3({ TIT2: 'B' }))
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: server.dataDir }
  const run = (...args: string[]) => command(env, ...args)
  const add = (...paths: string[]) => run('--station', String(server.id), '--playlist', 'All', ...paths)
  const rows = () => sql<{ id: number; path: string; title: string }[]>`
    select id, path, title from media where station_id = ${server.id} order by path collate "C"`
  const paths = async () => (await rows()).map(({ path }) => path)
  const doctor = async () =>
    (await examine({ ...env, REDIS_URL: redisUrl, BASE_URL: server.base, SECRETS_KEY: '' })).stdout
  return {
    ...server,
    doctor,
    music,
    run,
    add,
    rows,
    paths,
    place: { stationId: server.id, playlistName: 'All' }
  }
}

const idsOf = (rows: readonly { id: number }[]) => new Set(rows.map(({ id }) => id))

/** Answers of the dashboard's requests for a song: its audio, and the folders at the top. */
async function askFor(stage: Awaited<ReturnType<typeof open>>, id: number) {
  const audio = await fetch(`${stage.base}/api/station/${stage.id}/file/${id}/play`, {
    headers: { 'X-API-Key': stage.key }
  })
  const bytes = Buffer.from(await audio.arrayBuffer())
  const { body } = await stage.ask('GET', '/files/list?currentDirectory=')
  return { status: audio.status, bytes, top: body.rows.map(({ path }: { path: string }) => path) }
}

test('imported songs are copies in the media storage, which are played and browsed; the files stay', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const stage = await open({ sql, redisUrl, databaseUrl })
  const { add, music, rows, paths, media } = stage
  expect(await add(music)).toMatchObject({ code: 0, stderr: '' })
  expect(await paths()).toEqual(['Music/Jazz/b.mp3', 'Music/a.mp3'])
  const [b = { id: 0 }] = await rows()
  const original = await readFile(join(music, 'Jazz', 'b.mp3'))
  expect(await askFor(stage, b.id)).toEqual({ status: 200, bytes: original, top: ['Music'] })

  const before = await sql`select xmin::text, * from media order by id`
  expect((await add(`${music}/`)).stdout).toContain('0 added, 0 updated, 2 unchanged')
  expect((await add(join(music, '..', 'Music', 'a.mp3'))).stdout).toContain('1 unchanged')
  expect(await sql`select xmin::text, * from media order by id`).toEqual(before)

  // A copy is not a second name of the file: changes of one do not reach the other.
  await writeFile(join(media, 'Music', 'Jazz', 'b.mp3'), 'x')
  expect(await readFile(join(music, 'Jazz', 'b.mp3'))).toEqual(original)
  await stage.ask('DELETE', `/file/${b.id}`)
  expect(await readdir(join(music, 'Jazz'))).toEqual(['b.mp3'])
})

test('a copy that was moved is the same song, and follows its file', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const { add, music, rows, paths, media, askJson } = await open({ sql, redisUrl, databaseUrl })
  await add(music)
  const before = await rows()
  const moved = await askJson('PUT', '/files/rename', { file: 'Music/a.mp3', newPath: 'Pop/first.mp3' })
  expect(moved.status).toBe(200)
  const changed = mp3({ TIT2: 'Changed' }, 80)
  await writeFile(join(music, 'a.mp3'), changed)
  expect((await add(music)).stdout).toContain('0 added, 1 updated, 1 unchanged')
  expect(await paths()).toEqual(['Music/Jazz/b.mp3', 'Pop/first.mp3'])
  expect(idsOf(await rows())).toEqual(idsOf(before))
  expect(await readFile(join(media, 'Pop', 'first.mp3'))).toEqual(changed)
})

test('files of one name from several folders are several songs, and no file is replaced', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const { add, music, paths, media } = await open({ sql, redisUrl, databaseUrl })
  const other = join(await scratchFolder(), 'Music')
  await mkdir(other)
  await writeFile(join(other, 'a.mp3'), mp3({ TIT2: 'Other A' }, 90))
  await mkdir(join(media, 'Music'), { recursive: true })
  await writeFile(join(media, 'Music', 'a.mp3'), 'by hand')
  await add(music, other)
  expect(await paths()).toEqual(['Music/Jazz/b.mp3', 'Music/a (2).mp3', 'Music/a (3).mp3'])
  expect(await readFile(join(media, 'Music', 'a.mp3'), 'utf8')).toBe('by hand')
})

test('a file of the same size and time with another content, or of another station, is not taken for the copy', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const { add, run, music, paths, media } = await open({ sql, redisUrl, databaseUrl })
  const time = new Date(1_620_172_800_000)
  const dated = async (path: string, title: string) => {
    await writeFile(path, mp3({ TIT2: title }))
    await utimes(path, time, time)
  }
  await dated(join(music, 'a.mp3'), 'One')
  await mkdir(join(media, 'Music'), { recursive: true })
  await dated(join(media, 'Music', 'a.mp3'), 'Two')
  await add(music)
  expect(await paths()).toEqual(['Music/Jazz/b.mp3', 'Music/a (2).mp3'])
  expect(await readFile(join(media, 'Music', 'a (2).mp3'))).toEqual(mp3({ TIT2: 'One' }))
  const [location] = await sql<{ id: number }[]>`
    insert into storage_locations (type, adapter, path) values ('station_media', 'local', ${media}) returning id`
  await sql`update stations set media_storage_location_id = ${location?.id ?? 0}`
  const other = await seedStation(sql)
  await sql`update stations set media_storage_location_id = ${location?.id ?? 0} where id = ${other}`
  await run('--station', String(other), '--playlist', 'All', join(music, 'Jazz'), music)
  const stored = await sql<{ path: string }[]>`
    select path from media where station_id = ${other} and path like '%b%.mp3' order by path`
  expect(stored.map(({ path }) => path)).not.toContain('Music/Jazz/b.mp3')
  expect((await run('--take-in', '--station', 'nosuch')).stderr).toContain('there is no station "nosuch"')
})

test('an older file does not replace the copy without a word', async ({ sql, redisUrl, databaseUrl }) => {
  const { add, music, media } = await open({ sql, redisUrl, databaseUrl })
  await add(music)
  const before = await readFile(join(media, 'Music', 'a.mp3'))
  const path = join(music, 'a.mp3')
  await writeFile(path, mp3({ TIT2: 'Restored' }, 80))
  await utimes(path, new Date(0), new Date(1_000_000_000_000))
  const { stdout, stderr } = await add(music)
  expect(`${stdout}${stderr}`).toContain('its copy in the media storage is newer')
  expect(await readFile(join(media, 'Music', 'a.mp3'))).toEqual(before)
  await utimes(path, new Date(), new Date(Date.now() + 60_000))
  expect((await add(music)).stdout).toContain('1 updated')
  expect(await readFile(join(media, 'Music', 'a.mp3'))).not.toEqual(before)
})

test('a name of 255 bytes that is taken is shortened by whole characters', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const { add, music, paths } = await open({ sql, redisUrl, databaseUrl })
  const name = `${'\u00FC'.repeat(125)}x.mp3`
  const other = join(await scratchFolder(), 'Music')
  await mkdir(other)
  for (const [index, folder] of [music, other].entries())
    await writeFile(join(folder, name), mp3({ TIT2: `Long ${index}` }, 90 + index))
  expect(await add(music, other)).toMatchObject({ code: 0, stderr: '' })
  const shortened = `Music/${'\u00FC'.repeat(123)} (2).mp3`
  expect(await paths()).toEqual(expect.arrayContaining([`Music/${name}`, shortened]))
})

test('two commands at the same time take in each file once, and mix none up', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const { run, paths, media, place } = await open({ sql, redisUrl, databaseUrl })
  const folders: string[] = []
  for (let folder = 0; folder < 3; folder += 1) {
    const music = join(await scratchFolder(), 'Same')
    await mkdir(music)
    for (let n = 0; n < 20; n += 1)
      await writeFile(join(music, `${n}.mp3`), mp3({ TIT2: `${folder} ${n}` }, 40 + folder))
    folders.push(music)
  }
  await importMedia(sql, { ...place, paths: folders })
  const results = await Promise.all([run('--take-in'), run('--take-in'), run('--take-in')])
  // What another one was taking in at that moment is left to it.
  expect(results.map(({ stderr }) => stderr)).toEqual(['', '', ''])
  await run('--take-in')
  const songs = await sql<{ title: string; path: string; importedFrom: string }[]>`
    select title, path, imported_from as "importedFrom" from media order by id`
  expect(songs).toHaveLength(60)
  expect(new Set(await paths()).size).toBe(60)
  for (const { path, importedFrom } of songs)
    expect(await readFile(join(media, path))).toEqual(await readFile(importedFrom))
  expect(await sql`select from file_moves`).toHaveLength(0)
})

test('files in the media folder are not copied, and links and hidden folders get visible names', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const { add, music, paths, media } = await open({ sql, redisUrl, databaseUrl })
  await mkdir(join(media, 'Own'), { recursive: true })
  await writeFile(join(media, 'Own', 'c.mp3'), mp3({ TIT2: 'C' }))
  await add(media)
  expect(await paths()).toEqual(['Own/c.mp3'])
  const hidden = join(await scratchFolder(), '.hidden')
  await rename(join(music, 'Jazz'), hidden)
  await symlink(hidden, join(music, 'linked'))
  await add('--allow', hidden, music)
  expect(await paths()).toEqual(['Music/a.mp3', 'Own/c.mp3', '_hidden/b.mp3'])
})

test('songs of earlier imports are taken in by the command, as often as it is run', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const stage = await open({ sql, redisUrl, databaseUrl })
  const { run, add, music, rows, paths, media, place, playlistId, doctor } = stage
  await writeFile(join(music, 'gone.mp3'), mp3({ TIT2: 'Gone' }))
  await mkdir(join(media, 'Own'), { recursive: true })
  await writeFile(join(media, 'Own', 'c.mp3'), mp3({ TIT2: 'C' }))
  // As releases before did.
  await importMedia(sql, { ...place, paths: [music, media] })
  await sql`insert into playlist_folders (playlist_id, path) values (${playlistId}, ${join(music, 'Jazz')})`
  await rm(join(music, 'gone.mp3'))
  const before = await rows()
  expect(before.every(({ path }) => path.startsWith('/'))).toBe(true)
  const found = before.find(({ title }) => title === 'B') ?? { id: 0 }
  expect((await askFor(stage, found.id)).status).toBe(404)

  const dry = await run('--take-in', '--dry-run')
  expect(dry).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('4 songs outside of the media storage: 3 files')
  })
  expect(await rows()).toEqual(before)

  const advice = await doctor()
  expect(advice).toContain('4 of ')
  expect(advice).toContain('npm run import -- --take-in --dry-run')

  const first = await run('--take-in')
  expect(first).toMatchObject({ code: 1, stdout: expect.stringContaining('gone.mp3: it does not exist') })
  expect(first.stdout).toContain('3 taken in, 1 left')
  const taken = await rows()
  expect(idsOf(taken)).toEqual(idsOf(before))
  expect((await askFor(stage, found.id)).status).toBe(200)
  const inFolder = await sql`
    select m.title from playlist_tracks t join media m on m.id = t.media_id where t.playlist_id = ${playlistId}`
  expect([...inFolder]).toEqual([{ title: 'B' }])

  expect((await run('--take-in')).stdout).toContain('0 taken in, 1 left')
  expect(await rows()).toEqual(taken)
  expect((await add(music)).stdout).toContain('0 added, 0 updated, 2 unchanged')
  expect(await paths()).toContain('Own/c.mp3')
})

test('a copy whose song was not stored is used again, and a link in place of a file is not followed', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const { run, music, paths, media, place } = await open({ sql, redisUrl, databaseUrl })
  const time = new Date(1_700_000_000_500)
  await utimes(join(music, 'a.mp3'), time, time)
  await importMedia(sql, { ...place, paths: [music] })
  await mkdir(join(media, 'Music'), { recursive: true })
  await writeFile(join(media, 'Music', 'a.mp3'), await readFile(join(music, 'a.mp3')))
  await utimes(join(media, 'Music', 'a.mp3'), time, time)
  await rm(join(music, 'Jazz', 'b.mp3'))
  await symlink('/etc/passwd', join(music, 'Jazz', 'b.mp3'))
  expect((await run('--take-in')).stdout).toContain('a link has replaced a part of its path')
  expect(await paths()).toEqual([join(music, 'Jazz', 'b.mp3'), 'Music/a.mp3'])
})

test('without room or a media storage songs are imported where they are, and the command says why', async ({
  sql,
  redisUrl,
  databaseUrl
}) => {
  const { id, add, run, music, paths, media } = await open({ sql, redisUrl, databaseUrl })
  await sql`
    with location as (insert into storage_locations (type, adapter, path, storage_quota_bytes, used_bytes)
      values ('station_media', 'local', ${media}, 1000, 900) returning id)
    update stations set media_storage_location_id = location.id from location where stations.id = ${id}`
  await mkdir(media, { recursive: true })
  const full = await add(music)
  expect(full).toMatchObject({ code: 0, stderr: expect.stringMatching(/do not fit .* room for 100/) })
  expect(full.stderr).toContain('npm run import -- --take-in')
  await sql`update storage_locations set path = '/nowhere/music'`
  expect(await run('--take-in')).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be used') })
  expect(await paths()).toEqual([join(music, 'Jazz', 'b.mp3'), join(music, 'a.mp3')])
})

test.skipIf(whyWithout('chromium') !== null)(
  'the folders of songs that were not taken in are browsed in the dashboard',
  async ({ program, openPage }) => {
    const { id, document } = await startPlaying(program, { queueLength: 5 })
    const path = '/tmp/music of old/a.mp3'
    await program.sql`
      insert into media (station_id, unique_id, path, song_id, title, artist, duration_ms)
      values (${id}, ${`old-${id}`}, ${path}, md5('x'), 'Of old', '', 1000)`
    const page = await openPage({ viewport: { width: 1280, height: 800 } })
    await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
    await page.goto(`${program.baseUrl}/#/station/${document.station.shortcode}/media`)
    for (const name of ['tmp', 'music of old'])
      await page.getByRole('gridcell', { name }).dblclick({ timeout: 10_000 })
    await page.getByText('Of old', { exact: true }).first().waitFor({ timeout: 10_000 })
    expect(await page.getByText('Page not found').count()).toBe(0)
    await page.reload()
    await page.getByText('Of old', { exact: true }).first().waitFor({ timeout: 10_000 })
  }
)

test('files are copied into a bucket, and not twice', async ({ sql, redisUrl, databaseUrl }) => {
  await using s3 = await startS3()
  const stage = await open({ sql, redisUrl, databaseUrl })
  const { settings } = s3
  const response = await fetch(`${stage.base}/api/admin/storage_locations`, {
    method: 'POST',
    headers: { 'X-API-Key': stage.key, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      type: 'station_media',
      adapter: 's3',
      path: 'media',
      s3Bucket: settings.bucket,
      s3Endpoint: settings.endpoint,
      s3CredentialKey: settings.credentialKey,
      s3CredentialSecret: settings.credentialSecret
    })
  })
  const location = JSON.parse(await response.text())
  await sql`update stations set media_storage_location_id = ${location.id} where id = ${stage.id}`
  expect(await stage.add(stage.music)).toMatchObject({ code: 0, stderr: '' })
  expect(await stage.paths()).toEqual(['Music/Jazz/b.mp3', 'Music/a.mp3'])
  const [b = { id: 0 }] = await stage.rows()
  const original = await readFile(join(stage.music, 'Jazz', 'b.mp3'))
  expect(await askFor(stage, b.id)).toEqual({ status: 200, bytes: original, top: ['Music'] })
  expect((await stage.add(stage.music)).stdout).toContain('2 unchanged')
})
