import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

import * as v from 'valibot'
import { expect } from 'vitest'

import { simulateSchedule } from '../../src/api/playlists/simulate-schedule.ts'
import { runSimulationTask } from '../../src/api/playlists/simulation-task.ts'
import { simulateCommand } from '../../src/commands/simulate/command.ts'
import { parseDayNumber } from '../../src/model/autodj/time-zone.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { commandRunner } from '../support/command.ts'
import { test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStations } from '../support/stations.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

/** Few plays, so that simulations are fast. */
const slow = { songMs: 1_800_000 }

const run = commandRunner('src/commands/simulate/main.ts', simulateCommand)

async function seed(sql: Sql, shape: Parameters<typeof seedStations>[1]) {
  const [station] = await seedStations(sql, shape)
  if (!station) throw new Error('no station was made')
  return station
}

/** A key of its own, because a key has one simulation at a time. */
async function createKey({ ask }: Program): Promise<string> {
  const permissions = ['administer all']
  const { body } = await ask('POST', '/api/v1/main/api-keys', { body: { name: 'simulation', permissions } })
  return body.key
}

const reportSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    aims: v.array(v.object({ name: v.string(), measured: v.string(), isMet: v.boolean() })),
    totals: v.object({ plays: v.number(), playlists: v.array(v.object({ plays: v.number() })) }),
    plays: v.array(v.object({ startsAtMs: v.number() }))
  })
)

const request = (stationId: number) => ({
  stationId,
  nowMs: Date.UTC(2026, 2, 20),
  fromDay: parseDayNumber('2026-03-29'),
  days: 1,
  unsaved: []
})

test('the simulation is that of the command', async ({ sql, databaseUrl }) => {
  const { id } = await seed(sql, { tracks: 40, songMs: 900_000 })
  await sql`update stations set timezone = 'Europe/Berlin'`
  await sql`insert into playlists (station_id, name, type, play_per_hour_minute) values (${id}, 'Empty', 'once_per_hour', 5)`
  const folder = await scratchFolder()
  const env = { DATABASE_URL: databaseUrl, INIT_CWD: folder }
  const args = ['--station', String(id), '--days', '1', '--from', '2026-03-29', '--json', 'day.json']
  expect((await run(env, ...args)).stderr).toBe('')
  const report = v.parse(reportSchema, await readFile(join(folder, 'day.json'), 'utf8'))
  const response = JSON.parse((await simulateSchedule(sql, request(id), 60_000)) ?? '')
  expect(response.aims).toEqual(
    report.aims.map(({ name, measured, isMet }) => ({ name, measured, is_met: isMet }))
  )
  expect(response.plays).toBe(report.totals.plays)
  expect(response.playlists.map(({ plays }: JsonBody) => plays)).toEqual(
    report.totals.playlists.map(({ plays }) => plays)
  )
  expect(response.from * 1_000).toBe(report.plays[0]?.startsAtMs)
  // The day on which clocks go forward has 23 hours.
  expect(response.until - response.from).toBe(23 * 3_600)
  expect(response).toMatchObject({ is_complete: true, has_more_blocks: false, timezone: 'Europe/Berlin' })
  expect(response.warnings.map(({ code }: JsonBody) => code)).toEqual(['no_songs'])
})

test('a simulation that takes too long ends early', async ({ sql }) => {
  const { id } = await seed(sql, { tracks: 40 })
  const response = JSON.parse((await simulateSchedule(sql, request(id), 0)) ?? '')
  expect(response).toMatchObject({ is_complete: false, plays: 0, until: response.from })
  expect(await simulateSchedule(sql, request(id + 1_000), 0)).toBe(null)
})

test('a large library is simulated without blocking the event loop', async ({ sql, databaseUrl }) => {
  const { id } = await seed(sql, { tracks: sized({ quick: 5_000, deep: 50_000 }), songMs: 1_800_000 })
  const start = performance.eventLoopUtilization()
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  const task = { ...request(id), databaseUrl }
  const body = await runSimulationTask(task, AbortSignal.timeout(60_000))
  clearInterval(timer)
  const { active } = performance.eventLoopUtilization(start)
  expect(JSON.parse(body ?? '').plays).toBeGreaterThan(0)
  expect(turns).toBeGreaterThan(10)
  // Other programs delay this process too, so its time is only checked where it runs alone.
  expect(active).toBeLessThan(sized({ quick: Infinity, deep: 100 }))
})

