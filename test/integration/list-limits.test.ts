import { expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { waitFor } from '../support/wait.ts'

const records = 12_000

/** A station with a library of 12,000 songs that listeners may request. */
const full = test.extend('station', { scope: 'file' }, async ({ program }) => {
  const { sql } = program
  const { body } = await program.ask('POST', '/api/admin/stations', { body: { name: 'Full' } })
  await sql.begin(async tx => {
    await tx`
      insert into media (station_id, unique_id, path, song_id, artist, title, duration_ms)
      select ${body.id}, left(md5('limits-' || n), 24), 'limits:' || n, md5('song' || n), 'Artist', lpad(n::text, 6, '0'), 1000
      from generate_series(1, ${records}::int) n`
    await tx`insert into playlists (station_id, name) values (${body.id}, 'All')`
    await tx`
      insert into playlist_tracks (playlist_id, media_id, position)
      select p.id, m.id, m.id from playlists p join media m on m.station_id = p.station_id
      where p.station_id = ${body.id}`
    // In batches, since a statement has a timeout.
    for (let part = 0; part < 11; part++)
      await tx`
        insert into song_history (station_id, song_id, artist, title, started_at_ms, ended_at_ms)
        select ${body.id}, ${'0'.repeat(32)}, 'Artist', 'Title ' || n, n * 1000::bigint, n * 1000::bigint + 500
        from generate_series(${part * 10_000 + 1}::int, ${(part + 1) * 10_000}::int) n`
  })
  await sql`analyze`
  return { id: Number(body.id) }
})

full(
  'a list without paging has a limit, and pages reach the records beyond it',
  async ({ program, station }) => {
    const path = `/api/station/${station.id}/requests`
    const first = await program.ask('GET', `${path}?per_page=0`, { key: '' })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ page: 1, per_page: 10_000, total: records, total_pages: 2 })
    expect(first.body.rows).toHaveLength(10_000)
    const second = await program.ask('GET', `${path}?per_page=0&page=2`, { key: '' })
    expect(second.body.rows).toHaveLength(records - 10_000)
    const ids = [...first.body.rows, ...second.body.rows].map((row: { request_id: string }) => row.request_id)
    expect(new Set(ids).size).toBe(records)
  }
)

full(
  'a page beyond the limit is refused with the parameter, and one past the end is empty',
  async ({ program, station }) => {
    const history = `/api/station/${station.id}/history`
    const deep = await program.ask('GET', `${history}?per_page=500&page=201`)
    expect(deep.status).toBe(400)
    expect(deep.body.message).toBe(
      'page must be at most 200: pages reach the first 100,000 records. Narrow the list by its other parameters.'
    )
    expect(deep.body.extra_data.errors).toMatchObject([{ field: 'page', code: 'out_of_range' }])
    const last = await program.ask('GET', `${history}?per_page=500&page=200`)
    expect(last.body).toMatchObject({ total: 100_000, total_pages: 200 })
    expect(last.body.rows).toHaveLength(500)
    const past = await program.ask('GET', `/api/station/${station.id}/files?per_page=500&page=1000000`)
    expect(past.body).toMatchObject({ total: records, rows: [] })
  }
)

full(
  'a list that exceeds the size limit of a response is refused with the parameter',
  async ({ program, station }) => {
    const { sql } = program
    await sql`update media set lyrics = repeat('la ', 2600) where station_id = ${station.id} and id % 8 = 0`
    const path = `/api/station/${station.id}/files`
    const all = await program.ask('GET', `${path}?per_page=0`)
    expect(all.status).toBe(400)
    expect(all.body.extra_data.errors).toMatchObject([{ field: 'per_page', code: 'out_of_range' }])
    expect((await program.ask('GET', `${path}?per_page=500`)).status).toBe(200)
    await sql`update media set lyrics = '' where station_id = ${station.id} and lyrics <> ''`
  }
)

full(
  'requests of visitors delay neither operators nor other reads of visitors, and a disconnect cancels the query',
  async ({ program, station }) => {
    const { sql } = program
    const path = `/api/station/${station.id}/requests?per_page=25`
    const running = async () => {
      const rows = await sql<{ query: string }[]>`
      select query from pg_stat_activity where application_name = 'cuewire server public reads' and state = 'active'`
      return rows.length
    }
    const held = await sql.reserve()
    await held`begin`
    await held`lock table playlist_tracks in access exclusive mode`
    const leaving = new AbortController()
    try {
      const asked = Array.from({ length: 6 }, (_, n) =>
        fetch(program.baseUrl + path, {
          signal: leaving.signal,
          headers: { 'x-forwarded-for': `192.0.2.${n}` }
        }).catch(() => null)
      )
      await waitFor(async () => (await running()) === 1, { deadlineMs: 5_000, what: 'the lists' })
      const response = await program.ask('GET', `/api/station/${station.id}/history?per_page=5`)
      expect(response.status).toBe(200)
      const other = await program.ask('GET', `/api/station/${station.id}/schedule`, { key: '' })
      expect(other.status).toBe(200)
      leaving.abort()
      await Promise.all(asked)
      // The lock lasts five seconds more, which a query spends until its timeout.
      await waitFor(async () => (await running()) === 0, {
        deadlineMs: 2_000,
        what: 'the end of the queries'
      })
    } finally {
      await held`rollback`
      held.release()
    }
    expect((await program.ask('GET', path, { key: '' })).status).toBe(200)
  }
)
