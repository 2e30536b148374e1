import { describe, expect } from 'vitest'

import { computeSongId } from '../../src/model/songs/song.ts'
import { removeOldPlayReasons, removeOldQueueRows } from '../../src/stores/db/retention.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { test } from '../support/fixtures.ts'
import { shownWhen, startPlaying } from '../support/playing.ts'
import { seedStation } from '../support/stations.ts'

interface Row {
  readonly at: string
  readonly title: string
  readonly playlist?: string
  readonly streamer?: string
  readonly request?: boolean
  readonly listeners?: readonly [start: number, gained: number, lost: number]
}

/** Ended plays of a disabled station, of a minute each. */
async function recordPlays(sql: Sql, rows: readonly Row[], timezone = 'UTC'): Promise<number> {
  const id = await seedStation(sql, { tracks: 0 })
  await sql`update stations set is_enabled = false, timezone = ${timezone} where id = ${id}`
  const plays = rows.map(
    ({
      at,
      title,
      playlist = '',
      streamer = '',
      request = false,
      listeners: [start, gained, lost] = [0, 0, 0]
    }) => ({
      station_id: id,
      song_id: computeSongId(title),
      title,
      artist: 'Artist',
      playlist,
      streamer,
      is_request: request,
      started_at_ms: Date.parse(at),
      ended_at_ms: Date.parse(at) + 60_000,
      listeners_start: start,
      listeners_end: start + gained - lost,
      listeners_peak: start + gained,
      delta_positive: gained,
      delta_negative: lost
    })
  )
  if (plays.length > 0) await sql`insert into song_history ${sql(plays)}`
  return id
}

const titlesOf = (rows: readonly { song: { title: string } }[]) => rows.map(({ song }) => song.title)

const rows: readonly Row[] = [
  { at: '2026-01-01T10:00:00Z', title: 'a', playlist: 'Day', listeners: [10, 5, 1] },
  { at: '2026-01-01T10:01:00Z', title: 'b', playlist: 'Day', listeners: [14, 0, 8] },
  { at: '2026-01-01T10:02:00Z', title: 'a', request: true, listeners: [6, 3, 0] },
  { at: '2026-01-02T10:00:00Z', title: '=c', streamer: 'Ada', listeners: [9, 9, 9] }
]
const all = 'start=2026-01-01&end=2026-01-02'

describe('the report of songs', () => {
  test('sums the plays of each song, and is sorted, searched and paged', async ({ program }) => {
    const id = await recordPlays(program.sql, rows)
    const path = `/api/station/${id}/reports/songs?${all}`
    const { status, body } = await program.ask('GET', path)
    expect(status).toBe(200)
    expect(titlesOf(body)).toEqual(['a', '=c', 'b'])
    expect(body[0]).toEqual({
      song: expect.objectContaining({ title: 'a', text: 'Artist - a' }),
      plays: 2,
      last_played_at: Date.parse('2026-01-01T10:02:00Z') / 1_000,
      listeners_gained: 8,
      listeners_lost: 1,
      delta_total: 7,
      listeners_average: 8,
      listeners_peak: 15
    })
    const sorted = await program.ask('GET', `${path}&sort=listeners_lost&sortOrder=DESC&per_page=2`)
    expect(sorted.body).toMatchObject({ total: 3, total_pages: 2 })
    expect(titlesOf(sorted.body.rows)).toEqual(['=c', 'b'])
    expect(titlesOf((await program.ask('GET', `${path}&searchPhrase=B`)).body)).toEqual(['b'])
    const oneDay = await program.ask(
      'GET',
      `/api/station/${id}/reports/songs?start=2026-01-02&end=2026-01-02`
    )
    expect(titlesOf(oneDay.body)).toEqual(['=c'])
  })

  test('is also a file', async ({ program }) => {
    const id = await recordPlays(program.sql, rows)
    const response = await fetch(`${program.baseUrl}/api/station/${id}/reports/songs?${all}&format=csv`, {
      headers: { 'X-API-Key': '0123456789abcdef:0123456789abcdef0123456789abcdef' }
    })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect((await response.text()).split('\r\n')).toEqual([
      'artist,title,plays,last_played_at,listeners_gained,listeners_lost,delta_total,listeners_average,listeners_peak',
      'Artist,a,2,2026-01-01T10:02:00+00:00,8,1,7,8,15',
      "Artist,'=c,1,2026-01-02T10:00:00+00:00,9,9,0,9,18",
      'Artist,b,1,2026-01-01T10:01:00+00:00,0,8,-8,14,14',
      ''
    ])
  })

  test('best and worst are plays; the most played are songs', async ({ program }) => {
    const id = await recordPlays(program.sql, rows)
    const { body } = await program.ask('GET', `/api/station/${id}/reports/overview/best-and-worst?${all}`)
    const { best, worst } = body.bestAndWorst
    expect(best.map(({ stat_delta: delta }: { stat_delta: number }) => delta)).toEqual([4, 3])
    expect(worst).toMatchObject([{ song: { title: 'b' }, stat_start: 14, stat_end: 6, stat_delta: -8 }])
    expect(body.mostPlayed[0]).toMatchObject({ song: { title: 'a' }, num_plays: 2 })
  })

  test('bad parameters are refused', async ({ program }) => {
    const id = await recordPlays(program.sql, [])
    const bad = ['start=yesterday', 'start=2020-01-01&end=2026-01-01', 'sort=id', 'format=xml', 'page=0']
    const responses = await Promise.all(
      bad.map(query => program.ask('GET', `/api/station/${id}/reports/songs?${query}`))
    )
    expect(responses.map(({ status }) => status)).toEqual(bad.map(() => 400))
  })
})