test('unsaved settings are simulated, and nothing is written', async ({ program }) => {
  const { id, playlistId } = await startPlaying(program, { ...slow, tracks: 7 })
  const path = `/api/station/${id}/schedule/simulation`
  const stored = () =>
    program.sql`select p.*, (select json_agg(q order by q.id) from queue q where q.station_id = p.station_id) as rows
      from playlists p where station_id = ${id} order by id`
  const before = await stored()
  const key = await createKey(program)
  /** Other tests simulate at the same time. */
  const simulate = (method: 'GET' | 'POST', query: string, body?: object) =>
    waitFor(
      async () => {
        const response = await program.ask(method, path + query, { key, body })
        return response.status !== 503 && response
      },
      { deadlineMs: 30_000, what: 'a simulation' }
    )
  const saved = await simulate('GET', '?days=1')
  expect(saved.status).toBe(200)
  expect(saved.body.warnings).toEqual([])
  expect(saved.body.blocks[0]).toMatchObject({ playlist_id: playlistId, name: 'Rotation' })
  const items = [{ start_time: 600, end_time: 700, end_date: '2020-01-01' }]
  const changed = await simulate('POST', '', {
    days: 1,
    playlists: [
      { id: playlistId, name: 'Past', schedule_items: items },
      { name: 'New', type: 'once_per_hour' }
    ]
  })
  expect(changed.status).toBe(200)
  expect(changed.body.warnings).toEqual([
    {
      playlist_id: playlistId,
      code: 'dates_past',
      is_never_played: true,
      message: 'It never plays: the dates of its schedule are in the past.'
    },
    { playlist_id: -2, code: 'no_songs', is_never_played: true, message: 'It never plays: it has no songs.' }
  ])
  expect(changed.body.silent_seconds).toBeGreaterThan(80_000)
  expect(await stored()).toEqual(before)
})

test('settings and periods are validated', async ({ program }) => {
  const { id, playlistId } = await startPlaying(program)
  const path = `/api/station/${id}/schedule/simulation`
  const fieldsOf = async (body: object) => {
    const response = await program.ask('POST', path, { body })
    expect(response.status).toBe(400)
    return response.body.extra_data.errors.map(({ field }: JsonBody) => field)
  }
  expect(await fieldsOf({ days: 8 })).toEqual(['days'])
  expect(await fieldsOf({ from: '2026-02-30' })).toEqual(['from'])
  expect(await fieldsOf({ playlists: [{ id: playlistId, weight: 101 }] })).toEqual(['playlists.0.weight'])
  expect(await fieldsOf({ playlists: [{ weight: 3 }] })).toEqual(['playlists.0'])
  expect(await fieldsOf({ playlists: [{ id: 999_999_999 }] })).toEqual(['playlists.0.id'])
  expect(await fieldsOf({ playlists: [{ id: playlistId }, { id: playlistId }] })).toEqual(['playlists.1.id'])
  const times = { start_time: 2_460, end_time: 0 }
  expect(await fieldsOf({ playlists: [{ id: playlistId, schedule_items: [times] }] })).toEqual([
    'playlists.0.schedule_items.0.start_time'
  ])
  expect((await program.ask('GET', `${path}?days=0`)).status).toBe(400)
})

test('a key has one simulation at a time', async ({ program }) => {
  const { id } = await startPlaying(program, slow)
  const path = `/api/station/${id}/schedule/simulation?days=7`
  const key = await createKey(program)
  const responses = await Promise.all([1, 2, 3, 4].map(() => program.ask('GET', path, { key })))
  const refused = responses.find(({ status }) => status === 429)
  expect(refused?.headers.get('retry-after')).toBe('5')
})
