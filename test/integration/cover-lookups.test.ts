import type { RequestListener } from 'node:http'

import { describe, expect } from 'vitest'

import { recordStreamObservation } from '../../src/engine/plays/observe-stream.ts'
import { refreshRemoteLists } from '../../src/engine/queue/remote-lists.ts'
import { publishStation } from '../../src/engine/repair-states.ts'
import { createMusicBrainzSource } from '../../src/library/covers/find-cover.ts'
import { lookUpNextCover } from '../../src/library/covers/look-up-next.ts'
import { acquireCoverLookupLease } from '../../src/library/covers/lookup-lease.ts'
import { computeSongId } from '../../src/model/songs/song.ts'
import { version } from '../../src/platform/process/program-files.ts'
import { createCover, storeCovers } from '../../src/stores/db/library/media-rows.ts'
import { removeOldCoverLookups, removeUnusedCovers } from '../../src/stores/db/retention.ts'
import { readSnapshots } from '../../src/stores/db/snapshots.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { readStationStates } from '../../src/stores/redis/station-store.ts'
import { png } from '../support/audio-bytes.ts'
import { groupId, startCoverServices } from '../support/cover-services.ts'
import { test as base } from '../support/fixtures.ts'
import { isPub, type Publication, subscribeLive } from '../support/live-client.ts'
import { askPlainly } from '../support/plain-http.ts'
import { startPlaying } from '../support/playing.ts'
import { advanceAndRead, openPlayout } from '../support/playout.ts'
import { startServer } from '../support/program.ts'
import { addRemotePlaylist } from '../support/remote-playlist.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'
import { startWorkers } from '../support/worker-process.ts'

const second = 1_000
const minute = 60 * second
const day = 1_440 * minute
const startMs = Date.now()

const artId = /^[0-9a-f]{24}-[0-9a-f]{8}$/

/** A station whose titles come from its streaming server, and lookups at both services. */
const test = base.extend('covers', async ({ sql, redisUrl }, { onCleanup }) => {
  const remote = await startCoverServices()
  const playout = await openPlayout(sql, redisUrl)
  onCleanup(async () => {
    await playout[Symbol.asyncDispose]()
    await remote[Symbol.asyncDispose]()
  })
  const addStation = async () => {
    const id = await seedStation(sql, { tracks: 0 })
    await sql`update stations set backend = 'none' where id = ${id}`
    await publishStation(playout, id)
    return id
  }
  const stationId = await addStation()
  return {
    ...remote,
    playout,
    stationId,
    addStation,
    /** Starts a song of the streaming server. */
    play: (artist: string, title: string, station = stationId) =>
      recordStreamObservation(playout, station, { isConnected: true, artist, title, atMs: Date.now() }),
    /** Looks up a song as if it were `ms` milliseconds later. */
    lookUp: (ms = 0, source = remote.source) =>
      lookUpNextCover(playout, source, startMs + ms, new AbortController().signal),
    /** The state in Redis. */
    state: async (station = stationId) => {
      const [state] = await readStationStates(playout.redis, [station])
      if (!state) throw new Error('there is no state')
      return state
    }
  }
})

const readLookups = (sql: Sql) => sql<{ hash: string | null; dueAtMs: number; failures: number }[]>`
  select artwork_hash as hash, due_at_ms as "dueAtMs", failures from cover_lookups order by due_at_ms`

