import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'

import { describe, expect } from 'vitest'

import { refreshRemoteLists, removeUnusedRemoteMedia } from '../../src/engine/queue/remote-lists.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { test as base } from '../support/fixtures.ts'
import {
  addRemotePlaylist,
  entriesOf,
  fetchStateOf,
  openListServices,
  pathsOf
} from '../support/remote-playlist.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'

const second = 1_000
const minute = 60 * second
const startMs = Date.now()
const cdn = 'https://cdn.example'
const m3u = (...names: string[]) => ['#EXTM3U', ...names.map(name => `${cdn}/${name}.mp3`)].join('\n')
const addressesOf = (...names: string[]) => names.map(name => `${cdn}/${name}.mp3`)

/** A station without songs, with one remote playlist, the server of its list, and the fetcher. */
const test = base.extend('list', async ({ sql, redisUrl }, { onCleanup }) => {
  const server = await startWebServer()
  const services = await openListServices(sql, redisUrl)
  onCleanup(async () => {
    await services[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })
  const stationId = await seedStation(sql, { tracks: 0 })
  const url = `${server.url}/night/all.m3u`
  const id = await addRemotePlaylist(sql, stationId, url)
  server.respondWith(m3u('a', 'b', 'c'))
  return {
    id,
    stationId,
    url,
    server,
    services,
    /** Fetches the lists that are due `ms` milliseconds after the start. */
    refresh: (atMs: number) => refreshRemoteLists(services, startMs + atMs),
    state: () => fetchStateOf(sql, id),
    paths: () => pathsOf(sql, id),
    entries: () => entriesOf(sql, id)
  }
})

describe('a list', () => {
  test('that was never fetched is fetched, and each of its URLs becomes a song', async ({ list, sql }) => {
    list.server.respondWith(
      '#EXTM3U\n#EXTINF:215,Lena - Light\nb.mp3\n#EXTINF:-1,Night Talk\n../a.mp3\nb.mp3\n' +
        `C:\\c.mp3\n#EXTINF:-1,Night Talk\n${cdn}/${'long/'.repeat(80)}d.mp3\n`
    )
    expect(await list.refresh(0)).toBe(1)
    const paths = [
      `${list.server.url}/night/b.mp3`,
      `${list.server.url}/a.mp3`,
      `${cdn}/${'long/'.repeat(80)}d.mp3`
    ]
    const [b, a, d] = await list.entries()
    expect([b, a, d]).toMatchObject([
      { path: paths[0], position: 1, artist: 'Lena', title: 'Light', durationMs: 215_000, lastPass: 0 },
      { path: paths[1], position: 2, artist: '', title: 'Night Talk', durationMs: 0 },
      { path: paths[2], position: 3, artist: '', title: 'Night Talk', durationMs: 0 }
    ])
    const hashes = paths.map(path => createHash('md5').update(path).digest('hex'))
    expect([b, a, d].map(entry => entry?.songId)).toEqual(hashes)
    const rows = await sql`select distinct unique_id from media where station_id = ${list.stationId}`
    expect(rows).toHaveLength(3)
    expect(list.server.asked).toMatchObject([{ method: 'GET', path: '/night/all.m3u' }])
  })

  test('fills the queue of its station', async ({ list, sql }) => {
    await list.refresh(0)
    const queued = await sql<{ address: string }[]>`select autodj_custom_uri as address from queue`
    expect(queued.map(({ address }) => address).toSorted()).toEqual(addressesOf('a', 'b', 'c'))
    list.server.respondWith(m3u('d'))
    await list.refresh(12 * minute)
    const after = await sql<{ address: string }[]>`select distinct autodj_custom_uri as address from queue`
    expect(after.map(({ address }) => address)).toEqual(addressesOf('d'))
  })

  test('may be a PLS file', async ({ list }) => {
    list.server.respondWith(
      '[playlist]\nFile2=two.mp3\nTitle2=A - Two\nLength2=60\nFile1=/one.mp3\nVersion=2\n'
    )
    await list.refresh(0)
    expect(await list.entries()).toMatchObject([
      { path: `${list.server.url}/one.mp3`, title: 'one', durationMs: 0 },
      { path: `${list.server.url}/night/two.mp3`, artist: 'A', title: 'Two', durationMs: 60_000 }
    ])
  })

  test('is fetched again after ten minutes, with a minute of jitter', async ({ list }) => {
    await list.refresh(0)
    const { fetchedAtMs, fetchAtMs, problem, failingSinceMs } = await list.state()
    expect(fetchedAtMs - startMs).toBeGreaterThanOrEqual(0)
    expect(fetchAtMs - fetchedAtMs).toBeGreaterThanOrEqual(9 * minute)
    expect(fetchAtMs - fetchedAtMs).toBeLessThanOrEqual(11 * minute)
    expect({ problem, failingSinceMs }).toEqual({ problem: '', failingSinceMs: null })
    expect(await list.refresh(9 * minute - second)).toBe(0)
    expect(await list.refresh(12 * minute)).toBe(1)
  })

  test('that changes keeps the tracks of the URLs that remain', async ({ list, sql }) => {
    await list.refresh(0)
    const before = await list.entries()
    await sql`update playlist_tracks set last_pass = 7, last_aired_ms = 5 where id = ${before[1]?.trackId ?? 0}`
    await sql`update media set duration_ms = 61000 where id = ${before[1]?.mediaId ?? 0}`
    list.server.respondWith(`#EXTM3U\n${cdn}/new.mp3\n#EXTINF:-1,B - Renamed\n${cdn}/b.mp3\n${cdn}/a.mp3\n`)
    await list.refresh(12 * minute)
    const [fresh, b, a] = await list.entries()
    const [oldA, oldB] = before
    expect([fresh, b, a]).toEqual([
      expect.objectContaining({ path: `${cdn}/new.mp3`, position: 1, lastPass: 0 }),
      // A measured length is kept if the list has none.
      { ...oldB, position: 2, lastPass: 7, artist: 'B', title: 'Renamed', durationMs: 61_000 },
      { ...oldA, position: 3 }
    ])
    expect(await sql`select from media where path = ${`${cdn}/c.mp3`}`).toHaveLength(0)
  })

  test('that is unchanged updates only its fetch time', async ({ list, sql }) => {
    const written = async () => ({
      media: await sql`select xmin, * from media order by id`,
      tracks: await sql`select xmin, * from playlist_tracks order by id`,
      stations: await sql`select xmin, revision from stations`,
      libraries: await sql`select xmin, version from libraries`
    })
    await list.refresh(0)
    const [before, { fetchedAtMs }] = [await written(), await list.state()]
    expect(before.tracks).toHaveLength(3)
    await list.refresh(12 * minute)
    expect(await written()).toEqual(before)
    expect((await list.state()).fetchedAtMs).toBeGreaterThan(fetchedAtMs + 11 * minute)
  })

  test('is limited to 5,000 entries, and may be reversed and shortened', async ({ list }) => {
    const names = Array.from({ length: 5_000 }, (_, index) => `song-${index}`)
    list.server.respondWith(m3u(...names, 'too many'))
    await list.refresh(0)
    expect(await list.paths()).toEqual(addressesOf(...names))
    const odd = names.filter((_, index) => index % 2 === 1).toReversed()
    list.server.respondWith(m3u(...odd))
    await list.refresh(12 * minute)
    expect(await list.paths()).toEqual(addressesOf(...odd))
  })

  test('is fetched only while its station and playlist are enabled', async ({ list, sql }) => {
    const turn = async (isOn: boolean, backend: string, isEnabled: boolean) => {
      await sql`update stations set is_enabled = ${isOn}, backend = ${backend}`
      await sql`update playlists set is_enabled = ${isEnabled}, fetch_at_ms = 0`
      return list.refresh(0)
    }
    expect(await turn(false, 'clock', true)).toBe(0)
    expect(await turn(true, 'none', true)).toBe(0)
    expect(await turn(true, 'clock', false)).toBe(0)
    expect(await turn(true, 'liquidsoap', true)).toBe(1)
  })

  test('may be used by two playlists, each with entries of its own', async ({ list, sql }) => {
    const other = await addRemotePlaylist(sql, list.stationId, list.url)
    expect(await list.refresh(0)).toBe(2)
    expect(await pathsOf(sql, other)).toEqual(await list.paths())
    expect(await sql`select from media`).toHaveLength(6)
  })
})

describe('the last fetched list stays in use when the server', () => {
  const failures: [string, string | Buffer | RequestListener, RegExp][] = [
    ['returns 500', (_, response) => response.writeHead(500).end(m3u('x')), /^The server answered 500\.$/],
    ['has no content', (_, response) => response.writeHead(204).end(), /^The server answered 204\.$/],
    [
      'redirects',
      (_, response) => response.writeHead(302, { Location: '/other.m3u' }).end(m3u('x')),
      /^The server answers with a redirect/
    ],
    [
      'exceeds the size limit',
      Buffer.from(`${m3u('x')}\n#${'x'.repeat(1_048_576)}`),
      /^The answer is too large\.$/
    ],
    [
      'closes the connection',
      (_, response) => response.destroy(),
      /^The connection failed \(ECONNRESET\)\.$/
    ],
    ['returns HTML', '<!doctype html><h1>Maintenance</h1>', /^The list cannot be used: it is not/],
    ['returns an empty body', '', /^The list cannot be used: it is empty\.$/],
    [
      'returns a list without http URLs',
      '#EXTM3U\nfile:///srv/x.mp3',
      /^The list cannot be used: it contains no http/
    ],
    ['returns an HLS playlist', '#EXTM3U\n#EXT-X-VERSION:3\nx.ts', /^The list cannot be used: it is an HLS/]
  ]
  test.for(failures)('%s', async ([, response, problem], { list }) => {
    await list.refresh(0)
    list.server.respondWith(response)
    expect(await list.refresh(12 * minute)).toBe(1)
    const state = await list.state()
    expect(state.problem).toMatch(problem)
    expect(state.fetchedAtMs).toBeLessThan(startMs + minute)
    expect(await list.paths()).toEqual(addressesOf('a', 'b', 'c'))
    list.server.respondWith(m3u('d'))
    await list.refresh(13 * minute)
    expect(await list.state()).toMatchObject({ problem: '', failingSinceMs: null })
    expect(await list.paths()).toEqual(addressesOf('d'))
  })

  test('never responds', async ({ list, sql }) => {
    await using silent = await startSilentServer()
    await list.refresh(0)
    await sql`update playlists set remote_url = ${`http://127.0.0.1:${silent.port}/`} where id = ${list.id}`
    // Another list is fetched meanwhile.
    const other = await addRemotePlaylist(sql, list.stationId, `${list.server.url}/x`)
    const refreshing = list.refresh(12 * minute)
    await waitFor(async () => (await pathsOf(sql, other)).length === 3, {
      deadlineMs: 5_000,
      what: 'the other'
    })
    expect(await refreshing).toBe(2)
    expect((await list.state()).problem).toBe('The server did not answer in time.')
    expect(await list.paths()).toEqual(addressesOf('a', 'b', 'c'))
  })

  test('moves to a private network', async ({ list, sql }) => {
    await list.refresh(0)
    const url = `http://localhost:${list.server.port}/`
    await sql`update playlists set remote_url = ${url} where id = ${list.id}`
    const strict = { ...list.services, config: { WEBHOOK_ALLOWED_NETWORKS: [] } }
    expect(await refreshRemoteLists(strict, startMs + 12 * minute)).toBe(1)
    expect((await list.state()).problem).toBe(
      'The address must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
    )
    expect(list.server.asked).toHaveLength(1)
    expect(await list.paths()).toEqual(addressesOf('a', 'b', 'c'))
  })
})

describe('a list that fails', () => {
  const alertsOf = (sql: Sql) =>
    sql<{ title: string; body: string; type: string; source: string }[]>`
      select title, body, type, source from notifications`

  test('is retried after half a minute, with a backoff of up to ten minutes', async ({ list }) => {
    list.server.respondWith((_, response) => response.writeHead(500).end())
    const pauses: number[] = []
    for (let atMs = 0; pauses.length < 9;) {
      expect(await list.refresh(atMs)).toBe(1)
      const { fetchAtMs } = await list.state()
      pauses.push(Math.round((fetchAtMs - startMs - atMs) / second))
      expect(await list.refresh(fetchAtMs - startMs - second)).toBe(0)
      atMs = fetchAtMs - startMs
    }
    for (const [index, expected] of [30, 30, 60, 120, 240, 480, 600, 600, 600].entries()) {
      // Each pause has a jitter of a tenth, and depends on the sum of the previous ones.
      expect(pauses[index]).toBeGreaterThanOrEqual(expected * 0.7)
      expect(pauses[index]).toBeLessThanOrEqual(expected * 1.35)
    }
  })

  test('for an hour raises one alert until it is fetched again', async ({ list, sql }) => {
    await list.refresh(0)
    const fail: RequestListener = (_, response) => response.writeHead(404).end()
    list.server.respondWith(fail)
    await list.refresh(12 * minute)
    await list.refresh(71 * minute)
    expect(await alertsOf(sql)).toEqual([])
    await list.refresh(83 * minute)
    await list.refresh(95 * minute)
    const [station] = await sql<{ name: string }[]>`select name from stations`
    const news = {
      title: 'A remote playlist cannot be fetched: Remote',
      body: `For an hour no attempt of ${station?.name} has succeeded. The server answered 404. What was fetched before stays in use.`,
      type: 'warning',
      source: 'playout'
    }
    expect(await alertsOf(sql)).toEqual([news])
    list.server.respondWith(m3u('a'))
    await list.refresh(110 * minute)
    expect(await sql`select from open_facts`).toHaveLength(0)
    list.server.respondWith(fail)
    for (const atMs of [125, 190]) await list.refresh(atMs * minute)
    const resolved = { ...news, type: 'success', body: expect.stringContaining(`${news.body} Resolved at `) }
    expect(await alertsOf(sql)).toEqual([resolved, news])
  })

  test('has no failure state after it is disabled', async ({ list, sql }) => {
    list.server.respondWith('')
    for (const atMs of [0, 70]) await list.refresh(atMs * minute)
    expect(await sql`select from open_facts`).toHaveLength(1)
    await removeUnusedRemoteMedia(sql)
    expect(await sql`select from open_facts`).toHaveLength(1)
    await sql`update playlists set is_enabled = false`
    await removeUnusedRemoteMedia(sql)
    expect(await sql`select from open_facts`).toHaveLength(0)
  })
})

describe('concurrent processes', () => {
  test('fetch a list once', async ({ list, sql, redisUrl }) => {
    await using others = await openListServices(sql, redisUrl)
    const open: (() => void)[] = []
    list.server.respondWith((_, response) => open.push(() => response.end(m3u('a'))))
    const refreshing = list.refresh(0)
    await waitFor(() => open.length === 1, { deadlineMs: 5_000, what: 'the request' })
    expect(await refreshRemoteLists(others, startMs + second)).toBe(0)
    open[0]?.()
    expect(await refreshing).toBe(1)
    expect(await list.paths()).toEqual(addressesOf('a'))
    expect(list.server.asked).toHaveLength(1)
  })

  test('share many lists', async ({ list, sql, redisUrl }) => {
    await using others = await openListServices(sql, redisUrl)
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        addRemotePlaylist(sql, list.stationId, `${list.server.url}/list-${index}`)
      )
    )
    const counts = await Promise.all([list.refresh(0), refreshRemoteLists(others, startMs)])
    expect(counts.reduce((a, b) => a + b)).toBe(21)
    expect(list.server.asked).toHaveLength(21)
    for (const id of ids) expect(await pathsOf(sql, id)).toEqual(addressesOf('a', 'b', 'c'))
  })

  test('that are killed leave a lease that expires', async ({ list }) => {
    const killed = new AbortController()
    list.server.respondWith(() => killed.abort(new Error('killed')))
    await expect(refreshRemoteLists(list.services, startMs, killed.signal)).rejects.toThrow('killed')
    list.server.respondWith(m3u('a'))
    expect(await list.refresh(59 * second)).toBe(0)
    expect(await list.refresh(62 * second)).toBe(1)
  })

  test('that are stopping send no request', async ({ list }) => {
    const stopped = AbortSignal.abort(new Error('stopped'))
    await expect(refreshRemoteLists(list.services, startMs, stopped)).rejects.toThrow('stopped')
    expect(await list.state()).toMatchObject({ fetchAtMs: 0 })
    expect(list.server.asked).toEqual([])
  })

  test('discard a response if the URL changed during the request, even if it was changed back', async ({
    list,
    sql
  }) => {
    await list.refresh(0)
    const { url } = list
    for (const [other, source] of [
      ['https://other.example/', 'remote_url'],
      [url, 'remote_url'],
      [url, 'songs']
    ] as const) {
      await sql`update playlists set remote_url = ${url}, fetch_at_ms = 0, is_enabled = true`
      list.server.respondWith((_, response) => {
        // It is also disabled, so that it is not fetched again at once.
        const change = sql`
          update playlists set remote_url = ${other}, source = ${source}, fetch_at_ms = 0, is_enabled = false`
        void change.then(() => response.end(m3u('late')))
      })
      expect(await list.refresh(12 * minute)).toBe(1)
      expect(await list.paths()).toEqual(addressesOf('a', 'b', 'c'))
      expect(await list.state()).toMatchObject({ fetchAtMs: 0, problem: '' })
    }
  })
})

