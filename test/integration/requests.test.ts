import { describe, expect } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { changeStation } from '../../src/engine/change-station.ts'
import {
  expireRequests,
  removeRequestAddresses,
  type NewSongRequest,
  submitRequest
} from '../../src/engine/queue/requests.ts'
import { ApiError } from '../../src/platform/runtime/errors.ts'
import { removeOldRequests } from '../../src/stores/db/retention.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { songRequest } from '../contract/records.ts'
import { differences } from '../contract/shape.ts'
import { withoutCustomFields } from '../support/custom-fields.ts'
import { test } from '../support/fixtures.ts'
import { shownWhen, startSeeded } from '../support/playing.ts'
import { openPlayout, openSilentFaults } from '../support/playout.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { seedStations, type Shape } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const minuteMs = 60_000
const accepted = 'Your request has been submitted and will be played soon.'

interface Station {
  readonly id: number
  readonly playlistId: number
  readonly media: readonly { readonly id: number; readonly uniqueId: string; readonly title: string }[]
}

/** A station that the server shows, with its songs in the order of their ids. */
async function openStation(
  program: Program,
  settings: Readonly<Record<string, string | number | boolean>> = {},
  shape: Omit<Shape, 'stations'> = {}
): Promise<Station> {
  const station = await seedRequests(program.sql, settings, shape)
  await startSeeded(program, station.id)
  await waitFor(async () => (await program.ask('GET', `/api/nowplaying/${station.id}`)).status === 200, {
    deadlineMs: 10_000,
    what: 'the station'
  })
  return station
}

async function seedRequests(
  sql: Sql,
  settings: Readonly<Record<string, string | number | boolean>> = {},
  shape: Omit<Shape, 'stations'> = {}
): Promise<Station> {
  // In one transaction, because an intermediate state, such as a station that is not private yet, would be
  // published.
  const station = await sql.begin(async tx => {
    const [made = { id: 0, playlistId: 0 }] = await seedStations(tx, shape)
    await tx`update stations set ${tx({ is_enabled: true, ...settings })} where id = ${made.id}`
    return made
  })
  const media = await sql<{ id: number; uniqueId: string; title: string }[]>`
    select id, unique_id as "uniqueId", title from media where station_id = ${station.id} order by id`
  return { ...station, media }
}

/** The song at a place, from 0. */
function song({ media }: Station, index: number) {
  const found = media[index]
  if (!found) throw new Error(`the station has no song ${index}`)
  return found
}

let lastHost = 0

/** An unused address. */
function stranger(): string {
  lastHost += 1
  return `198.18.${lastHost >> 8}.${lastHost & 255}`
}

/** Requests a song, by default as a listener with a new address. */
function submit(
  program: Program,
  { id }: { id: number | string },
  mediaId: number | string,
  from = stranger(),
  key = ''
) {
  return program.ask('POST', `/api/station/${id}/request/${mediaId}`, { key, from })
}

const listOf = (program: Program, { id }: { id: number }, query = '', key = '') =>
  program.ask('GET', `/api/station/${id}/requests${query}`, { key, from: stranger() })

const titles = (rows: JsonBody[]): string[] => rows.map(row => row.song.title)

const reportOf = async (program: Program, { id }: { id: number }, query = '', key?: string) =>
  (await program.ask('GET', `/api/station/${id}/reports/requests${query}`, key === undefined ? {} : { key }))
    .body

interface StoredRequest {
  readonly id: number
  readonly mediaId: number
  readonly address: string
  readonly state: string
  readonly submitted: number
  readonly due: number
}

const stored = (sql: Sql, { id }: { id: number }) => sql<StoredRequest[]>`
  select id, media_id as "mediaId", address, state, submitted_at_ms as submitted, due_at_ms as due
  from requests where station_id = ${id} order by id`

/** Gives a request a row of the queue, as the AutoDJ does. */
async function enqueue(sql: Sql, requestId: number, isSent = false): Promise<number> {
  return sql.begin(async tx => {
    const [row = { id: 0 }] = await tx<{ id: number }[]>`
      insert into queue (station_id, seq, position, media_id, request_id, is_request, is_sent, cued_at_ms, plays_at_ms,
        duration_ms)
      select r.station_id, s.next_seq, s.next_seq, r.media_id, r.id, true, ${isSent}, 0, 0, 60000
      from requests r join stations s on s.id = r.station_id where r.id = ${requestId} returning id`
    await tx`update stations set next_seq = next_seq + 1
      where id = (select station_id from requests where id = ${requestId})`
    await tx`update requests set state = 'queued' where id = ${requestId}`
    return row.id
  })
}

const isKept = async (sql: Sql, queueId: number) =>
  (await sql`select from queue where id = ${queueId}`).length === 1