describe('a cover', () => {
  test('of a title on air is found and shown at once, and requested once', async ({ covers, sql }) => {
    covers.addRecording('Ann', 'Another', 9)
    covers.addRecording('ANN', 'Home', 1)
    covers.addCover(1, png('home'))
    await covers.play('Ann', 'Home')
    const before = await covers.state()
    expect(before.shown?.song.artId).toBe('')
    expect(await covers.lookUp()).toBe(true)
    const after = await covers.state()
    expect(after.shown).toMatchObject({
      shId: before.shown?.shId,
      song: { artId: expect.stringMatching(artId) }
    })
    expect(after.offset).toBeGreaterThan(before.offset)
    expect(covers.asked.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)).toEqual([
      'GET /ws/2/recording?query=artist:"Ann" AND recording:"Home"&fmt=json&limit=5',
      `GET /release-group/${groupId(1)}/front-500`
    ])
    for (const { headers } of covers.asked)
      expect(headers['user-agent']).toBe(`Cuewire/${version} ( https://radio.example.com )`)
    const { hash } = createCover(png('home'), 'image/png')
    expect(await sql`select hash, content_type as type, bytes from artwork`).toEqual([
      { hash, type: 'image/png', bytes: png('home') }
    ])
    expect(await covers.lookUp(10 * second)).toBe(false)
    expect(covers.asked).toHaveLength(2)
  })

  test('is shown in the history, and on other stations without another request', async ({ covers }) => {
    covers.addRecording('Ann', 'Home', 1)
    covers.addCover(1, png('home'))
    const other = await covers.addStation()
    await covers.play('ann', 'HOME', other)
    await covers.play('Ann', 'Home')
    await covers.lookUp()
    const { song } = (await covers.state()).shown ?? {}
    expect(song?.artId).toMatch(artId)
    expect((await covers.state(other)).shown?.song.artId).toBe(song?.artId)
    await covers.play('Tom', 'Away')
    const { shown, history } = await covers.state()
    expect([shown?.song.artId, history[0]?.song.artId]).toEqual(['', song?.artId])
    const late = await covers.addStation()
    await covers.play('Ann', 'Home', late)
    expect((await covers.state(late)).shown?.song.artId).toBe(song?.artId)
    expect(covers.asked).toHaveLength(2)
  })

  test('of a song that has just ended is looked up after those on air', async ({ covers }) => {
    for (const [number, title] of ['First', 'Second'].entries()) {
      covers.addRecording('Ann', title, number)
      covers.addCover(number, png(title))
      await covers.play('Ann', title)
    }
    const lookedUp = [await covers.lookUp(), await covers.lookUp(minute), await covers.lookUp(2 * minute)]
    expect(lookedUp).toEqual([true, true, false])
    const titles = covers.asked.map(({ path }) => /recording%3A%22(\w+)%22/.exec(path)?.[1])
    expect(titles.filter(title => title !== undefined)).toEqual(['Second', 'First'])
    expect((await covers.state()).history[0]?.song.artId).toMatch(artId)
  })

  test('of a song in a remote playlist is found', async ({ covers, sql }) => {
    await using list = await startWebServer()
    const entries = [1, 2, 3].map(number => `#EXTINF:215,Lena - Light\nhttps://cdn.example/${number}.mp3`)
    list.respondWith(['#EXTM3U', ...entries].join('\n'))
    const services = { ...covers.playout, config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.0/8'] } }
    const id = await seedStation(sql, { tracks: 0 })
    await addRemotePlaylist(sql, id, list.url)
    await refreshRemoteLists(services, startMs)
    const { state } = await advanceAndRead(covers.playout, { stationId: id, endedShId: 0, cause: 'wake' })
    expect([state?.shown?.song.artist, state?.shown?.song.artId]).toEqual(['Lena', ''])
    covers.addRecording('Lena', 'Light', 1)
    covers.addCover(1, png('light'))
    await covers.lookUp()
    const shown = await covers.state(id)
    expect(shown.shown?.song.artId).toMatch(artId)
    // The next entry has the same artist and title.
    expect(shown.next?.song.artId).toBe(shown.shown?.song.artId)
  })

  test('leaves the picture of the live streamer as it is', async ({ covers, sql }) => {
    await sql`
      with u as (
        insert into streamers (station_id, streamer_username, streamer_password, artwork, artwork_type, artwork_hash)
        values (${covers.stationId}, 'wren', '', ${png('wren')}, 'image/png', 'abcdef012345') returning id)
      insert into broadcasts (station_id, streamer_id, username, streamer_name, started_at_ms)
      select ${covers.stationId}, id, 'wren', 'Wren', ${startMs - minute} from u`
    covers.addRecording('Ann', 'Home', 1)
    covers.addCover(1, png('home'))
    await covers.play('Ann', 'Home')
    await covers.lookUp()
    const { live, shown } = await covers.state()
    expect(live?.art).toMatch(/\/streamer\/\d+\/art-abcdef01\.jpg$/)
    expect(shown).toMatchObject({ streamer: 'Wren', song: { artId: expect.stringMatching(artId) } })
  })

  test('is that of the next release if a release has none', async ({ covers }) => {
    covers.addRecording('Ann', 'Home', 1, 2, 3)
    covers.addCover(2, (_, response) => response.end('no picture'))
    covers.addCover(3, png('home'))
    await covers.play('Ann', 'Home')
    await covers.lookUp()
    expect(covers.asked).toHaveLength(4)
    expect((await covers.state()).shown?.song.artId).toMatch(artId)
  })

  test('is looked up again after half a year, and then replaced or removed', async ({ covers, sql }) => {
    covers.addRecording('Ann', 'Home', 1)
    covers.addCover(1, png('old'))
    await covers.play('Ann', 'Home')
    await covers.lookUp()
    const [found] = await readLookups(sql)
    expect((found?.dueAtMs ?? 0) - startMs).toBeGreaterThan(140 * day)
    const old = (await covers.state()).shown?.song.artId ?? ''
    expect(await covers.lookUp(140 * day)).toBe(false)
    covers.addCover(1, png('new'))
    expect(await covers.lookUp(220 * day)).toBe(true)
    const renewed = (await covers.state()).shown?.song.artId ?? ''
    expect([renewed.slice(0, 24), renewed === old]).toEqual([old.slice(0, 24), false])
    covers.respondToAll((_, response) => response.writeHead(500).end())
    expect(await covers.lookUp(440 * day)).toBe(true)
    expect((await covers.state()).shown?.song.artId).toBe(renewed)
    covers.respondToAll((_, response) => response.end('{"recordings":[]}'))
    expect(await covers.lookUp(441 * day)).toBe(true)
    expect((await covers.state()).shown?.song.artId).toBe('')
  })
})

