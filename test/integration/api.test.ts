import { request } from 'node:http'

import { describe, expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { connectLive, isDisconnect, isPub, subscribeLive } from '../support/live-client.ts'
import { startPlaying } from '../support/playing.ts'
import type { Program } from '../support/program.ts'
import { seedStation, type Shape } from '../support/stations.ts'
import { changeUnpublished } from '../support/unpublished.ts'
import { waitFor } from '../support/wait.ts'

const keys = {
  document: 'station listeners live now_playing playing_next song_history is_online cache',
  station:
    'id name shortcode description frontend backend timezone listen_url url public_player_url playlist_pls_url playlist_m3u_url is_public mounts remotes hls_enabled hls_is_default hls_url hls_listeners',
  played: 'sh_id played_at duration playlist streamer is_request song',
  cued: 'cued_at played_at duration playlist is_request song',
  song: 'id art custom_fields text artist title album genre isrc lyrics',
  queueItem:
    'cued_at played_at duration playlist is_request song links sent_to_autodj is_played autodj_custom_uri log',
  error: 'code type message formatted_message extra_data success'
}
const keysOf = (record: object) => Object.keys(record).toSorted()
const named = (names: string) => names.split(' ').toSorted()

/** Creates a playing station. Returns it with its now-playing document. */
async function playing(program: Program, shape: Omit<Shape, 'stations'> = {}) {
  const { id, document } = await startPlaying(program, shape)
  return { id, shortName: String(document.station.shortcode), document }
}

describe('now playing', () => {
  test('has exactly the documented keys, by id, by short name and in the list', async ({ program }) => {
    const { id, shortName, document } = await playing(program)
    expect(keysOf(document)).toEqual(named(keys.document))
    expect(keysOf(document.station)).toEqual(named(keys.station))
    expect(keysOf(document.now_playing)).toEqual(named(`${keys.played} elapsed remaining`))
    expect(keysOf(document.playing_next)).toEqual(named(keys.cued))
    expect(keysOf(document.now_playing.song)).toEqual(named(keys.song))
    const byName = await program.ask('GET', `/api/nowplaying/${shortName}?_=${Date.now()}`, { key: '' })
    expect(byName.body.now_playing.sh_id).toBe(document.now_playing.sh_id)
    const list = await program.ask('GET', '/api/nowplaying', { key: '' })
    expect(list.body.map((each: { station: { id: number } }) => each.station.id)).toContain(id)
    const alias = await program.ask('GET', `/api/station/${id}/nowplaying`, { key: '' })
    expect(alias.body.station).toEqual(document.station)
    const summary = await program.ask('GET', `/api/station/${id}`, { key: '' })
    expect(summary.body).toEqual(document.station)
    const stations = await program.ask('GET', '/api/stations', { key: '' })
    expect(stations.body).toContainEqual(document.station)
  })

  test('has an elapsed time that grows with the clock', async ({ program }) => {
    const { id } = await playing(program)
    const later = await waitFor(
      async () => {
        const { body } = await program.ask('GET', `/api/nowplaying/${id}`, { key: '' })
        return body.now_playing.elapsed >= 2 && body
      },
      { deadlineMs: 5_000, what: 'two seconds to pass' }
    )
    const { played_at, elapsed, remaining, duration } = later.now_playing
    expect(elapsed + remaining).toBe(duration)
    expect(Math.abs(played_at + elapsed - Date.now() / 1000)).toBeLessThan(2)
  })

  test('shows the announced song once the current one has ended, which is then first in the history', async ({
    program
  }) => {
    const { id, document } = await playing(program, { songMs: 2_000 })
    const socket = `${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
    const client = await subscribeLive(socket, { subs: { [`station:${id}`]: { recover: true } } })
    expect(client.connect.subs?.[`station:${id}`]?.publications).toHaveLength(1)
    const isNext = (frame: unknown) => isPub(frame) && frame.pub.data.triggers.includes('song_changed')
    const first = await client.until((frame): frame is Parameters<typeof isNext>[0] => isNext(frame))
    const second = await client.until((frame): frame is Parameters<typeof isNext>[0] => isNext(frame))
    const [before, after] = [first, second].map(frame => (isPub(frame) ? Object(frame.pub.data.np) : null))
    expect(after.now_playing.song).toEqual(before.playing_next.song)
    expect(after.now_playing.played_at).toBe(before.playing_next.played_at)
    expect(after.song_history[0].sh_id).toBe(before.now_playing.sh_id)
    expect(after.now_playing.sh_id).toBeGreaterThan(document.now_playing.sh_id)
  })

  test('of an unknown station is 404 in the error format, readable from any origin', async ({ program }) => {
    for (const key of [
      'nobody',
      '4711',
      '007',
      '1.5',
      '-1',
      '%2e%2e',
      'a%00b',
      '9'.repeat(40),
      '__proto__'
    ]) {
      const { status, body, headers } = await program.ask('GET', `/api/nowplaying/${key}`, { key: '' })
      expect([key, status]).toEqual([key, 404])
      expect(keysOf(body)).toEqual(named(keys.error))
      expect(headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  test('of a private station needs a key; without one, every endpoint treats the station as unknown', async ({
    program
  }) => {
    const { id, shortName } = await playing(program)
    await changeUnpublished(
      program.sql,
      tx => tx`update stations set is_public = false, revision = revision + 1,
      station_revision = revision + 1 where id = ${id}`
    )
    await waitFor(
      async () => (await program.ask('GET', `/api/nowplaying/${id}`, { key: '' })).status === 404,
      { deadlineMs: 5_000, what: 'the station to be hidden' }
    )
    const socket = `${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
    const client = await subscribeLive(socket, { subs: { [`station:${shortName}`]: { recover: true } } })
    expect(client.connect.subs?.[`station:${shortName}`]?.publications).toBeUndefined()
    for (const path of ['/api/nowplaying', '/api/stations']) {
      const hidden = await program.ask('GET', path, { key: '' })
      expect(JSON.stringify(hidden.body)).not.toContain(shortName)
      const shown = await program.ask('GET', path)
      expect(JSON.stringify(shown.body)).toContain(shortName)
      expect(shown.headers.get('cache-control')).toBe('private, no-store')
      expect(hidden.headers.get('vary')).toContain('X-API-Key')
    }
    for (const path of [`/api/station/${id}`, `/api/station/${shortName}/nowplaying`]) {
      expect((await program.ask('GET', path, { key: '' })).status).toBe(404)
      expect((await program.ask('GET', path)).headers.get('cache-control')).toBe('private, no-store')
    }
  })

  test('answers HEAD without a body and ignores a wrong key for a public station', async ({ program }) => {
    const { id } = await playing(program)
    const head = await program.ask('HEAD', `/api/nowplaying/${id}`, { key: '' })
    expect([head.status, head.body]).toEqual([200, ''])
    expect((await program.ask('GET', `/api/nowplaying/${id}`, { key: 'wrong' })).status).toBe(200)
  })
})

describe('the queue', () => {
  test('lists the planned songs, with exactly the documented keys', async ({ program }) => {
    const { id, document } = await playing(program, { queueLength: 5 })
    const { body, headers } = await program.ask('GET', `/api/station/${id}/queue`)
    expect(body).toHaveLength(5)
    expect(headers.get('x-total-count')).toBe('5')
    expect(keysOf(body[0])).toEqual(named(keys.queueItem))
    expect(keysOf(body[0].song)).toEqual(named(keys.song))
    expect(body[0].song).toEqual(document.playing_next.song)
    const self = new URL(body[0].links.self)
    expect(self.pathname).toMatch(new RegExp(`^/api/station/${id}/queue/\\d+$`))
    expect((await program.ask('GET', self.pathname)).body).toEqual(body[0])
  })

  test('closes the gap of a deleted item, and the next song changes at once', async ({ program }) => {
    const { id } = await playing(program)
    const before = (await program.ask('GET', `/api/station/${id}/queue`)).body
    const path = new URL(before[0].links.self).pathname
    const deleted = await program.ask('DELETE', path)
    expect([deleted.status, deleted.body]).toEqual([
      200,
      {
        success: true,
        message: 'Record deleted successfully.',
        formatted_message: 'Record deleted successfully.'
      }
    ])
    const after = (await program.ask('GET', `/api/station/${id}/queue`)).body
    expect(after[0].song).toEqual(before[1].song)
    expect(after).toHaveLength(3)
    await waitFor(
      async () => {
        const { body } = await program.ask('GET', `/api/nowplaying/${id}`)
        return body.playing_next.song.id === before[1].song.id
      },
      { deadlineMs: 2_000, what: 'the new next song' }
    )
    expect((await program.ask('DELETE', path)).status).toBe(404)
    expect((await program.ask('GET', path)).status).toBe(404)
  })

  test('does not return rows of another station', async ({ program }) => {
    const [one, other] = [await playing(program), await playing(program)]
    const { body } = await program.ask('GET', `/api/station/${one.id}/queue`)
    const queueId = new URL(body[0].links.self).pathname.split('/').at(-1)
    for (const method of ['GET', 'DELETE']) {
      expect((await program.ask(method, `/api/station/${other.id}/queue/${queueId}`)).status).toBe(404)
    }
    for (const bad of ['abc', '0', '9'.repeat(19), '1e3', '%2e%2e%2f']) {
      expect((await program.ask('GET', `/api/station/${one.id}/queue/${bad}`)).status).toBe(404)
    }
  })

  test('returns items that have been played, but does not delete them', async ({ program }) => {
    const { id } = await playing(program)
    const [item] = (await program.ask('GET', `/api/station/${id}/queue`)).body
    await program.ask('POST', `/api/station/${id}/backend/skip`)
    const path = new URL(item.links.self).pathname
    expect((await program.ask('GET', path)).body.is_played).toBe(true)
    const { status, body } = await program.ask('DELETE', path)
    expect([status, body.type]).toEqual([409, 'ConflictException'])
  })
})

describe('skip', () => {
  test('starts the announced song now', async ({ program }) => {
    const { id, document } = await playing(program)
    const { status, body } = await program.ask('POST', `/api/station/${id}/backend/skip`)
    expect([status, body.message]).toEqual([200, 'Song skipped.'])
    const after = await waitFor(
      async () => {
        const response = await program.ask('GET', `/api/nowplaying/${id}`)
        return response.body.now_playing.sh_id !== document.now_playing.sh_id && response.body
      },
      { deadlineMs: 2_000, what: 'the next song' }
    )
    expect(after.now_playing.song).toEqual(document.playing_next.song)
  })

  test('of a play that has ended meanwhile does not skip the next one', async ({ program }) => {
    const { id, document } = await playing(program)
    const path = `/api/station/${id}/backend/skip`
    const precondition = { body: { sh_id: document.now_playing.sh_id } }
    expect((await program.ask('POST', path, precondition)).status).toBe(200)
    const { status, body } = await program.ask('POST', path, precondition)
    expect([status, body.message]).toEqual([409, 'Another song is playing now.'])
    const wrong = await program.ask('POST', path, { body: { sh_id: 'x' } })
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('sh_id')])
    const plays = await program.sql`select id from song_history where station_id = ${id}`
    expect(plays).toHaveLength(2)
  })

  test('of the displayed song ends the jingle that plays while the song is displayed', async ({
    program
  }) => {
    const { id, document } = await playing(program)
    await program.sql`update queue set is_visible = false where id = (
      select min(id) from queue where station_id = ${id} and played_at_ms is null and skipped_at_ms is null)`
    const path = `/api/station/${id}/backend/skip`
    const precondition = { body: { sh_id: document.now_playing.sh_id } }
    expect((await program.ask('POST', path, precondition)).status).toBe(200)
    expect((await program.ask('POST', path, precondition)).status).toBe(200)
    expect((await program.ask('POST', path, precondition)).status).toBe(409)
  })

  test('of a silent station is refused', async ({ program }) => {
    const stationId = await seedStation(program.sql, { tracks: 0 })
    const { status, body } = await program.ask('POST', `/api/station/${stationId}/backend/skip`)
    expect([status, body.message]).toEqual([409, 'Nothing is playing.'])
  })
})