/** Creates a key with only these permissions at a station. */
async function keyOf(program: Program, stationId: number, permissions: string[]): Promise<string> {
  const { body } = await program.ask('POST', '/api/v1/main/api-keys', {
    body: { name: 'Requests', station_permissions: [{ station: stationId, permissions }] }
  })
  return body.key
}

describe('the list of requestable songs', () => {
  test('is sorted by artist and title, and renders songs as elsewhere', async ({ program }) => {
    const station = await openStation(program, {}, { tracks: 12 })
    const { status, body, headers } = await listOf(program, station)
    expect(status).toBe(200)
    expect(headers.get('x-total-count')).toBe('12')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(titles(body)).toEqual(station.media.map(({ title }) => title).toSorted())
    const first = song(station, 0)
    const queued = await waitFor(
      async () => (await program.ask('GET', `/api/station/${station.id}/queue`)).body[0],
      { deadlineMs: 5_000, what: 'a song in the queue' }
    )
    const listed = body.filter((row: JsonBody) => row.song.title === queued.song.title)
    expect(withoutCustomFields(listed.map((row: JsonBody) => row.song))).toEqual([
      withoutCustomFields(queued.song)
    ])
    expect(body[0]).toEqual({
      request_id: String(first.id),
      request_url: `/api/station/${station.id}/request/${first.id}`,
      song: expect.objectContaining({ title: 'Title 1', artist: 'Artist 1', text: 'Artist 1 - Title 1' })
    })
    const { body: posted } = await program.ask('POST', body[0].request_url, { key: '', from: stranger() })
    expect(posted.message).toBe(accepted)
  })

  test('supports search, sort and pages', async ({ program }) => {
    const station = await openStation(program, {}, { tracks: 5 })
    await program.sql`update media set album = 'Half 100%' where id = ${song(station, 2).id}`
    const found = async (query: string) => titles((await listOf(program, station, query)).body)
    expect(await found('?searchPhrase=ARTIST%202%20-%20TI')).toEqual(['Title 2'])
    expect(await found('?searchPhrase=100%25')).toEqual(['Title 3'])
    expect(await found('?sort=title&sortOrder=desc')).toEqual([5, 4, 3, 2, 1].map(n => `Title ${n}`))
    const { body, headers } = await listOf(program, station, '?per_page=2&page=2')
    expect(headers.get('x-total-count')).toBe('5')
    expect(body).toMatchObject({ page: 2, per_page: 2, total: 5, total_pages: 3 })
    expect(titles(body.rows)).toEqual(['Title 3', 'Title 4'])
    const refused = await listOf(program, station, '?sort=id')
    expect([refused.status, refused.body.extra_data.errors[0].field]).toEqual([400, 'sort'])
  })

  test('contains each song of enabled playlists with requests once', async ({ program }) => {
    const station = await openStation(program, {}, { tracks: 2 })
    const list = async () => titles((await listOf(program, station)).body)
    await program.sql`
      with second as (
        insert into playlists (station_id, name, type) values (${station.id}, 'Wishes', 'custom') returning id)
      insert into playlist_tracks (playlist_id, media_id, position)
      select id, ${song(station, 1).id}, 1 from second`
    expect(await list()).toEqual(['Title 1', 'Title 2'])
    const changes = [
      { is_enabled: false },
      { is_enabled: true, include_in_requests: false },
      { include_in_requests: true, source: 'remote_url' }
    ]
    for (const change of changes) {
      await program.sql`update playlists set ${program.sql(change)} where id = ${station.playlistId}`
      expect([change, await list()]).toEqual([change, ['Title 2']])
      expect([change, (await submit(program, station, song(station, 0).id)).status]).toEqual([change, 404])
    }
    await program.sql`update playlists set source = 'songs' where id = ${station.playlistId}`
    expect(await list()).toEqual(['Title 1', 'Title 2'])
  })

  test('is limited to a burst of thirty per address', async ({ program }) => {
    const { id } = await openStation(program, {}, { tracks: 1 })
    const from = stranger()
    const responses = await Promise.all(
      Array.from({ length: 300 }, () => program.ask('GET', `/api/station/${id}/requests`, { key: '', from }))
    )
    const refused = responses.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(30)
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^[12]$/)
    expect((await listOf(program, { id })).status).toBe(200)
  })

  test('limits searches per address, but not pages', async ({ program }) => {
    const { id } = await openStation(program, {}, { tracks: 1 })
    const from = stranger()
    const ask = async (query: string) =>
      program.ask('GET', `/api/station/${id}/requests?per_page=1${query}`, { key: '', from })
    let searches = 0
    while (searches < 100 && (await ask('&searchPhrase=title')).status === 200) searches++
    expect(searches).toBeGreaterThanOrEqual(30)
    expect(searches).toBeLessThan(100)
    expect((await ask('&searchPhrase=title')).status).toBe(429)
    expect((await ask('')).status).toBe(200)
  })
})