/** Adds an entry to the queue as the engine does. Returns the id of the row. */
async function enqueue(
  sql: Sql,
  stationId: number,
  playlistId: number,
  name: string,
  row: Readonly<Record<string, number | boolean>> = {}
): Promise<number> {
  const [entry] = (await entriesOf(sql, playlistId)).filter(({ path }) => path === `${cdn}/${name}.mp3`)
  const [station] = await sql<{ seq: number }[]>`
    update stations set next_seq = next_seq + 1 where id = ${stationId} returning next_seq - 1 as seq`
  const seq = station?.seq ?? 0
  const values = {
    station_id: stationId,
    seq,
    position: seq,
    playlist_id: playlistId,
    track_id: entry?.trackId ?? null,
    media_id: entry?.mediaId ?? 0,
    cued_at_ms: startMs,
    plays_at_ms: startMs,
    pass: 1,
    duration_ms: 0,
    ...row
  }
  const [inserted] = await sql<{ id: number }[]>`insert into queue ${sql(values)} returning id`
  return inserted?.id ?? 0
}

describe('an entry that was removed from its list', () => {
  /** Which of these rows still exist. */
  const left = async (sql: Sql, ids: readonly number[]) => {
    const rows = await sql<{ id: number }[]>`
      select id from queue where id = any(${[...ids]}::bigint[]) order by id`
    return rows.map(({ id }) => id)
  }
  const media = async (sql: Sql) => {
    const rows = await sql<{ path: string }[]>`select path from media order by path`
    return rows.map(({ path }) => path)
  }

  test('leaves the queue, and the change is published', async ({ list, sql }) => {
    await list.refresh(0)
    await sql`delete from queue`
    const gone = await enqueue(sql, list.stationId, list.id, 'a')
    const kept = await enqueue(sql, list.stationId, list.id, 'b')
    const revisions = async () => {
      const [row] = await sql<{ all: number; queue: number }[]>`
        select revision as all, queue_revision as queue from stations`
      return { all: row?.all ?? 0, queue: row?.queue ?? 0 }
    }
    const before = await revisions()
    list.server.respondWith(m3u('c', 'b'))
    await list.refresh(12 * minute)
    expect(await left(sql, [gone, kept])).toEqual([kept])
    expect(await media(sql)).toEqual(addressesOf('b', 'c'))
    const after = await revisions()
    expect(after.all).toBeGreaterThan(before.all)
    expect(after.queue).toBeGreaterThan(before.queue)
  })

  test('is kept while it is sent, played, skipped or on the air', async ({ list, sql }) => {
    list.server.respondWith(m3u('sent', 'played', 'skipped', 'on-air', 'waiting', 'stays'))
    await list.refresh(0)
    await sql`delete from queue`
    const sent = await enqueue(sql, list.stationId, list.id, 'sent', { is_sent: true })
    const played = await enqueue(sql, list.stationId, list.id, 'played', { played_at_ms: startMs })
    const skipped = await enqueue(sql, list.stationId, list.id, 'skipped', { skipped_at_ms: startMs })
    const waiting = await enqueue(sql, list.stationId, list.id, 'waiting')
    await sql`
      insert into song_history (station_id, media_id, song_id, started_at_ms)
      select station_id, id, song_id, ${startMs} from media where path = ${`${cdn}/on-air.mp3`}`
    list.server.respondWith(m3u('stays'))
    await list.refresh(12 * minute)
    expect(await list.paths()).toEqual(addressesOf('stays'))
    expect(await left(sql, [sent, played, skipped, waiting])).toEqual([sent, played, skipped])
    expect(await media(sql)).toEqual(addressesOf('on-air', 'played', 'sent', 'skipped', 'stays'))
    expect(await removeUnusedRemoteMedia(sql)).toBe(0)

    await sql`delete from queue where id = ${sent}`
    await sql`update song_history set ended_at_ms = ${startMs + second}`
    expect(await removeUnusedRemoteMedia(sql)).toBe(2)
    expect(await media(sql)).toEqual(addressesOf('played', 'skipped', 'stays'))
  })

  test('is a new entry when it returns to the list', async ({ list, sql }) => {
    await list.refresh(0)
    await sql`delete from queue`
    const [before] = await list.entries()
    await enqueue(sql, list.stationId, list.id, 'a', { is_sent: true })
    await sql`update playlist_tracks set last_pass = 3`
    list.server.respondWith(m3u('b'))
    await list.refresh(12 * minute)
    list.server.respondWith(m3u('b', 'a'))
    await list.refresh(24 * minute)
    const [, a] = await list.entries()
    expect(a).toMatchObject({ mediaId: before?.mediaId, lastPass: 0, position: 2 })
  })
})

test('a change of the metadata of an entry updates its queue rows', async ({ list, sql }) => {
  await list.refresh(0)
  await sql`delete from queue`
  const sent = await enqueue(sql, list.stationId, list.id, 'a', { is_sent: true })
  const waiting = await enqueue(sql, list.stationId, list.id, 'b')
  const [before] = await sql`select queue_revision from stations`
  list.server.respondWith(`#EXTM3U\n#EXTINF:60,A\n${cdn}/a.mp3\n#EXTINF:70,B\n${cdn}/b.mp3\n${cdn}/c.mp3\n`)
  await list.refresh(12 * minute)
  expect(
    await sql`
      select id, duration_ms as duration from queue where id in (${sent}, ${waiting}) order by id`
  ).toEqual([
    { id: sent, duration: 0 },
    { id: waiting, duration: 70_000 }
  ])
  expect(await sql`select queue_revision from stations`).not.toEqual([before])
})
