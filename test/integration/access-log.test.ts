import { request } from 'node:http'

import { expect } from 'vitest'
import { WebSocket } from 'ws'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { test } from '../support/fixtures.ts'
import { startLogged } from '../support/logged-process.ts'
import { askPlainly } from '../support/plain-http.ts'
import { adminKey } from '../support/program.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

test(
  'with ACCESS_LOG, each request is one line without secrets, and without it none',
  { timeout: 60_000 },
  async ({ databaseUrl, redisUrl }) => {
    await using folder = await openTempFolder()
    const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR: folder.path }
    const PORT = String(await findFreePort())
    const { lines, texts } = await startLogged('src/server.ts', {
      ...stores,
      PORT,
      ACCESS_LOG: 'on',
      TRUSTED_PROXIES: '127.0.0.1'
    })
    const base = `http://127.0.0.1:${PORT}`
    const headers = { 'X-Forwarded-For': '203.0.113.7', 'X-API-Key': adminKey }
    const [, secret = ''] = adminKey.split(':')
    const list = await askPlainly(`${base}/api/nowplaying`, { headers: { 'X-Forwarded-For': '203.0.113.7' } })
    await askPlainly(`${base}/api/nowplaying/nothing?api_key=${adminKey}`)
    await askPlainly(`${base}/api/status`, { method: 'HEAD' })
    await askPlainly(`${base}/api/v1/main/api-keys/${adminKey}`, { method: 'DELETE', headers })
    const stations = await askPlainly(`${base}/api/admin/stations`, { headers })
    const socket = new WebSocket(`ws://127.0.0.1:${PORT}/api/live/nowplaying/websocket`)
    await new Promise(resolve => socket.once('open', resolve))
    socket.terminate()
    // Waits for a change that never comes, and leaves.
    const stream = request(`${base}/api/live/nowplaying/sse`).on('error', () => {})
    stream.on('response', response => response.once('data', () => stream.destroy()))
    stream.end()

    const entries = await waitFor(
      () => {
        const found = lines.filter(({ msg }) => msg === 'access')
        return found.length >= 7 && found
      },
      { deadlineMs: 10_000, what: 'seven lines' }
    )
    expect(entries.map(({ method, status }) => `${String(method)} ${String(status)}`)).toEqual([
      'GET 200',
      'GET 404',
      'HEAD 200',
      expect.stringMatching(/^DELETE (200|404|409|400)$/),
      'GET 200',
      'GET 101',
      expect.stringMatching(/^GET \d+$/)
    ])
    expect(entries[0]).toMatchObject({
      method: 'GET',
      path: '/api/nowplaying',
      address: '203.0.113.7',
      bytes: list.body.length,
      ms: expect.any(Number)
    })
    expect(entries[1]).toMatchObject({ path: '/api/nowplaying/nothing', address: '127.0.0.1' })
    expect(entries[4]).toMatchObject({ bytes: stations.body.length })
    expect(texts.join('\n')).not.toContain(secret)

    const quiet = String(await findFreePort())
    const without = await startLogged('src/server.ts', { ...stores, PORT: quiet })
    await askPlainly(`http://127.0.0.1:${quiet}/api/nowplaying`)
    expect(without.lines.filter(({ msg }) => msg === 'access')).toEqual([])
  }
)
