import { describe, expect } from 'vitest'

import type { Sql } from '../../src/stores/db/sql.ts'
import { withoutCustomFields } from '../support/custom-fields.ts'
import { test } from '../support/fixtures.ts'
import { shownWhen, startPlaying } from '../support/playing.ts'
import type { JsonBody } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'

interface Row {
  at: string
  title?: string
  artist?: string
  playlist?: string
  visible?: boolean
  lengthMs?: number
}

/** Ended plays of a disabled station, of a minute each. */
async function recordPlays(sql: Sql, rows: Row[], timezone = 'UTC'): Promise<number> {
  const id = await seedStation(sql, { tracks: 0 })
  await sql`update stations set is_enabled = false, timezone = ${timezone} where id = ${id}`
  const plays = rows.map(
    ({ at, title = at, artist = '', playlist = '', visible = true, lengthMs = 60_000 }) => ({
      station_id: id,
      song_id: '9dd4e461268c8034f5c8564e155c67a6',
      title,
      artist,
      playlist,
      is_visible: visible,
      duration_ms: lengthMs,
      started_at_ms: Date.parse(at),
      ended_at_ms: Date.parse(at) + 90_999
    })
  )
  await sql`insert into song_history ${sql(plays)}`
  return id
}

const titles = (items: JsonBody[]) => items.map(({ song }) => song.title)