describe('listener reports', () => {
  test('appear in the document and at its mounts', async ({ program }) => {
    const { id, document } = await playing(program)
    const report = { total: 12, unique: 9, mounts: [{ id: document.station.mounts[0].id, total: 12 }] }
    const { status } = await program.ask('PUT', `/api/station/${id}/listeners`, { body: report })
    expect(status).toBe(200)
    const after = await waitFor(
      async () => {
        const { body } = await program.ask('GET', `/api/nowplaying/${id}`)
        return body.listeners.total === 12 && body.station.mounts[0].listeners.total === 12 && body
      },
      { deadlineMs: 2_000, what: 'the new counts' }
    )
    expect(after.listeners).toEqual({ total: 12, unique: 9, current: 12 })
    expect(after.station.mounts[0].listeners).toEqual({ total: 12, unique: 12, current: 12 })
  })

  const bad: [name: string, body: unknown, fields: string[]][] = [
    ['negative', { total: -1, unique: -5 }, ['total', 'unique']],
    ['too large', { total: 1e15, unique: 5 }, ['total']],
    ['fractional', { total: 1.5 }, ['total']],
    ['text', { total: 'many' }, ['total']],
    ['no counts', {}, ['total']],
    ['more unique than total', { total: 1, unique: 2 }, ['unique']],
    ['a source without a name', { total: 1, mounts: [{ total: 1 }] }, ['mounts.0']],
    ['invalid sources', { total: 1, mounts: [{ id: 1, total: -1 }], hls: 'x' }, ['mounts.0.total', 'hls']],
    ['an unknown mount', { total: 1, mounts: [{ path: '/nowhere', total: 1 }] }, ['mounts.0.path']],
    ['a list', [], ['total']],
    ['invalid JSON', '{"total":', ['']]
  ]
  test.for(bad)(
    'that are invalid are refused completely, with the name of the field: %s',
    async ([, body, fields], { program }) => {
      const id = await seedStation(program.sql)
      const response = await program.ask('PUT', `/api/station/${id}/listeners`, { body })
      expect(response.status).toBe(400)
      const refused = (response.body.extra_data.errors ?? [{ field: '' }]).map(
        (each: { field: string }) => each.field
      )
      expect([...new Set(refused)]).toEqual(expect.arrayContaining(fields))
      const [row] =
        await program.sql`select listeners_total, listeners_revision from stations where id = ${id}`
      expect(row).toEqual({ listeners_total: 0, listeners_revision: 1 })
    }
  )
})