test('a song that is not found is looked up again after a month', async ({ covers, sql }) => {
  covers.addRecording('Ann', 'Home (live)', 1)
  covers.addRecording('Annie', 'Home', 1)
  await covers.play('Ann', 'Home')
  const { offset } = await covers.state()
  expect(await covers.lookUp()).toBe(true)
  expect(covers.asked).toHaveLength(1)
  expect(await readLookups(sql)).toMatchObject([{ hash: null, failures: 0 }])
  expect((await covers.state()).offset).toBe(offset)
  expect(await covers.lookUp(23 * day)).toBe(false)
  expect(await covers.lookUp(37 * day)).toBe(true)
  expect(covers.asked).toHaveLength(2)
})

describe('nothing is requested', () => {
  test('for texts that do not name a song', async ({ covers, sql }) => {
    await sql`update stations set live_text = 'On Air' where id = ${covers.stationId}`
    const songs = [
      ['', 'Home'],
      ['Ann', ''],
      ['', ''],
      ['Ann', 'On Air'],
      [' ; ', 'Home'],
      ['Ann', 'x'.repeat(201)],
      ['x'.repeat(201), 'Home']
    ] as const
    for (const [index, [artist, title]] of songs.entries()) {
      await covers.play(artist, title)
      expect(await covers.lookUp(index * 10 * second)).toBe(false)
    }
    expect(covers.asked).toEqual([])
    await covers.play('Ann', 'Home')
    expect(await covers.lookUp(80 * second)).toBe(true)
  })

  test('for a song with a cover, a jingle, or a song that ended long ago', async ({ covers, sql }) => {
    await sql.begin(tx => storeCovers(tx, [createCover(png('own'), 'image/png')]))
    await sql`
      insert into media (station_id, unique_id, path, song_id, artist, title, artwork_hash, title_key, artist_keys)
      select ${covers.stationId}, left(md5('own'), 24), 'own', ${computeSongId('Ann - Own')}, 'Ann', 'Own', hash, 1, '{1}'
      from artwork`
    await covers.play('Ann', 'Own')
    expect((await covers.state()).shown?.song.artId).toMatch(artId)
    expect(await covers.lookUp()).toBe(false)
    await covers.play('Ann', 'Jingle')
    await sql`update song_history set is_visible = false where title = 'Jingle'`
    expect(await covers.lookUp(10 * second)).toBe(false)
    await sql`update song_history set is_visible = true, ended_at_ms = started_at_ms where title = 'Jingle'`
    expect(await covers.lookUp(10 * minute)).toBe(false)
    expect(covers.asked).toEqual([])
    await covers.play('Ann', 'Home')
    expect(await covers.lookUp(20 * minute)).toBe(true)
  })

  test('by default: the workers do not look up covers', async ({ program }) => {
    const { document } = await startPlaying(program)
    expect(document.now_playing.song.art).toContain('generic_song')
    expect(await program.sql`select from cover_lookup_lease`).toEqual([])
  })
})

