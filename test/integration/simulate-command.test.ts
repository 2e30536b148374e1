import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import * as v from 'valibot'
import { expect } from 'vitest'

import { simulateCommand } from '../../src/commands/simulate/command.ts'
import { advance } from '../../src/engine/advance.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { writeRunningServices } from '../../src/stores/embedded/data-dir.ts'
import { processRunner, commandRunner } from '../support/command.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStation, seedStations } from '../support/stations.ts'
import { isDeep, sized } from '../support/tier.ts'

const program = 'src/commands/simulate/main.ts'
const runProcess = processRunner(program)
const run = commandRunner(program, simulateCommand)

const written = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    station: v.string(),
    timezone: v.string(),
    seed: v.number(),
    fromMs: v.number(),
    untilMs: v.number(),
    aims: v.array(v.object({ name: v.string(), isMet: v.boolean() })),
    plays: v.array(
      v.object({
        startsAtMs: v.number(),
        playlist: v.string(),
        song: v.string(),
        play: v.nullable(v.object({ mediaId: v.nullable(v.number()), trackId: v.nullable(v.number()) }))
      })
    )
  })
)

const readWritten = async (file: string) => v.parse(written, await readFile(file, 'utf8'))

/** All tables that a step of the engine could change. */
async function factsOf(sql: Sql) {
  const [facts] = await sql`
    select (select json_agg(q order by id) from queue q) as queue, (select json_agg(h order by id) from song_history h) as plays,
      (select json_agg(t order by id) from playlist_tracks t) as tracks, (select json_agg(p order by id) from playlists p) as playlists,
      (select json_agg(s order by id) from stations s) as stations, (select json_agg(r order by id) from requests r) as requests`
  return facts
}

test('a simulation continues from the current play and queue of a station, and changes nothing', async ({
  sql,
  databaseUrl,
  redisUrl
}) => {
  const stationId = await seedStation(sql, {
    tracks: 40,
    queueLength: 4,
    songMs: sized({ quick: 1_200_000, deep: 180_000 })
  })
  await sql`update stations set name = 'Harbour FM', short_name = 'harbour_fm', timezone = 'Asia/Kathmandu'`
  {
    await using playout = await openPlayout(sql, redisUrl)
    await advance(playout, { stationId, endedShId: 0, cause: 'wake' })
  }
  const queue = await sql<{ title: string; atMs: number }[]>`
    select m.title, plays_at_ms as "atMs" from queue q join media m on m.id = q.media_id
    where played_at_ms is null order by q.position`
  const before = await factsOf(sql)
  const folder = await scratchFolder()
  const files = ['--svg', 'days.svg', '--json', 'days.json']
  const env = { DATABASE_URL: databaseUrl, INIT_CWD: folder }
  const days = sized({ quick: 1, deep: 2 })
  const args = ['--station', 'harbour_fm', '--days', String(days), ...files, '--log']
  const { code, stdout, stderr } = await runProcess(env, ...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('Harbour FM, Asia/Kathmandu, seed ')
  expect(stdout).toContain('tier 1 of pass 1')
  expect(stdout.endsWith('All aims are met.\n')).toBe(true)
  expect(await factsOf(sql)).toEqual(before)

  const { plays, fromMs, untilMs } = await readWritten(join(folder, 'days.json'))
  expect(untilMs - fromMs).toBe(days * 24 * 3_600_000)
  expect(queue).toHaveLength(4)
  expect(plays.slice(0, 4).map(each => [each.song.split(' - ')[1], each.startsAtMs])).toEqual(
    queue.map(({ title, atMs }) => [title, atMs])
  )
  // A pass of forty tracks: one was on air, four were queued.
  expect(new Set(plays.slice(0, 39).map(each => each.play?.mediaId)).size).toBe(39)
  const svg = await readFile(join(folder, 'days.svg'), 'utf8')
  expect(svg).toContain('Harbour FM: ')
})

test('date, time zone and seed override those of the station, which may be disabled', async ({
  sql,
  databaseUrl
}) => {
  const stationId = await seedStation(sql, { tracks: 60, songMs: sized({ quick: 600_000, deep: 240_000 }) })
  await sql`insert into playlists (station_id, name, schedule_items) select ${stationId}, 'Late show',
    ${sql.json([{ id: 1, start_time: 2300, end_time: 100, start_date: '', end_date: '', days: [6], loop_once: false }])}`
  await sql`
    insert into playlist_tracks (playlist_id, media_id, position)
    select p.id, m.id, m.id from playlists p, media m where p.name = 'Late show'`
  await sql`update stations set is_enabled = false`
  const folder = await scratchFolder()
  const json = join(folder, 'day.json')
  const args = ['--station', String(stationId), '--days', '2', '--from', '2026-03-28', '--json', json]
  const env = { DATABASE_URL: databaseUrl }
  const { code, stdout } = await run(env, ...args, '--timezone', 'Europe/Berlin', '--seed', '5')
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Sat 2026-03-28 23:00:00  Late show')
  })
  const first = await readWritten(json)
  expect(first).toMatchObject({ timezone: 'Europe/Berlin', seed: 5, fromMs: Date.UTC(2026, 2, 27, 23) })
  // The clock jumps in the second night.
  expect(first.untilMs - first.fromMs).toBe(47 * 3_600_000)
  const late = first.plays.filter(({ playlist }) => playlist === 'Late show')
  expect(late).toHaveLength(sized({ quick: 12, deep: 30 }))
  expect(late[0]?.startsAtMs).toBe(Date.UTC(2026, 2, 28, 22))

  if (isDeep) {
    await run(env, ...args, '--timezone', 'Europe/Berlin', '--seed', '5')
    expect(await readWritten(json)).toEqual(first)
    await run(env, ...args, '--timezone', 'Europe/Berlin', '--seed', '6')
    expect((await readWritten(json)).plays).not.toEqual(first.plays)
  }
})

