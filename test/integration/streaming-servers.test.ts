import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { startFakeIcecast } from '../support/streaming-server.ts'
import { waitFor } from '../support/wait.ts'

/** Sends a request and returns the body of the successful response. */
async function ok(program: Program, method: string, path: string, body?: object): Promise<JsonBody> {
  const response = await program.ask(method, path, { body })
  expect([response.status, response.body.message]).toEqual([
    200,
    response.body.success && response.body.message
  ])
  return response.body
}

test('a new server is polled at once, and its data is shown until it is no longer polled', async ({
  program
}) => {
  await using icecast = await startFakeIcecast()
  icecast.send({
    path: '/radio.mp3',
    title: 'Tom &amp; Ann - Rain',
    listeners: [
      ['203.0.113.9', 'VLC'],
      ['203.0.113.9', 'VLC']
    ]
  })
  const { id } = await ok(program, 'POST', '/api/admin/stations', {
    name: 'Polled',
    backend: 'none',
    frontend_url: `${icecast.url}/?pass=first-secret`,
    frontend_admin_password: 'open sesame'
  })
  const shown = await waitFor(
    async () => {
      const { body } = await program.ask('GET', `/api/nowplaying/${id}`)
      return body.is_online && body
    },
    { deadlineMs: 5_000, what: 'the song that the server shows' }
  )
  expect(shown).toMatchObject({
    now_playing: { song: { artist: 'Tom & Ann', title: 'Rain' } },
    listeners: { total: 2, unique: 1 },
    station: { mounts: [{ path: '/radio.mp3', listeners: { total: 2, unique: 1 } }] }
  })
  const poll = { remote_id: null, type: 'icecast', url: `${icecast.url}/`, failing_since: null, problem: '' }
  const responded = await waitFor(
    async () => {
      const [row] = await ok(program, 'GET', `/api/station/${id}/polls`)
      return row.answered_at !== null && row
    },
    { deadlineMs: 5_000, what: 'the result of the poll' }
  )
  expect(responded).toEqual({ ...poll, answered_at: expect.any(Number) })
  expect(Math.abs(responded.answered_at - Date.now() / 1_000)).toBeLessThan(10)

  await ok(program, 'PUT', `/api/admin/station/${id}`, { frontend_admin_password: 'wrong' })
  await waitFor(
    async () => (await ok(program, 'GET', `/api/station/${id}/polls`))[0].problem.includes('admin password'),
    { deadlineMs: 5_000, what: 'the wrong password to be noticed' }
  )
  await ok(program, 'PUT', `/api/admin/station/${id}`, { frontend_url: '' })
  expect(await ok(program, 'GET', `/api/station/${id}/polls`)).toEqual([])
  await waitFor(
    async () => {
      const { body } = await program.ask('GET', `/api/nowplaying/${id}`)
      return !body.is_online && body.listeners.total === 0
    },
    { deadlineMs: 5_000, what: 'what was shown to end' }
  )
  await waitFor(async () => (await program.sql`select from polls where station_id = ${id}`).length === 0, {
    deadlineMs: 5_000,
    what: 'the poll to go'
  })
})

test('the address of a remote may be private as long as it is not polled', async ({ program }) => {
  const stationId = await seedStation(program.sql, { tracks: 0 })
  const body = { name: 'Relay', url: 'http://127.0.0.1:1024/relay.mp3' }
  const { id } = await ok(program, 'POST', `/api/station/${stationId}/remotes`, body)
  expect(await ok(program, 'GET', `/api/station/${stationId}/polls`)).toEqual([])
  const refused = await program.ask('PUT', `/api/station/${stationId}/remote/${id}`, {
    body: { type: 'icecast' }
  })
  expect([refused.status, refused.body.extra_data.errors[0]]).toMatchObject([
    400,
    { field: 'url', code: 'unsafe_url' }
  ])
  const asked = { type: 'shoutcast2', url: 'http://relay.invalid:8000/?sid=2' }
  await ok(program, 'PUT', `/api/station/${stationId}/remote/${id}`, asked)
  const [poll] = await ok(program, 'GET', `/api/station/${stationId}/polls`)
  expect(poll).toMatchObject({ remote_id: id, type: 'shoutcast2', url: 'http://relay.invalid:8000/' })
})

test('deleting a remote removes its listeners', async ({ program }) => {
  const stationId = await seedStation(program.sql, { tracks: 0 })
  const path = `/api/station/${stationId}/remotes`
  const { id } = await ok(program, 'POST', path, { name: 'Relay', url: 'http://relay.invalid/relay.mp3' })
  const counts = { total: 10, unique: 9, remotes: [{ id, total: 4, unique: 3 }] }
  await ok(program, 'PUT', `/api/station/${stationId}/listeners`, counts)
  await ok(program, 'DELETE', `/api/station/${stationId}/remote/${id}`)
  const { body } = await program.ask('GET', `/api/nowplaying/${stationId}`)
  expect(body).toMatchObject({ listeners: { total: 6, unique: 6 }, station: { remotes: [] } })
})