describe('a private station', () => {
  test('lists songs and accepts requests only with a key that has access', async ({ program }) => {
    const station = await openStation(program, { is_public: false })
    const other = await openStation(program)
    const mine = await keyOf(program, station.id, ['view station logs'])
    const foreign = await keyOf(program, other.id, ['administer all'])
    for (const key of ['', foreign, '0123456789abcdef:00000000000000000000000000000000']) {
      expect([key, (await listOf(program, station, '', key)).status]).toEqual([key, 404])
      const response = await submit(program, station, song(station, 0).id, stranger(), key)
      expect([key, response.status]).toEqual([key, 404])
    }
    expect(await stored(program.sql, station)).toEqual([])
    expect((await listOf(program, station, '', mine)).body).toHaveLength(10)
    expect((await submit(program, station, song(station, 0).id, stranger(), mine)).status).toBe(200)
  })
})

describe('a request', () => {
  test('is due after the delay and a random part, and stores the address of the listener', async ({
    program
  }) => {
    const station = await openStation(program, { request_delay: 10 })
    const { short_name: shortName } = (await program.ask('GET', `/api/admin/station/${station.id}`)).body
    const before = Date.now()
    const byId = await submit(program, station, song(station, 3).id, '203.0.113.9')
    expect([byId.status, byId.body]).toEqual([
      200,
      { success: true, message: accepted, formatted_message: accepted }
    ])
    const byUniqueId = await submit(
      program,
      { id: shortName },
      song(station, 4).uniqueId,
      '2001:db8:0:1:2:3:4:5'
    )
    expect(byUniqueId.status).toBe(200)
    const rows = await stored(program.sql, station)
    expect(rows).toMatchObject([
      { mediaId: song(station, 3).id, address: '203.0.113.9', state: 'pending' },
      { mediaId: song(station, 4).id, address: '2001:db8:0:1::/64', state: 'pending' }
    ])
    for (const { submitted, due } of rows) {
      expect(submitted).toBeGreaterThanOrEqual(before)
      expect(submitted).toBeLessThanOrEqual(Date.now())
      expect(due - submitted).toBeGreaterThanOrEqual(10 * minuteMs)
      expect(due - submitted).toBeLessThanOrEqual(20 * minuteMs)
    }
  })

  test('has a due time that is drawn once', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const station = await seedRequests(sql, { request_delay: 10, request_cooldown: 0 })
    const atMs = Date.now()
    for (const [index, chance] of [0, 0.25, 0.999999999999].entries()) {
      const media = { id: song(station, index).id }
      const request: NewSongRequest = { media, address: 'x', atMs, chance }
      await changeStation(playout, station.id, change => submitRequest(change, request))
    }
    const dues = (await stored(sql, station)).map(({ due }) => due - atMs)
    expect(dues).toEqual([10 * minuteMs, 12.5 * minuteMs, 20 * minuteMs])
  })

  const closed: [why: string, settings: Record<string, string | boolean>][] = [
    ['takes no requests', { enable_requests: false }],
    ['is disabled', { is_enabled: false }],
    ['has no AutoDJ', { backend: 'none' }]
  ]
  test.for(closed)('is refused if the station %s', async ([, settings], { program }) => {
    const station = await openStation(program, settings)
    const { status, body } = await submit(program, station, song(station, 0).id)
    expect([status, body]).toMatchObject([
      403,
      { type: 'PermissionDeniedException', message: 'This station does not accept requests.', success: false }
    ])
    const list = await listOf(program, station)
    expect([list.status, list.body]).toEqual([200, []])
    expect(await stored(program.sql, station)).toEqual([])
  })

  test('for an unknown song returns 404', async ({ program }) => {
    const station = await openStation(program)
    const other = await openStation(program)
    const names = [
      'abc',
      '-1',
      '007',
      '1.5',
      '%00',
      '9'.repeat(24),
      'f'.repeat(24),
      '0',
      '9223372036854775807'
    ]
    for (const name of [...names, song(other, 0).id, song(other, 0).uniqueId])
      expect([name, (await submit(program, station, name)).status]).toEqual([name, 404])
    expect((await submit(program, { id: 'nobody' }, song(station, 0).id)).status).toBe(404)
    await program.sql`delete from playlist_tracks where media_id = ${song(station, 0).id}`
    expect((await submit(program, station, song(station, 0).id)).status).toBe(404)
  })

  test('for a song that is already requested is refused until that request ends', async ({ program }) => {
    const station = await openStation(program, { request_cooldown: 0 })
    const { id } = song(station, 0)
    expect((await submit(program, station, id)).status).toBe(200)
    const [first = { id: 0 }] = await stored(program.sql, station)
    const again = async () => {
      const { status, body } = await submit(program, station, id)
      return [status, body.message, body.extra_data?.errors?.[0]?.code]
    }
    const refusal = [409, 'This song has been requested already and will be played soon.', 'duplicate']
    expect(await again()).toEqual(refusal)
    await enqueue(program.sql, first.id)
    expect(await again()).toEqual(refusal)
    await program.sql`update requests set state = 'aired', ended_at_ms = 1 where id = ${first.id}`
    expect((await again())[0]).toBe(200)
  })

  test('of the same listener is accepted after the cool-down', async ({ program }) => {
    const station = await openStation(program, { request_cooldown: 1_440 })
    const address = '2001:db8:77:1::1'
    expect((await submit(program, station, song(station, 0).id, address)).status).toBe(200)
    const { status, body, headers } = await submit(
      program,
      station,
      song(station, 1).id,
      '2001:db8:77:1:ffff::2'
    )
    expect([status, body.type, body.message]).toEqual([
      429,
      'RateLimitExceededException',
      'You have requested a song a short while ago: try again later.'
    ])
    const waitSeconds = Number(headers.get('retry-after'))
    expect(waitSeconds).toBeGreaterThan(86_300)
    expect(waitSeconds).toBeLessThanOrEqual(86_400)
    expect((await submit(program, station, song(station, 1).id, '2001:db8:77:2::1')).status).toBe(200)
    const elsewhere = await openStation(program)
    await program.sql`update requests set submitted_at_ms = submitted_at_ms - ${1_440 * minuteMs}
      where station_id = ${station.id}`
    // The cool-down is per station, and this one has ended; only the limit per address remains.
    expect((await submit(program, elsewhere, song(elsewhere, 1).id, '2001:db8:77:2::9')).status).toBe(200)
    expect((await submit(program, station, song(station, 2).id, '203.0.113.77')).status).toBe(200)
  })

  test('counts for the cool-down even if it was cancelled', async ({ program }) => {
    const station = await openStation(program)
    const address = stranger()
    expect((await submit(program, station, song(station, 0).id, address)).status).toBe(200)
    await program.ask('POST', `/api/station/${station.id}/reports/requests/clear`)
    expect((await submit(program, station, song(station, 1).id, address)).status).toBe(429)
  })

  test('is made by a GET in the dialect of AzuraCast only, and never by HEAD', async ({ program }) => {
    const station = await openStation(program, { request_cooldown: 0 })
    const path = `/api/station/${station.id}/request/${song(station, 0).uniqueId}`
    const from = stranger()
    const documented = await program.ask('GET', path, { key: '', from })
    expect([documented.status, documented.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    const body = { name: 'Links', permissions: ['view station management'], dialect: 'azuracast' }
    const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', { body })
    const key = String(made.key)
    expect((await program.ask('HEAD', path, { key, from })).status).toBe(405)
    expect(await stored(program.sql, station)).toHaveLength(0)
    const requested = await program.ask('GET', path, { key, from })
    expect(requested.body).toMatchObject({ success: true, message: accepted })
    expect(requested.headers.get('cache-control')).toBe('no-store')
    expect(await stored(program.sql, station)).toMatchObject([{ mediaId: song(station, 0).id }])
    expect((await program.ask('GET', path, { key, from })).status).toBe(409)
    expect((await program.ask('GET', path, { key, from })).status).toBe(429)
    await program.sql`delete from api_keys where id = ${made.api_key.id}`
  })

  test('is limited to two per five seconds and address', async ({ program }) => {
    const station = await openStation(program, { request_cooldown: 0 })
    const address = stranger()
    const responses = []
    for (let index = 0; index < 3; index++)
      responses.push(await submit(program, station, song(station, index).id, address))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(Number(responses[2]?.headers.get('retry-after'))).toBeLessThanOrEqual(3)
    expect(responses[2]?.body.message).toBe('Too many requests: try again later.')
  })
})

/** A song that is neither playing nor queued. */
async function freshSong(program: Program, station: Station) {
  const { body } = await program.ask('GET', `/api/nowplaying/${station.id}`)
  const queue = (await program.ask('GET', `/api/station/${station.id}/queue`)).body
  const heard = new Set([body.now_playing.song.title, ...titles(queue)])
  const found = station.media.find(({ title }) => !heard.has(title))
  if (!found) throw new Error('every song is in the queue')
  return found
}

async function openPlaying(
  program: Program,
  settings: Readonly<Record<string, number | boolean>> = {}
): Promise<Station> {
  const station = await openStation(
    program,
    { request_delay: 0, request_cooldown: 0, ...settings },
    { tracks: 20 }
  )
  // The queue may be filled before the first song starts.
  await shownWhen(
    program,
    station.id,
    ({ is_online: isOnline, playing_next: next }) => isOnline && next !== null
  )
  return station
}

describe('a request that is due', () => {
  test('plays next, and is shown as a request everywhere', async ({ program }) => {
    const station = await openPlaying(program)
    const { id, title } = await freshSong(program, station)
    expect((await submit(program, station, id)).status).toBe(200)
    const [first] = (await program.ask('GET', `/api/station/${station.id}/queue`)).body
    expect(first).toMatchObject({ is_request: true, playlist: '', song: { title } })
    const isRequested = (each: JsonBody) => each.is_request && each.song.title === title
    await shownWhen(program, station.id, ({ playing_next: next }) => isRequested(next))
    expect(await reportOf(program, station)).toMatchObject([{ state: 'queued', song: { title } }])

    await program.ask('POST', `/api/station/${station.id}/backend/skip`)
    const { now_playing: played } = await shownWhen(program, station.id, ({ now_playing: now }) =>
      isRequested(now)
    )
    expect(await reportOf(program, station)).toEqual([])
    expect(await reportOf(program, station, '?type=history')).toMatchObject([
      { state: 'aired', played_at: played.played_at, song: { title } }
    ])
    const [play] = (await program.ask('GET', `/api/station/${station.id}/history`)).body
    expect(play).toMatchObject({ is_request: true, song: { title } })
  })

  test('leaves the queue at once when it is cancelled', async ({ program }) => {
    const station = await openPlaying(program)
    const before = titles((await program.ask('GET', `/api/station/${station.id}/queue`)).body)
    const { id, title } = await freshSong(program, station)
    await submit(program, station, id)
    await shownWhen(program, station.id, ({ playing_next: next }) => next.song.title === title)
    const [row] = await reportOf(program, station)
    await program.ask('DELETE', `/api/station/${station.id}/reports/requests/${row.id}`)
    const { body } = await program.ask('GET', `/api/station/${station.id}/queue`)
    expect(titles(body)).toEqual(before)
    await shownWhen(program, station.id, ({ playing_next: next }) => next.song.title === before[0])
  })
})

describe('a request that an operator queues', () => {
  const queue = (program: Program, { id }: Station, body: object) =>
    program.ask('POST', `/api/station/${id}/queue`, { body })

  const statesOf = async (program: Program, station: Station) =>
    (await stored(program.sql, station)).map(({ state }) => state)

  const errorOf = ({ status, body }: { status: number; body: JsonBody }) => ({
    status,
    errors: body.extra_data.errors.map(({ field, code }: JsonBody) => `${field} ${code}`)
  })

  test('plays before it is due, as a request, and can be queued once', async ({ program }) => {
    const station = await openPlaying(program, { request_delay: 60 })
    const { id, title } = await freshSong(program, station)
    await submit(program, station, id)
    const [request] = await reportOf(program, station)
    expect(request.state).toBe('pending')
    const body = { request_id: request.id, position: 1 }
    const responses = await Promise.all([queue(program, station, body), queue(program, station, body)])
    const [row, refused] = responses.toSorted((a, b) => a.status - b.status)
    expect(row?.body).toMatchObject({
      is_request: true,
      song: { title },
      log: [
        { step: 'slot', why: 'manual' },
        { step: 'picked', request: request.id }
      ]
    })
    expect(refused && errorOf(refused)).toEqual({ status: 409, errors: ['request_id already_taken'] })
    expect(await statesOf(program, station)).toEqual(['queued'])
    await program.ask('POST', `/api/station/${station.id}/backend/skip`)
    await shownWhen(program, station.id, ({ now_playing: now }) => now.is_request && now.song.title === title)
    expect(await statesOf(program, station)).toEqual(['aired'])
    expect(errorOf(await queue(program, station, body))).toEqual({
      status: 409,
      errors: ['request_id already_taken']
    })
  })

  test('while the AutoDJ takes it is queued once', async ({ program }) => {
    const station = await openPlaying(program, { request_delay: 60 })
    const { id } = await freshSong(program, station)
    await submit(program, station, id)
    const [request] = await stored(program.sql, station)
    await program.sql`update requests set due_at_ms = 0, skip_delay = true where id = ${request?.id ?? 0}`
    const [byHand] = await Promise.all([
      queue(program, station, { request_id: request?.id }),
      program.ask('POST', `/api/station/${station.id}/reload`),
      program.ask('POST', `/api/station/${station.id}/reload`)
    ])
    expect([200, 409]).toContain(byHand.status)
    expect(await program.sql`select from queue where request_id = ${request?.id ?? 0}`).toHaveLength(1)
    expect(await statesOf(program, station)).toEqual(['queued'])
  })

  test('is entered for a listener, unless the song is requested already', async ({ program }) => {
    const station = await openPlaying(program, { enable_requests: false })
    const { id } = await freshSong(program, station)
    const { status, body } = await queue(program, station, { media_id: id, is_request: true })
    expect([status, body.is_request]).toEqual([200, true])
    expect(await reportOf(program, station)).toMatchObject([{ state: 'queued', media_id: id, ip: '' }])
    expect(errorOf(await queue(program, station, { media_id: id, is_request: true }))).toEqual({
      status: 409,
      errors: ['media_id duplicate']
    })
    // A removed row cancels its request.
    await program.ask('DELETE', new URL(body.links.self).pathname)
    expect(await statesOf(program, station)).toEqual(['cancelled'])
  })

  test('is refused if it is unknown, cancelled or named together with a song', async ({ program }) => {
    const station = await openPlaying(program, { request_delay: 60 })
    const other = await openStation(program)
    const { id } = await freshSong(program, station)
    await submit(program, station, id)
    const [request] = await reportOf(program, station)
    const body = { request_id: request.id }
    const unknown = { status: 404, errors: ['request_id not_found'] }
    expect(errorOf(await queue(program, other, body))).toEqual(unknown)
    for (const [more, error] of [
      [{ media_id: id }, 'request_id duplicate'],
      [{ media_ids: [id] }, 'request_id duplicate'],
      [{ is_request: true }, 'is_request not_allowed']
    ] as const)
      expect(errorOf(await queue(program, station, { ...body, ...more }))).toEqual({
        status: 400,
        errors: [error]
      })
    await program.ask('DELETE', `/api/station/${station.id}/reports/requests/${request.id}`)
    expect(errorOf(await queue(program, station, body))).toEqual(unknown)
  })
})

describe('concurrent requests', () => {
  test('for one song result in one', async ({ program }) => {
    const station = await openStation(program)
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => submit(program, station, song(station, 0).id))
    )
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array(11).fill(409)
    ])
    expect(await stored(program.sql, station)).toHaveLength(1)
  })

  test('of one listener result in one', async ({ program }) => {
    const station = await openStation(program)
    const address = stranger()
    const responses = await Promise.all(
      [0, 1].map(index => submit(program, station, song(station, index).id, address))
    )
    const [taken, refused] = responses.toSorted((a, b) => a.status - b.status)
    expect([taken?.status, refused?.status]).toEqual([200, 429])
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(290)
    expect(await stored(program.sql, station)).toHaveLength(1)
  })

  test('of one listener over many connections result in one', async ({ sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const station = await seedRequests(sql)
    const atMs = Date.now()
    const attempts = await Promise.allSettled(
      station.media.map(({ id }) => {
        const request: NewSongRequest = { media: { id }, address: 'x', atMs, chance: 0 }
        return changeStation(playout, station.id, change => submitRequest(change, request))
      })
    )
    const failures = attempts.flatMap(each => (each.status === 'rejected' ? [each.reason] : []))
    expect(failures.map(error => error instanceof ApiError && error.kind)).toEqual(Array(9).fill('too-many'))
    expect(await stored(sql, station)).toHaveLength(1)
  })

  test('of many listeners for all songs result in one per song', async ({ program }) => {
    const station = await openStation(program)
    const wanted = [...station.media, ...station.media]
    const responses = await Promise.all(wanted.map(({ id }) => submit(program, station, id)))
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array(10).fill(200),
      ...Array(10).fill(409)
    ])
    const rows = await stored(program.sql, station)
    expect(rows.map(({ mediaId }) => mediaId).toSorted((a, b) => a - b)).toEqual(
      station.media.map(({ id }) => id)
    )
  })
})

