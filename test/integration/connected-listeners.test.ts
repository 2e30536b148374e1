import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import type { Program } from '../support/program.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { seedStation } from '../support/stations.ts'
import { startFakeIcecast, startFakeShoutcast } from '../support/streaming-server.ts'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0'

/** Creates a station on a streaming server, and returns the path of its listeners. */
async function addStation(
  { sql, ask }: Program,
  url: string,
  frontend = 'icecast',
  password = 'open sesame'
) {
  const id = await seedStation(sql, { tracks: 0 })
  const body = { frontend, frontend_url: url, frontend_admin_password: password }
  const { status } = await ask('PUT', `/api/admin/station/${id}`, { body })
  expect(status).toBe(200)
  return `/api/station/${id}/listeners`
}

async function makeKey({ ask }: Program, permission: string): Promise<string> {
  const body = { name: permission, permissions: [permission] }
  const made = await ask('POST', '/api/v1/main/api-keys', { body })
  return made.body.key
}

describe('the listeners of now', () => {
  test.for(['icecast', 'shoutcast2'] as const)(
    'of %s are listed and summarized',
    async (frontend, { program }) => {
      await using server = await (frontend === 'icecast' ? startFakeIcecast() : startFakeShoutcast())
      const path = await addStation(program, server.url, frontend)
      server.send({
        path: '/radio.mp3',
        listeners: [
          ['203.0.113.9', 'VLC/3.0', 70],
          ['203.0.113.9', 'VLC/3.0', 10],
          ['2001:db8::1', firefox, 4_000]
        ]
      })
      const { status, body, headers } = await program.ask('GET', path)
      expect(status).toBe(200)
      expect(headers.get('x-total-count')).toBe('3')
      expect(body[0]).toEqual({
        ip: '2001:db8::1',
        user_agent: firefox,
        hash: expect.stringMatching(/^[0-9a-f]{32}$/),
        mount_is_local: true,
        mount_name: '/radio.mp3',
        connected_on: body[0].connected_until - 4_000,
        connected_until: expect.closeTo(Date.now() / 1_000, -2),
        connected_time: 4_000,
        device: {
          client: 'Firefox',
          is_browser: true,
          is_mobile: false,
          is_bot: false,
          browser_family: 'Firefox',
          os_family: 'Linux'
        },
        location: { description: null, country: null, region: null, city: null, lat: null, lon: null }
      })
      expect(body[1].hash).toBe(body[2].hash)
      const page = await program.ask('GET', `${path}?client=VLC&per_page=1&page=2`)
      expect(page.body).toMatchObject({ total: 2, rows: [{ connected_time: 10 }] })
      const { body: summary } = await program.ask('GET', `${path}/summary`)
      expect(summary).toEqual({
        at: body[0].connected_until,
        total: 3,
        unique: 2,
        listed: 3,
        problem: '',
        by_mount: [{ mount_name: '/radio.mp3', mount_is_local: true, total: 3 }],
        by_client: [
          { client: 'VLC', total: 2 },
          { client: 'Firefox', total: 1 }
        ],
        by_os: [
          { os_family: '', total: 2 },
          { os_family: 'Linux', total: 1 }
        ],
        by_connected_time: [0, 60, 300, 900, 3_600, 14_400, 86_400].map(from => ({
          from,
          total: { 0: 1, 60: 1, 3600: 1 }[from] ?? 0
        }))
      })
    }
  )

  test('are read once for all requests of some seconds', async ({ program }) => {
    await using icecast = await startFakeIcecast()
    const path = await addStation(program, icecast.url)
    icecast.send({ path: '/radio.mp3', listeners: [['203.0.113.9', 'VLC/3.0']] })
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => program.ask('GET', `${path}/summary`))
    )
    icecast.send({ path: '/radio.mp3' })
    const later = await program.ask('GET', path)
    expect(new Set(responses.map(({ body }) => body.total))).toEqual(new Set([1]))
    expect(later.body).toHaveLength(1)
  })

  test('have no address without the permission', async ({ program }) => {
    await using icecast = await startFakeIcecast()
    const path = await addStation(program, icecast.url)
    icecast.send({ path: '/radio.mp3', listeners: [['203.0.113.9', 'VLC/3.0']] })
    const key = await makeKey(program, 'view station reports')
    const { status, body } = await program.ask('GET', path, { key })
    expect(status).toBe(200)
    expect(JSON.stringify(body)).not.toContain('203.0.113')
    const manager = await makeKey(program, 'manage station broadcasting')
    expect((await program.ask('GET', path, { key: manager })).body[0].ip).toBe('203.0.113.9')
  })

  test('are counted but not listed without the right password', async ({ program }) => {
    await using icecast = await startFakeIcecast()
    const path = await addStation(program, icecast.url, 'icecast', 'wrong')
    icecast.send({ path: '/radio.mp3', listeners: [['203.0.113.9', 'VLC/3.0']] })
    expect((await program.ask('GET', path)).body).toEqual([])
    expect((await program.ask('GET', `${path}/summary`)).body).toMatchObject({
      total: 1,
      listed: 0,
      problem: 'The server rejected the admin password: listeners are counted, but not identified.'
    })
  })

  test('are 503 with the reason while the server is away, and 409 without one', async ({ program }) => {
    await using closing = await startScriptedServer(socket => socket.destroy())
    const path = await addStation(program, closing.url)
    const { status, body, headers } = await program.ask('GET', path)
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('5')
    expect(body.message).toMatch(/^The streaming server did not list its listeners\. /)
    const id = await seedStation(program.sql, { tracks: 0 })
    expect((await program.ask('GET', `/api/station/${id}/listeners`)).status).toBe(409)
  })

  test('bad parameters are refused', async ({ program }) => {
    await using icecast = await startFakeIcecast()
    const path = await addStation(program, icecast.url)
    const responses = await Promise.all(
      ['page=0', 'per_page=x', `mount=${'x'.repeat(256)}`].map(query =>
        program.ask('GET', `${path}?${query}`)
      )
    )
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 400])
  })
})