test('a missed aim results in exit code 1 and is named in the last line', async ({ sql, databaseUrl }) => {
  const stationId = await seedStation(sql, { songMs: 1_200_000 })
  await sql`insert into playlists (station_id, name, schedule_items) select ${stationId}, 'Nothing in it',
    ${sql.json([{ id: 1, start_time: 900, end_time: 1000, start_date: '', end_date: '', days: [], loop_once: false }])}`
  const missed = await run(
    { DATABASE_URL: databaseUrl },
    '--station',
    String(stationId),
    '--days',
    '1',
    '--from',
    '2026-01-12'
  )
  expect(missed).toMatchObject({ code: 1, stderr: '' })
  expect(missed.stdout).toMatch(/09:00:00 {2}Nothing in it +never +Rotation\n/)
  expect(missed.stdout.endsWith('\nMISSED: programs start when the current track ends.\n')).toBe(true)
})

test('without DATABASE_URL the database of the Cuewire running in DATA_DIR is used, if any', async ({
  sql,
  databaseUrl
}) => {
  const folder = await scratchFolder()
  const stationId = await seedStation(sql, { songMs: 1_200_000 })
  const env = { DATA_DIR: folder }
  const args = ['--station', String(stationId), '--days', '1']
  expect(await run(env, ...args)).toEqual({
    code: 2,
    stdout: '',
    stderr: 'Cuewire is not running here: run npm start, or set DATABASE_URL to its database\n'
  })
  await writeRunningServices(folder, { databaseUrl, redisUrl: 'redis://127.0.0.1:1' })
  expect(await run(env, ...args)).toMatchObject({
    stdout: expect.stringContaining('Station 1, UTC'),
    stderr: ''
  })
})

test('an error is one line on stderr, with exit code 2', async ({ sql, databaseUrl }) => {
  await seedStations(sql, { stations: 2 })
  const [first, second] = await sql<{ name: string }[]>`select short_name as name from stations order by id`
  expect(await faultOf(databaseUrl, 'other')).toBe(
    `there is no station "other"; known: ${first?.name}, ${second?.name}`
  )
  const away = await run({ DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' }, '--station', 'demo')
  expect(away).toMatchObject({ code: 2, stdout: '' })
  expect(away.stderr).toMatch(/^Postgres does not answer at DATABASE_URL \(.*ECONNREFUSED/)
  expect(away.stderr).not.toContain('secret')
  const nowhere = await run({}, '--days', '1', '--svg', '/nowhere at all/a.svg')
  expect(nowhere).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^cannot write "\/nowhere at all\/a.svg": ENOENT/)
  })
  await sql`alter table stations drop column max_overrun`
  expect(await faultOf(databaseUrl, first?.name ?? '')).toBe(
    'the database belongs to another version of Cuewire: start this one on it first'
  )
})

/** Returns the error of a simulation that fails. */
async function faultOf(databaseUrl: string, name: string): Promise<string> {
  const { code, stdout, stderr } = await run({ DATABASE_URL: databaseUrl }, '--station', name)
  if (code !== 2 || stdout !== '') throw new Error(`exit code ${code}: ${stdout}`)
  return stderr.trimEnd()
}

test('all mistakes of the command line are reported at once, with exit code 2', async () => {
  expect(await run({}, '--days', 'x', '--bogus')).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'unknown option --bogus\n--days must be a number from 1 to 31 (got "x")\nnpm run simulate -- --help lists the options\n'
  })
})

test('--help lists the options', async () => {
  expect(await run({}, '--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('--timezone'),
    stderr: ''
  })
})