describe('the report of requests', () => {
  test('lists pending or finished requests, newest first', async ({ program }) => {
    const station = await openStation(program, { request_cooldown: 0, request_delay: 60 })
    for (const index of [0, 1, 2, 3, 4]) await submit(program, station, song(station, index).id)
    const [first, second, third, fourth, fifth] = (await stored(program.sql, station)).map(({ id }) => id)
    await program.sql`update requests set state = 'aired', ended_at_ms = 1767950400999 where id = ${third ?? 0}`
    await program.sql`update requests set state = 'expired', ended_at_ms = 1767950500000 where id = ${fourth ?? 0}`
    expect((await program.ask('DELETE', `/api/station/${station.id}/reports/requests/${fifth}`)).status).toBe(
      200
    )
    // Last, because refilling the queue would make requests that are not due pending again.
    await enqueue(program.sql, second ?? 0)

    const pending = await reportOf(program, station)
    expect(pending).toEqual(await reportOf(program, station, '?type=pending'))
    expect(pending).toMatchObject([
      { id: second, state: 'queued', played_at: 0, media_id: song(station, 1).id },
      { id: first, state: 'pending', played_at: 0, media_id: song(station, 0).id, skip_delay: false }
    ])
    const over = await reportOf(program, station, '?type=history')
    expect(over).toMatchObject([
      { id: fifth, state: 'cancelled', played_at: 0 },
      { id: fourth, state: 'expired', played_at: 0 },
      { id: third, state: 'aired', played_at: 1_767_950_400, song: { title: song(station, 2).title } }
    ])
    for (const row of [...pending, ...over]) expect(differences(row, songRequest)).toEqual([])
    const [row] = await stored(program.sql, station)
    expect(pending.at(-1)).toMatchObject({
      timestamp: Math.floor((row?.submitted ?? 0) / 1000),
      due_at: Math.floor((row?.due ?? 0) / 1000),
      ip: row?.address
    })
    const page = await reportOf(program, station, '?type=history&per_page=1&page=2')
    expect([page.total, titles(page.rows)]).toEqual([3, [song(station, 3).title]])
    expect(titles(await reportOf(program, station, '?searchPhrase=title%202'))).toEqual(['Title 2'])
  })

  test('shows addresses only with the broadcasting permission', async ({ program }) => {
    const station = await openStation(program)
    await submit(program, station, song(station, 0).id, '203.0.113.200')
    const ips: [permissions: string[], ip: string][] = [
      [['view station reports'], ''],
      [['manage station broadcasting'], '203.0.113.200'],
      [['view all'], '203.0.113.200'],
      [['administer all'], '203.0.113.200']
    ]
    for (const [permissions, ip] of ips) {
      const rows = await reportOf(program, station, '', await keyOf(program, station.id, permissions))
      expect([permissions, rows.map((row: JsonBody) => row.ip)]).toEqual([permissions, [ip]])
    }
    const weak = await keyOf(program, station.id, ['view station management'])
    expect((await reportOf(program, station, '', weak)).type).toBe('PermissionDeniedException')
  })

  test('refuses other types', async ({ program }) => {
    const station = await openStation(program)
    const { status, body } = await program.ask(
      'GET',
      `/api/station/${station.id}/reports/requests?type=played`
    )
    expect([status, body.extra_data.errors[0]]).toMatchObject([400, { field: 'type', code: 'not_in_enum' }])
  })
})