describe('keys', () => {
  test('are required for everything except public reads', async ({ program }) => {
    const { id } = await playing(program)
    const protectedEndpoints = [
      ['GET', `/api/station/${id}/queue`],
      ['GET', `/api/station/${id}/queue/1`],
      ['DELETE', `/api/station/${id}/queue/1`],
      ['POST', `/api/station/${id}/backend/skip`],
      ['PUT', `/api/station/${id}/listeners`],
      ['GET', '/api/health'],
      ['GET', '/api/station/4711/queue']
    ] as const
    for (const [method, path] of protectedEndpoints) {
      for (const key of ['', 'wrong', '0123456789abcdef:00000000000000000000000000000000']) {
        const { status, body } = await program.ask(method, path, { key })
        expect([method, path, status, body.type]).toEqual([method, path, 403, 'NotLoggedInException'])
      }
    }
    expect((await program.ask('GET', '/api/station/4711/queue')).status).toBe(404)
  })

  test('have permissions, and stop working when they are revoked or expired', async ({ program }) => {
    const { id } = await playing(program)
    const weak = 'aaaaaaaaaaaaaaaa:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
    await program.sql`
      insert into api_keys (name, identifier, verifier, permissions)
      values ('weak', 'aaaaaaaaaaaaaaaa', sha256('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'), '["view station management"]')`
    expect((await program.ask('GET', `/api/station/${id}/queue`, { key: weak })).status).toBe(200)
    const refused = await program.ask('POST', `/api/station/${id}/backend/skip`, { key: weak })
    expect([refused.status, refused.body.type]).toEqual([403, 'PermissionDeniedException'])
    await program.sql`update api_keys set revoked_at = now() where identifier = 'aaaaaaaaaaaaaaaa'`
    await waitFor(
      async () => (await program.ask('GET', `/api/station/${id}/queue`, { key: weak })).status === 403,
      { deadlineMs: 2_000, what: 'the revocation to work' }
    )
  })
})