test('with COVER_LOOKUP, the workers look for songs', async ({ databaseUrl, redisUrl, sql }) => {
  // No station plays, so nothing is requested.
  const variables = { COVER_LOOKUP: 'musicbrainz', BASE_URL: 'https://radio.example.com' }
  const workers = startWorkers(databaseUrl, redisUrl, variables)
  try {
    await waitFor(async () => (await sql`select from cover_lookup_lease`).length > 0, {
      deadlineMs: 15_000,
      what: 'the lease to be taken'
    })
  } finally {
    workers.kill('SIGKILL')
  }
})

describe('requests', () => {
  const { spacingMs } = createMusicBrainzSource('https://radio.example.com')

  test('are a second apart, with redirects and those of other processes', async ({ covers }) => {
    const source = { ...covers.source, spacingMs }
    covers.addRecording('Ann', 'Home', 1)
    covers.addCover(1, (_, response) => response.writeHead(307, { Location: '/moved.png' }).end())
    const other = await covers.addStation()
    await covers.play('Ann', 'Home')
    await covers.play('Tom', 'Away', other)
    const look = () => lookUpNextCover(covers.playout, source, Date.now(), new AbortController().signal)
    const first = await Promise.all([look(), look()])
    expect(first.filter(hasLookedUp => hasLookedUp)).toHaveLength(1)
    await waitFor(look, { deadlineMs: 10_000, what: 'the lease to be free' })
    expect(covers.asked.length).toBe(4)
    const gaps = covers.times.slice(1).map((time, index) => time - (covers.times[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
  })

  test('are sent by another process when the lease of a killed one has expired', async ({ covers, sql }) => {
    await covers.play('Ann', 'Home')
    expect(await acquireCoverLookupLease(sql, startMs, 90 * second)).not.toBeNull()
    expect(await covers.lookUp(89 * second)).toBe(false)
    expect(await covers.lookUp(90 * second)).toBe(true)
  })

  test('end when the process stops', async ({ covers }) => {
    covers.respondToAll(() => {})
    await covers.play('Ann', 'Home')
    const stopping = new AbortController()
    const looking = lookUpNextCover(covers.playout, covers.source, startMs, stopping.signal)
    await waitFor(() => covers.asked.length > 0, { deadlineMs: 5_000, what: 'the request' })
    stopping.abort(new Error('stopping'))
    await expect(looking).rejects.toThrow('stopping')
    covers.respondToAll(null)
    expect(await covers.lookUp(10 * second)).toBe(true)
  })
})

describe('a failed lookup', () => {
  test('is repeated, after the time that the service asks for', async ({ covers, sql }) => {
    covers.addRecording('Ann', 'Home', 1)
    covers.addCover(1, png('home'))
    covers.respondToAll((_, response) => response.writeHead(503, { 'Retry-After': '300' }).end())
    await covers.play('Ann', 'Home')
    expect(await covers.lookUp()).toBe(true)
    expect(await readLookups(sql)).toMatchObject([{ hash: null, failures: 1 }])
    covers.respondToAll(null)
    // No other song is looked up either.
    await covers.play('Tom', 'Away', await covers.addStation())
    expect(await covers.lookUp(299 * second)).toBe(false)
    expect(await covers.lookUp(310 * second)).toBe(true)
    expect(await covers.lookUp(320 * second)).toBe(true)
    expect((await covers.state()).shown?.song.artId).toMatch(artId)
    expect(await readLookups(sql)).toMatchObject([{ failures: 0 }, { failures: 0 }])
  })

  test('is repeated less and less often, ten times', async ({ covers, sql }) => {
    covers.respondToAll((_, response) => response.destroy())
    await covers.play('Ann', 'Home')
    const pauses: number[] = []
    let nowMs = 0
    for (let failures = 1; failures <= 10; failures++) {
      expect(await covers.lookUp(nowMs)).toBe(true)
      const [lookup] = await readLookups(sql)
      expect(lookup?.failures).toBe(failures % 10)
      const dueAtMs = (lookup?.dueAtMs ?? 0) - startMs
      pauses.push(dueAtMs - nowMs)
      expect(await covers.lookUp(dueAtMs - 1)).toBe(false)
      nowMs = dueAtMs + 20 * minute
    }
    for (const [index, pause] of pauses.slice(0, 9).entries()) {
      expect(pause).toBeGreaterThan(0.79 * minute * 2 ** index)
      expect(pause).toBeLessThan(1.3 * minute * 2 ** index)
    }
    expect(pauses[9]).toBeGreaterThan(20 * day)
    expect(covers.asked).toHaveLength(10)
  })

  test('is one whose result cannot be stored, which holds up no other song', async ({ covers, sql }) => {
    covers.addRecording('Ann', 'Home', 1)
    covers.addCover(1, png('home'))
    await sql`alter table artwork add check (false) not valid`
    await covers.play('Ann', 'Home')
    expect(await covers.lookUp()).toBe(true)
    expect(await readLookups(sql)).toMatchObject([{ hash: null, failures: 1 }])
    await covers.play('Ben', 'Away')
    expect(await covers.lookUp(10 * second)).toBe(true)
    expect(await readLookups(sql)).toHaveLength(2)
    expect(await covers.lookUp(20 * second)).toBe(false)
  })

  const responses: [what: string, response: RequestListener][] = [
    ['a page', (_, response) => response.end('<!doctype html><h1>Sign in</h1>')],
    ['a redirect', (_, response) => response.writeHead(302, { Location: '/ws/2/other' }).end()],
    ['a huge body', (_, response) => response.writeHead(200, { 'Content-Length': 3_000_000 }).end()],
    ['an endless body', endless],
    ['an answer that is not HTTP', (_, response) => response.socket?.end('hello')]
  ]
  test.for(responses)('is one whose search has %s', async ([, response], { covers, sql }) => {
    covers.respondToAll(response)
    await covers.play('Ann', 'Home')
    expect(await covers.lookUp()).toBe(true)
    expect(covers.asked).toHaveLength(1)
    expect(await readLookups(sql)).toMatchObject([{ hash: null, failures: 1 }])
  })

  test('stores nothing for a query that MusicBrainz refuses', async ({ covers, sql }) => {
    covers.respondToAll((_, response) => response.writeHead(400).end())
    await covers.play('Ann', 'Home')
    expect(await covers.lookUp()).toBe(true)
    expect(await readLookups(sql)).toMatchObject([{ hash: null, failures: 0 }])
  })
})

/** Sends bytes until the connection is closed. */
function endless(...[, response]: Parameters<RequestListener>): void {
  const chunk = Buffer.alloc(65_536, 'x')
  const send = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', send)
  send()
}

describe('a cover is not used', () => {
  const redirectTo =
    (location: string): RequestListener =>
    (_, response) =>
      response.writeHead(307, { Location: location }).end()
  const responses: [what: string, response: RequestListener, requests: number][] = [
    ['of a type that is not supported', (_, response) => response.end('GIF89a'), 2],
    [
      'that only claims to be a picture',
      (_, response) => response.setHeader('Content-Type', 'image/png').end('<svg onload="x"/>'),
      2
    ],
    ['that is empty', (_, response) => response.end(), 2],
    [
      'that is huge',
      (_, response) => response.writeHead(200, { 'Content-Length': 50_000_000 }).write(png('x')),
      2
    ],
    ['that is endless', endless, 2],
    ['at a private address', redirectTo('http://10.0.0.1/x.png'), 2],
    ['at the metadata address of a cloud', redirectTo('http://169.254.169.254/latest/'), 2],
    ['at a private address in another notation', redirectTo('http://2130706434/x.png'), 2],
    ['at a file', redirectTo('file:///etc/passwd'), 2],
    ['at an address that is none', redirectTo('http://'), 2],
    ['behind a redirect without a target', (_, response) => response.writeHead(302).end(), 2],
    ['behind endless redirects', redirectTo(`/release-group/${groupId(1)}/front-500`), 6]
  ]
  test.for(responses)('%s', async ([, response, requests], { covers, sql }) => {
    covers.addRecording('Ann', 'Home', 1)
    covers.addCover(1, response)
    await covers.play('Ann', 'Home')
    expect(await covers.lookUp()).toBe(true)
    expect(covers.asked).toHaveLength(requests)
    expect(await readLookups(sql)).toMatchObject([{ hash: null, failures: 0 }])
    expect(await sql`select from artwork`).toEqual([])
  })
})

test('a found cover is kept with its lookup, and both are removed afterwards', async ({ covers, sql }) => {
  covers.addRecording('Ann', 'Home', 1)
  covers.addCover(1, png('home'))
  await covers.play('Ann', 'Home')
  await covers.lookUp()
  expect(await removeUnusedCovers(sql)).toBe(0)
  const [found] = await readLookups(sql)
  const dueAtMs = found?.dueAtMs ?? 0
  expect(await removeOldCoverLookups(sql, dueAtMs + 30 * day)).toBe(0)
  expect(await removeOldCoverLookups(sql, dueAtMs + 30 * day + 1)).toBe(1)
  expect(await removeUnusedCovers(sql)).toBe(1)
  expect((await readSnapshots(sql, [covers.stationId]))[0]?.shown?.song.artId).toBe('')
})

test('at most 20,000 lookups are kept: those that are due last', async ({ sql }) => {
  await sql`
    insert into cover_lookups (title_key, artist_keys, unique_id, due_at_ms)
    select n, '{1}', md5(n::text), ${startMs}::bigint + n from generate_series(1, 20003) n`
  expect(await removeOldCoverLookups(sql, startMs)).toBe(3)
  expect(await sql`select min(title_key) as least, count(*) as count from cover_lookups`).toEqual([
    { least: 4, count: 20_000 }
  ])
})

test('the release before this one can remove a cover', async ({ covers, sql }) => {
  covers.addRecording('Ann', 'Home', 1)
  covers.addCover(1, png('home'))
  await covers.play('Ann', 'Home')
  await covers.lookUp()
  await sql`delete from artwork a where not exists (select from media m where m.artwork_hash = a.hash)`
  expect(await readLookups(sql)).toEqual([])
  expect(await covers.lookUp(minute)).toBe(true)
  expect((await covers.state()).shown?.song.artId).toMatch(artId)
})

test('a found cover is pushed, served and listed', async ({ covers, databaseUrl, redisUrl }) => {
  await using folder = await openTempFolder()
  using server = await startServer(databaseUrl, redisUrl, folder.path)
  const { stationId } = covers
  covers.addRecording('Ann', 'Home', 1)
  covers.addCover(1, png('home'))
  await covers.play('Ann', 'Home')
  const url = `${server.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
  const { until } = await subscribeLive(url, { subs: { [`station:${stationId}`]: { recover: true } } })
  await covers.lookUp()
  const isShown = (frame: unknown): frame is Publication =>
    isPub(frame) && frame.pub.data.np.now_playing.song.art.includes('/art/')
  const { np, triggers } = (await until(isShown)).pub.data
  expect(triggers).toEqual([])
  const { pathname: path } = new URL(np.now_playing.song.art)
  const response = await askPlainly(server.baseUrl + path)
  expect([response.status, response.headers['content-type'], response.body]).toEqual([
    200,
    'image/png',
    png('home')
  ])
  expect(response.headers['cache-control']).toContain('max-age=31536000')
  const [play] = (await server.ask('GET', `/api/station/${stationId}/history`)).body
  expect(new URL(play.song.art).pathname).toBe(path)
  expect((await askPlainly(server.baseUrl + path.replace(/\w{24}/, 'f'.repeat(24)))).status).toBe(302)
})
