import { describe, expect } from 'vitest'

import type { Sql } from '../../src/stores/db/sql.ts'
import { test } from '../support/fixtures.ts'
import type { JsonBody } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

type Row = [at: string, total: number, most: number, fewest: number]

async function recordMinutes(sql: Sql, rows: Row[], timezone = 'UTC'): Promise<number> {
  const id = await seedStation(sql, { tracks: 0 })
  await sql`update stations set is_enabled = false, timezone = ${timezone}, short_name = 'h' || id where id = ${id}`
  for (const [at, total, most, fewest] of rows)
    await sql`insert into listener_minutes (station_id, minute, total, "unique", most, fewest)
      values (${id}, ${Date.parse(at) / 60_000}, ${total}, ${total - 1}, ${most}, ${fewest})`
  return id
}

const seconds = (at: string) => Date.parse(at) / 1_000

describe('the series of listeners', () => {
  const rows: Row[] = [
    ['2026-07-07T21:00Z', 4, 4, 0],
    ['2026-07-07T22:01Z', 9, 12, 4],
    ['2026-07-07T22:03Z', 2, 9, 1]
  ]

  test('has a point per minute, and keeps the count in those without a change', async ({ program }) => {
    const id = await recordMinutes(program.sql, rows)
    const from = seconds('2026-07-07T22:00Z')
    const { body } = await program.ask(
      'GET',
      `/api/station/${id}/listeners/series?start=${from}&end=${from + 240}`
    )
    expect(body).toEqual({
      step: 60,
      points: [
        { at: from, total: 4, unique: 3, most: 4, fewest: 4 },
        { at: from + 60, total: 9, unique: 8, most: 12, fewest: 4 },
        { at: from + 120, total: 9, unique: 8, most: 9, fewest: 9 },
        { at: from + 180, total: 2, unique: 1, most: 9, fewest: 1 },
        { at: from + 240, total: 2, unique: 1, most: 2, fewest: 2 }
      ]
    })
  })

  test('joins the minutes of a longer step', async ({ program }) => {
    const id = await recordMinutes(program.sql, rows)
    const from = seconds('2026-07-07T22:00Z')
    const { body } = await program.ask(
      'GET',
      `/api/station/${id}/listeners/series?start=${from}&end=${from + 599}&step=300`
    )
    expect(body.points).toEqual([
      { at: from, total: 2, unique: 1, most: 12, fewest: 1 },
      { at: from + 300, total: 2, unique: 1, most: 2, fewest: 2 }
    ])
  })

  test('of a day uses the time zone of the station, and a file has local times', async ({ program }) => {
    const id = await recordMinutes(program.sql, rows, 'Europe/Berlin')
    const path = `/api/station/${id}/listeners/series?start=2026-07-08&end=2026-07-08`
    const { body } = await program.ask('GET', path)
    expect(body.points).toHaveLength(1_440)
    expect(body.points[0]).toEqual({
      at: seconds('2026-07-07T22:00Z'),
      total: 4,
      unique: 3,
      most: 4,
      fewest: 4
    })
    const file = await program.ask('GET', `${path}&step=21600&format=csv`)
    expect([file.headers.get('content-type'), file.headers.get('content-disposition')]).toEqual([
      'text/csv; charset=utf-8',
      `attachment; filename="h${id}-listeners.csv"; filename*=UTF-8''h${id}-listeners.csv`
    ])
    expect(file.body.split('\r\n')).toEqual([
      '\uFEFFat,total,unique,most,fewest',
      '2026-07-08T00:00:00+02:00,2,1,12,1',
      '2026-07-08T06:00:00+02:00,2,1,2,2',
      '2026-07-08T12:00:00+02:00,2,1,2,2',
      '2026-07-08T18:00:00+02:00,2,1,2,2',
      ''
    ])
  })

  test('covers the last 24 hours by default, including the last count', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const askedAt = Math.floor(Date.now() / 60_000) * 60
    await program.sql`update stations set created_at = '2020-01-01' where id = ${id}`
    for (const total of [5, 3]) await program.ask('PUT', `/api/station/${id}/listeners`, { body: { total } })
    const read = async () => (await program.ask('GET', `/api/station/${id}/listeners/series`)).body
    const isFlushed = async () => (await read()).points.at(-1).total === 3
    await waitFor(isFlushed, { deadlineMs: 5_000, what: 'the flush of the counts' })
    const body = await read()
    expect([body.step, body.points.length]).toEqual([60, 1_441])
    expect(body.points[0]).toMatchObject({ total: 0, most: 0 })
    expect(body.points.at(-1)).toMatchObject({ total: 3, unique: 3 })
    const since = body.points.filter(({ at }: JsonBody) => at >= askedAt)
    expect(Math.max(...since.map(({ most }: JsonBody) => most))).toBe(5)
  })

  test('of a station whose count never changed has that count', async ({ program }) => {
    const id = await recordMinutes(program.sql, [])
    await program.sql`update stations set listeners_total = 6, listeners_unique = 5 where id = ${id}`
    const { body } = await program.ask('GET', `/api/station/${id}/listeners/series`)
    expect(body.points[0]).toMatchObject({ total: 6, unique: 5 })
  })

  test.for<[query: string, points: number]>([
    ['start=2999-01-01', 0],
    ['start=2026-07-09&end=2026-07-08', 0],
    ['start=999999999999', 0],
    ['end=0001-01-01', 0],
    [`start=${seconds('2026-07-07T20:00Z')}&end=${seconds('2026-07-07T21:04Z')}`, 5],
    ['start=2026-07-07&end=2026-07-08&step=86400', 2]
  ])('has as many points as there can be: %s', async ([query, points], { program }) => {
    const id = await recordMinutes(program.sql, rows)
    const { body } = await program.ask('GET', `/api/station/${id}/listeners/series?${query}`)
    expect(body.points).toHaveLength(points)
  })

  test('has at most 1,500 points', async ({ program }) => {
    const id = await recordMinutes(program.sql, rows)
    const { body } = await program.ask('GET', `/api/station/${id}/listeners/series?start=0001-01-01`)
    expect(body.points.length).toBeGreaterThan(1_000)
    expect(body.points.length).toBeLessThanOrEqual(1_500)
    expect(body.points.at(-1)).toMatchObject({ total: 2 })
  })

  test.for<[query: string, field: string]>([
    ['step=90', 'step'],
    ['step=0', 'step'],
    ['step=minute', 'step'],
    ['start=2020-01-01&end=2026-01-01&step=60', 'step'],
    ['start=yesterday', 'start'],
    ['end=2026-02-30', 'end'],
    ['format=xml', 'format']
  ])('is refused with an invalid parameter: %s', async ([query, field], { program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    await program.sql`update stations set created_at = '2020-01-01' where id = ${id}`
    const { status, body } = await program.ask('GET', `/api/station/${id}/listeners/series?${query}`)
    expect([status, body.extra_data.errors[0].field]).toEqual([400, field])
  })
})