describe('the history', () => {
  test.for([
    ['playlist=Day', ['b', 'a']],
    ['streamer=Ada', ['=c']],
    ['type=request', ['a']],
    ['type=live', ['=c']],
    ['type=autodj&searchPhrase=artist', ['b', 'a']],
    ['playlist=Day&end=2026-01-01&streamer=Ada', []]
  ] as const)('is filtered by %s', async ([query, titles], { program }) => {
    const id = await recordPlays(program.sql, rows)
    expect(titlesOf((await program.ask('GET', `/api/station/${id}/history?${query}`)).body)).toEqual(titles)
  })
})

describe('why a song was played', () => {
  test('is known of songs of the queue', async ({ program }) => {
    const { id, document } = await startPlaying(program, { tracks: 4 })
    const path = `/api/station/${id}/history/${document.now_playing.sh_id}/reasons`
    const { body } = await program.ask('GET', path)
    expect(body).toMatchObject({ is_known: true, playlist: 'Rotation', is_request: false })
    expect(body.log[0]).toMatchObject({ step: 'slot' })
    await program.ask('POST', `/api/station/${id}/backend/skip`)
    await shownWhen(program, id, np => np.now_playing.sh_id !== document.now_playing.sh_id)
    expect((await program.ask('GET', path)).body).toEqual(body)
  })

  test('is unknown of other songs, and 404 at other stations', async ({ program }) => {
    const id = await recordPlays(program.sql, rows)
    const other = await seedStation(program.sql, { tracks: 0 })
    const [play] = await program.sql<{ id: number }[]>`select id from song_history where station_id = ${id}`
    const known = await program.ask('GET', `/api/station/${id}/history/${play?.id}/reasons`)
    expect(known.body).toMatchObject({ is_known: false, log: [], title: 'a' })
    expect((await program.ask('GET', `/api/station/${other}/history/${play?.id}/reasons`)).status).toBe(404)
    expect((await program.ask('GET', `/api/station/${id}/history/01/reasons`)).status).toBe(404)
  })

  test('outlives the row of the queue, without what was skipped', async ({ sql }) => {
    const nowMs = Date.now()
    const id = await seedStation(sql, { tracks: 1 })
    const playedAtMs = nowMs - 8 * 86_400_000
    const log = [
      { step: 'slot', at: 1, why: 'fill' },
      { step: 'playlist', id: 1 },
      { step: 'picked', id: 2 }
    ]
    const [play] = await sql<{ id: number }[]>`
      insert into song_history (station_id, song_id, started_at_ms, ended_at_ms)
      values (${id}, ${'0'.repeat(32)}, ${playedAtMs}, ${playedAtMs + 1}) returning id`
    // A play that was removed leaves no reasons.
    for (const [seq, historyId] of [play?.id ?? 0, 0].entries())
      await sql`
        insert into queue (station_id, seq, position, media_id, cued_at_ms, plays_at_ms, played_at_ms, duration_ms,
          history_id, log)
        select ${id}, ${seq}, ${seq}, min(id), ${playedAtMs}, ${playedAtMs}, ${playedAtMs}, 1, ${historyId}, ${sql.json(log)}
        from media where station_id = ${id}`
    expect(await removeOldQueueRows(sql, nowMs)).toBe(2)
    expect(await sql`select history_id as id, log from play_reasons`).toEqual([
      { id: play?.id, log: [log[0], log[2]] }
    ])
    expect(await removeOldPlayReasons(sql, nowMs)).toBe(0)
    expect(await removeOldPlayReasons(sql, nowMs + 23 * 86_400_000)).toBe(1)
  })
})
