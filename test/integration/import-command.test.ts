import { spawn } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect } from 'vitest'

import { importCommand } from '../../src/commands/import/import-command.ts'
import { insertStation } from '../../src/stores/db/stations.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { copyClusterInto } from '../support/cluster.ts'
import { processRunner, commandRunner } from '../support/command.ts'
import { wordsFor } from '../support/compiled-program.ts'
import { test } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { isDeep } from '../support/tier.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = 'src/commands/import/main.ts'
const runProcess = processRunner(program)
const run = commandRunner(program, call => importCommand(call, AbortSignal.timeout(60_000)))

test('the first import creates the station, the second finds nothing new', async ({ databaseUrl, sql }) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'a.mp3'), mp3({ TIT2: 'A' }))
  await writeFile(join(folder, 'b.mp3'), 'text')
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: await scratchFolder(), INIT_CWD: folder }
  const args = ['--station', 'demo', '--playlist', 'Rotation', '.']
  expect(await runProcess(env, ...args)).toEqual({
    code: 0,
    stdout: `skipped ${folder}/b.mp3: it is not audio\n2 found: 1 added, 0 updated, 0 unchanged, 1 skipped\n`,
    stderr: ''
  })
  expect(await run(env, ...args)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 unchanged') })
  const stations = await sql`
    select stations.short_name, hls_streams.name as path, playlists.name as playlist, media.title
    from stations join hls_streams on hls_streams.station_id = stations.id
    join playlists on playlists.station_id = stations.id
    join playlist_tracks on playlist_id = playlists.id join media on media.id = media_id`
  expect([...stations]).toEqual([
    { short_name: 'demo', path: '/radio.mp3', playlist: 'Rotation', title: 'A' }
  ])
})

test('a station is found by id or short name; an unknown one requires --create', async ({
  databaseUrl,
  sql
}) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, 'a.mp3'), mp3())
  const id = await insertStation(sql, { shortName: 'harbour', name: 'Harbour FM' })
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: await scratchFolder() }
  expect(await run(env, '--station', String(id), '--playlist', 'P', folder)).toMatchObject({ code: 0 })
  expect(await run(env, '--station', 'harbour', '--playlist', 'P', folder)).toMatchObject({ code: 0 })
  expect(await run(env, '--station', 'other', '--playlist', 'P', folder)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'there is no station "other"; known: harbour (--create makes a new one)\n'
  })
  const odd = await run(env, '--station', '77', '--create', '--playlist', 'P', folder)
  expect(odd).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be a short name') })
  expect(await run(env, '--station', 'other', '--create', '--playlist', 'P', folder)).toMatchObject({
    code: 0
  })
  const [media] = await sql`select count(*) as count, count(distinct station_id) as stations from media`
  expect(media).toEqual({ count: 2, stations: 2 })
})

test('without usable files the exit code is 1', async ({ databaseUrl }) => {
  const folder = await scratchFolder()
  await mkdir(join(folder, 'empty'))
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: await scratchFolder() }
  expect(await run(env, '--station', 'demo', '--playlist', 'P', folder)).toEqual({
    code: 1,
    stdout: '0 found: 0 added, 0 updated, 0 unchanged, 0 skipped\n',
    stderr: ''
  })
})

test('an error is one line on stderr and writes nothing', async ({ databaseUrl, sql }) => {
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: await scratchFolder() }
  const missing = await run(env, '--station', 'demo', '--playlist', 'P', '/nowhere at all')
  expect(missing).toEqual({
    code: 1,
    stdout: '',
    stderr: 'cannot read "/nowhere at all": it does not exist\n'
  })
  expect([...(await sql`select * from stations`)]).toEqual([])
  const away = { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' }
  const refused = await run(away, '--station', 'demo', '--playlist', 'P', root)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/^Postgres does not answer at DATABASE_URL \(.*ECONNREFUSED.*\n$/)
  expect(refused.stderr).not.toContain('secret')
  expect(await run(env, '--bogus')).toMatchObject({ code: 1, stderr: expect.stringContaining('; usage: ') })
  const help = await run(env, '--help')
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('--playlist') })
})

test('Ctrl-C ends after a batch, with a summary and exit code 130', async ({ databaseUrl, sql }) => {
  const folder = await scratchFolder()
  await writeFile(join(folder, '0.mp3'), 'text')
  for (let i = 1; i < 400; i += 1) await writeFile(join(folder, `${i}.mp3`), mp3({ TIT2: String(i) }))
  const words = [...wordsFor(program), '--station', 'demo', '--playlist', 'P', folder]
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, DATA_DIR: await scratchFolder() }
  const child = spawn(process.execPath, words, { cwd: root, env })
  let output = ''
  // The first line is the skipped first file: the import is running.
  child.stdout.on('data', (data: Buffer) => {
    if (output === '') child.kill('SIGINT')
    output += data.toString()
  })
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  expect(code).toBe(130)
  expect(output).toMatch(/\ninterrupted; \d00 found: /)
  const [rows] =
    await sql`select (select count(*) from media) as media, count(*) as tracks from playlist_tracks`
  expect(rows?.['media']).toBe(rows?.['tracks'])
  expect(Number(rows?.['media']) % 100).toBe(99)
})

// In the quick tier, a test of the simulation finds a database in the same way.
test.runIf(isDeep)(
  'without DATABASE_URL the Postgres of DATA_DIR is started for the import',
  async () => {
    const folder = await scratchFolder()
    await chmod(folder, 0o755)
    await writeFile(join(folder, 'a.mp3'), mp3())
    const env = { DATA_DIR: join(folder, 'data') }
    await mkdir(env.DATA_DIR)
    await copyClusterInto(env.DATA_DIR)
    const args = ['--station', 'demo', '--playlist', 'P', folder]
    const stderr = expect.stringContaining(
      `No Cuewire runs with ${env.DATA_DIR}, and DATABASE_URL is not set`
    )
    expect(await run(env, ...args)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 added'),
      stderr
    })
    expect(await run(env, ...args)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 unchanged') })
  },
  90_000
)