describe('a request that is cancelled', () => {
  const cancel = (program: Program, { id }: { id: number }, requestId: number | string, key?: string) =>
    program.ask(
      'DELETE',
      `/api/station/${id}/reports/requests/${requestId}`,
      key === undefined ? {} : { key }
    )

  test('ends, and the same song can be requested again', async ({ program }) => {
    const station = await openStation(program, { request_cooldown: 0 })
    const { id } = song(station, 0)
    await submit(program, station, id)
    const [row = { id: 0 }] = await stored(program.sql, station)
    const { status, body } = await cancel(program, station, row.id)
    expect([status, body.message]).toEqual([200, 'Record deleted successfully.'])
    expect(await reportOf(program, station)).toEqual([])
    expect((await cancel(program, station, row.id)).status).toBe(404)
    expect((await submit(program, station, id)).status).toBe(200)
    const [audit] = await program.sql`
      select method, record, record_id from audit_log where station_id = ${station.id} order by id desc limit 1`
    expect(audit).toEqual({ method: 'DELETE', record: 'SongRequest', record_id: String(row.id) })
  })

  test('leaves the queue, unless the song was sent to the playout', async ({ program }) => {
    const station = await openStation(program, { request_cooldown: 0, backend: 'liquidsoap' })
    for (const index of [0, 1, 2]) await submit(program, station, song(station, index).id)
    const [queued = { id: 0 }, sent = { id: 0 }, aired = { id: 0 }] = await stored(program.sql, station)
    const queuedRow = await enqueue(program.sql, queued.id)
    const sentRow = await enqueue(program.sql, sent.id, true)
    await program.sql`update requests set state = 'aired', ended_at_ms = 1 where id = ${aired.id}`
    const revision = async () =>
      (
        await program.sql<
          { queue_revision: number }[]
        >`select queue_revision from stations where id = ${station.id}`
      )[0]?.queue_revision ?? 0

    const before = await revision()
    expect((await cancel(program, station, queued.id)).status).toBe(200)
    expect(await isKept(program.sql, queuedRow)).toBe(false)
    expect(await revision()).toBeGreaterThan(before)
    const onItsWay = await cancel(program, station, sent.id)
    expect([onItsWay.status, onItsWay.body.message]).toEqual([
      409,
      'The song has already been sent to the playout.'
    ])
    expect(await isKept(program.sql, sentRow)).toBe(true)
    const over = await cancel(program, station, aired.id)
    expect([over.status, over.body.message]).toEqual([409, 'The request was played or has expired.'])
    expect((await stored(program.sql, station)).map(({ state }) => state)).toEqual([
      'cancelled',
      'queued',
      'aired'
    ])
  })

  test('belongs to the station; cancelling requires the broadcasting permission', async ({ program }) => {
    const station = await openStation(program)
    const other = await openStation(program)
    await submit(program, station, song(station, 0).id)
    const [row = { id: 0 }] = await stored(program.sql, station)
    for (const id of ['abc', '0', '9223372036854775807', '007'])
      expect([id, (await cancel(program, station, id)).status]).toEqual([id, 404])
    expect((await cancel(program, other, row.id)).status).toBe(404)
    const reader = await keyOf(program, station.id, ['view station reports', 'manage station media'])
    expect((await cancel(program, station, row.id, reader)).status).toBe(403)
    expect((await cancel(program, station, row.id, '')).status).toBe(403)
    expect(await reportOf(program, station)).toHaveLength(1)
    const host = await keyOf(program, station.id, ['manage station broadcasting'])
    expect((await cancel(program, station, row.id, host)).status).toBe(200)
  })

  test('by concurrent calls is cancelled once', async ({ program }) => {
    const station = await openStation(program)
    await submit(program, station, song(station, 0).id)
    const [row = { id: 0 }] = await stored(program.sql, station)
    const responses = await Promise.all(Array.from({ length: 6 }, () => cancel(program, station, row.id)))
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array(5).fill(404)
    ])
  })

  test('with all pending ones, except a song sent to the playout', async ({ program }) => {
    const station = await openStation(program, { request_cooldown: 0, backend: 'liquidsoap' })
    const other = await openStation(program)
    for (const index of [0, 1, 2]) await submit(program, station, song(station, index).id)
    await submit(program, other, song(other, 0).id)
    const [, queued = { id: 0 }, sent = { id: 0 }] = await stored(program.sql, station)
    const queuedRow = await enqueue(program.sql, queued.id)
    const sentRow = await enqueue(program.sql, sent.id, true)
    const path = `/api/station/${station.id}/reports/requests/clear`
    const { status, body } = await program.ask('POST', path)
    expect([status, body.message]).toEqual([200, 'Changes saved successfully.'])
    expect((await stored(program.sql, station)).map(({ state }) => state)).toEqual([
      'cancelled',
      'cancelled',
      'queued'
    ])
    expect([await isKept(program.sql, queuedRow), await isKept(program.sql, sentRow)]).toEqual([false, true])
    expect((await stored(program.sql, other)).map(({ state }) => state)).toEqual(['pending'])
    const [audit] = await program.sql`
      select method, path, record, record_id from audit_log where station_id = ${station.id} order by id desc limit 1`
    expect(audit).toEqual({ method: 'POST', path, record: 'SongRequest', record_id: '*' })
    const reader = await keyOf(program, station.id, ['view station reports'])
    expect((await program.ask('POST', path, { key: reader })).status).toBe(403)
  })
})