describe('the history', () => {
  test('has the current and past plays, newest first, as in now playing', async ({ program }) => {
    const { id } = await startPlaying(program, { tracks: 4 })
    await program.ask('POST', '/api/admin/custom_fields', { body: { name: 'Mood of history' } })
    await program.ask('POST', `/api/station/${id}/backend/skip`)
    await program.ask('POST', `/api/station/${id}/backend/skip`)
    const document = await shownWhen(program, id, body => body.song_history.length === 2)
    const { body, headers } = await program.ask('GET', `/api/station/${id}/history`)
    const { elapsed: _elapsed, remaining: _remaining, ...current } = document.now_playing
    expect(withoutCustomFields(body)).toEqual(withoutCustomFields([current, ...document.song_history]))
    expect(Object.keys(body[0])).toEqual([
      'sh_id',
      'played_at',
      'duration',
      'playlist',
      'streamer',
      'is_request',
      'song'
    ])
    expect(new Set(body[0].song.custom_fields)).toEqual(new Set(['']))
    expect(headers.get('x-total-count')).toBe('3')
  })

  test('omits jingles, and returns the actual length if none was known', async ({ program }) => {
    const id = await recordPlays(program.sql, [
      { at: '2026-01-01T00:00:00Z', lengthMs: 0 },
      { at: '2026-01-01T00:10:00Z', visible: false },
      { at: '2026-01-01T00:20:00Z' }
    ])
    const { body } = await program.ask('GET', `/api/station/${id}/history`)
    expect(body.map(({ duration }: JsonBody) => duration)).toEqual([60, 90])
  })

  test('is searched in title, artist and playlist, and paged', async ({ program }) => {
    const rows = Array.from({ length: 30 }, (_, n) => ({
      at: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
      title: `Song ${n}`,
      artist: n % 2 === 0 ? 'Évén 100%' : 'Odd',
      playlist: n < 5 ? 'Early' : 'Late'
    }))
    const id = await recordPlays(program.sql, rows)
    const ask = async (query: string) =>
      (await program.ask('GET', `/api/station/${id}/history?${query}`)).body
    expect(titles(await ask('searchPhrase=song 29'))).toEqual(['Song 29'])
    expect(await ask('searchPhrase=0%25')).toHaveLength(15)
    expect(await ask('searchPhrase=_')).toHaveLength(0)
    expect(titles(await ask('searchPhrase=early'))).toEqual([
      'Song 4',
      'Song 3',
      'Song 2',
      'Song 1',
      'Song 0'
    ])
    const page = await ask('page=2&per_page=12&searchPhrase=song')
    expect(page).toMatchObject({ page: 2, per_page: 12, total: 30, total_pages: 3 })
    expect(titles(page.rows)[0]).toBe('Song 17')
  })

  test.for<[query: string, expected: string[]]>([
    ['start=2026-07-08', ['d', 'c', 'b']],
    ['end=2026-07-08', ['c', 'b', 'a']],
    ['start=2026-07-08&end=2026-07-08', ['c', 'b']],
    ['start=2026-07-09&end=2026-07-08', []],
    [`start=${Date.UTC(2026, 6, 7, 22) / 1000}&end=${Date.UTC(2026, 6, 7, 22) / 1000}`, ['b']],
    [`start=${Date.UTC(2026, 6, 7, 22) / 1000 + 1}`, ['d', 'c']],
    [`start=2026-07-08&end=${Date.UTC(2026, 6, 8, 21, 59, 58) / 1000}`, ['b']],
    ['start=0001-01-01&end=9999-12-31', ['d', 'c', 'b', 'a']],
    ['start=&end=', ['d', 'c', 'b', 'a']],
    ['end=999999999999', ['d', 'c', 'b', 'a']]
  ])(
    'is limited by days of the station’s time zone and by seconds: %s',
    async ([query, expected], { program }) => {
      // Midnight of Berlin's summer is 22:00 UTC.
      const id = await recordPlays(
        program.sql,
        [
          { at: '2026-07-07T21:59:59.999Z', title: 'a' },
          { at: '2026-07-07T22:00:00Z', title: 'b' },
          { at: '2026-07-08T21:59:59.999Z', title: 'c' },
          { at: '2026-07-08T22:00:00Z', title: 'd' }
        ],
        'Europe/Berlin'
      )
      const { status, body } = await program.ask('GET', `/api/station/${id}/history?${query}`)
      expect([status, titles(body)]).toEqual([200, expected])
    }
  )

  test('is in the order of starts, not of reports', async ({ program }) => {
    const id = await recordPlays(program.sql, [
      { at: '2026-01-01T00:20:00Z', title: 'second' },
      { at: '2026-01-01T00:00:00Z', title: 'first' },
      { at: '2026-01-01T00:20:00Z', title: 'third' }
    ])
    const { body } = await program.ask('GET', `/api/station/${id}/history`)
    expect(titles(body)).toEqual(['third', 'second', 'first'])
  })

  test('has listener statistics if detailed, of jingles too', async ({ program }) => {
    const id = await recordPlays(program.sql, [
      { at: '2026-01-01T00:00:00Z', title: 'song' },
      { at: '2026-01-01T00:10:00Z', title: 'jingle', visible: false }
    ])
    await program.sql`
      update song_history set listeners_start = 5, listeners_end = 7, listeners_peak = 8, delta_positive = 4,
        delta_negative = 2, unique_listeners = 9 where station_id = ${id} and is_visible`
    const { body, headers } = await program.ask('GET', `/api/station/${id}/history?detailed=1`)
    expect(titles(body)).toEqual(['jingle', 'song'])
    expect(headers.get('x-total-count')).toBe('2')
    const { body: plain } = await program.ask('GET', `/api/station/${id}/history?detailed=0`)
    expect(plain).toHaveLength(1)
    expect(body[1]).toEqual({
      ...plain[0],
      listeners_start: 5,
      listeners_end: 7,
      delta_total: 2,
      delta_positive: 4,
      delta_negative: 2,
      listeners_peak: 8,
      unique_listeners: 9,
      is_visible: true
    })
    expect(body[0]).toMatchObject({ is_visible: false, unique_listeners: 0 })
  })

  test('is available as a file, with local times and without formulas', async ({ program }) => {
    const id = await recordPlays(
      program.sql,
      [
        { at: '2026-07-08T00:00:00Z', title: '=HYPERLINK("x")', artist: 'A, B', playlist: '-Late' },
        { at: '2026-07-08T00:10:00Z', title: 'Jingle', visible: false }
      ],
      'Europe/Berlin'
    )
    await program.sql`
      update song_history set listeners_start = 5, listeners_end = 3, delta_negative = 2
      where station_id = ${id} and is_visible`
    const file = await program.ask('GET', `/api/station/${id}/history?format=csv&searchPhrase=e`)
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(file.headers.get('x-total-count')).toBe('2')
    const [header = '', jingle = '', song = ''] = String(file.body).split('\r\n')
    expect(header).toBe(
      '\uFEFFsh_id,played_at,duration,artist,title,album,isrc,playlist,streamer,is_request,is_visible,listeners_start,' +
        'listeners_end,delta_total,delta_positive,delta_negative,listeners_peak,unique_listeners'
    )
    expect(jingle).toMatch(/^\d+,2026-07-08T02:10:00\+02:00,60,,Jingle,,,,,false,false,0,0,0,0,0,0,0$/)
    expect(song).toMatch(
      /^\d+,2026-07-08T02:00:00\+02:00,60,"A, B","'=HYPERLINK\(""x""\)",,,'-Late,,false,true,5,3,-2,0,2,0,0$/
    )
  })

  test('is available as a file of thousands of plays', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    await program.sql`
      insert into song_history (station_id, song_id, title, started_at_ms, ended_at_ms)
      select ${id}, md5('song ' || n), 'Song ' || n, n * 1000, n * 1000 + 999 from generate_series(1, 5000) n`
    const { body } = await program.ask('GET', `/api/station/${id}/history?format=csv`)
    const lines = String(body).trimEnd().split('\r\n')
    expect([lines.length, lines[1]?.split(',')[4], lines.at(-1)?.split(',')[4]]).toEqual([
      5_001,
      'Song 5000',
      'Song 1'
    ])
  })

  test.for<[query: string, field: string]>([
    ['detailed=maybe', 'detailed'],
    ['format=xls', 'format'],
    ['start=yesterday', 'start'],
    ['end=2026-02-30', 'end'],
    ['start=0000-01-01', 'start'],
    ['end=-5', 'end'],
    ['start=1e9', 'start'],
    ['start=1234567890123', 'start'],
    ['end=%00', 'end'],
    ['searchPhrase=%00', 'searchPhrase'],
    ['page=0', 'page']
  ])('is refused with an invalid parameter: %s', async ([query, field], { program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const { status, body } = await program.ask('GET', `/api/station/${id}/history?${query}`)
    expect([status, body.extra_data.errors[0].field]).toEqual([400, field])
  })

  test('requires the permission to view reports, and a station', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const key = 'adadadadadadadad:dededededededededededededededede'
    await program.sql`
      insert into api_keys (name, identifier, verifier, permissions)
      values ('dj', 'adadadadadadadad', sha256('dededededededededededededededede'), '["manage station media"]')`
    expect((await program.ask('GET', `/api/station/${id}/history`, { key })).status).toBe(403)
    expect((await program.ask('GET', `/api/station/${id}/history`)).body).toEqual([])
    expect((await program.ask('GET', '/api/station/987654321/history')).status).toBe(404)
  })
})