test('time, status and health are reported', async ({ program }) => {
  const time = await program.ask('GET', '/api/time', { key: '' })
  expect(Math.abs(time.body.timestamp - Date.now() / 1000)).toBeLessThan(3)
  const { body: status } = await program.ask('GET', '/api/status', { key: '' })
  expect(status).toEqual({ online: true, timestamp: expect.closeTo(Date.now() / 1000, -1) })
  const health = await program.ask('GET', '/api/health')
  expect(health.body).toMatchObject({ status: 'success', postgres: 'up', redis: 'up', live_state: 'current' })
})

test('missing artwork redirects to the built-in image', async ({ program }) => {
  const { shortName } = await playing(program)
  const missing = await program.ask('GET', `/api/station/${shortName}/art/-1`, { key: '' })
  expect(missing.status).toBe(302)
  const image = await fetch(`${program.baseUrl}/static/img/generic_song.jpg`)
  expect(image.headers.get('content-type')).toBe('image/jpeg')
  expect(
    Buffer.from(await image.arrayBuffer())
      .subarray(0, 2)
      .toString('hex')
  ).toBe('ffd8')
})

test('artwork is served with its type and may be cached', async ({ program }) => {
  const { id, shortName } = await playing(program)
  const png = Buffer.from('89504e470d0a1a0a', 'hex')
  await program.sql`insert into artwork (hash, content_type, bytes) values ('abcdef0123', 'image/png', ${png})`
  const [media] = await program.sql<{ unique_id: string }[]>`
    update media set artwork_hash = 'abcdef0123' where station_id = ${id} returning unique_id`
  const response = await fetch(
    `${program.baseUrl}/api/station/${shortName}/art/${media?.unique_id}-abcdef01.jpg`
  )
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(response.headers.get('cache-control')).toContain('max-age=31536000')
  expect(Buffer.from(await response.arrayBuffer())).toEqual(png)

  await changeUnpublished(
    program.sql,
    tx => tx`update stations set is_public = false, revision = revision + 1,
    station_revision = revision + 1 where id = ${id}`
  )
  const path = `/api/station/${shortName}/art/${media?.unique_id}.jpg`
  await waitFor(async () => (await program.ask('GET', path, { key: '' })).status === 302, {
    deadlineMs: 5_000,
    what: 'the cover of a private station to be hidden'
  })
  const withKey = await program.ask('GET', path)
  expect([withKey.status, withKey.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
})

test('a malformed URL in the request line gets a response', async ({ program }) => {
  const { hostname, port } = new URL(program.baseUrl)
  const status = await new Promise(resolve => {
    request({ hostname, port, path: '/api/nowplaying/%zz%', method: 'GET' }, response => {
      response.resume()
      resolve(response.statusCode)
    }).end()
  })
  expect(status).toBe(404)
})

test('a server that is stopped notifies its clients and exits with 0', async ({ program }) => {
  const client = connectLive(`${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`)
  client.socket.once('open', () => client.socket.send('{}'))
  await waitFor(() => client.frames.length > 0, { deadlineMs: 5_000, what: 'the connect frame' })
  const ended = new Promise(resolve => program.server.once('exit', resolve))
  program.server.kill('SIGTERM')
  expect(await client.until(isDisconnect)).toEqual({ disconnect: { code: 3001, reason: 'shutdown' } })
  expect((await client.closed).code).toBe(1001)
  expect(await ended).toBe(0)
})