describe('a request that does not fit into the queue', () => {
  test('expires three hours after its due time, and is kept for a month', async ({ sql }) => {
    const station = await seedRequests(sql)
    const nowMs = Date.now()
    const dues = [nowMs - 180 * minuteMs, nowMs - 180 * minuteMs + 1, nowMs - 500 * minuteMs, nowMs]
    for (const [index, due] of dues.entries())
      await sql`insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms, state)
        values (${station.id}, ${song(station, index).id}, 'x', 0, ${due}, ${index === 2 ? 'queued' : 'pending'})`
    const stationFaults = openSilentFaults()
    expect(await expireRequests({ sql, stationFaults }, nowMs)).toBe(1)
    expect(await expireRequests({ sql, stationFaults }, nowMs)).toBe(0)
    const states = async () => (await stored(sql, station)).map(({ state }) => state)
    expect(await states()).toEqual(['expired', 'pending', 'queued', 'pending'])
    const monthMs = 30 * 86_400_000
    expect(await removeOldRequests(sql, nowMs + monthMs, parseConfig({}))).toBe(0)
    expect(await removeOldRequests(sql, nowMs + monthMs + 1, parseConfig({}))).toBe(1)
    expect(await states()).toEqual(['pending', 'queued', 'pending'])
  })

  test('loses its address after the cool-down', async ({ sql }) => {
    const nowMs = Date.now()
    const station = await seedRequests(sql, { request_cooldown: 15 })
    for (const [index, agoMinutes] of [14, 16].entries())
      await sql`insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms)
        values (${station.id}, ${song(station, index).id}, '192.0.2.7', ${nowMs - agoMinutes * minuteMs}, ${nowMs})`
    expect(await removeRequestAddresses(sql, nowMs)).toBe(1)
    expect(await removeRequestAddresses(sql, nowMs)).toBe(0)
    const addresses =
      await sql`select address from requests where station_id = ${station.id} order by submitted_at_ms`
    expect(addresses.map(({ address }) => address)).toEqual(['', '192.0.2.7'])
  })
})
