import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { subscribeLive } from '../support/live-client.ts'
import { startProgram } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

test(
  'a full Redis is reported, and changes made meanwhile are published within five seconds of its end',
  { timeout: 60_000 },
  async ({ sql, databaseUrl, redis, redisUrl }) => {
    await using folder = await openTempFolder()
    const id = await seedStation(sql)
    await using program = await startProgram(databaseUrl, redisUrl, folder.path)
    const health = async () => (await program.ask('GET', '/api/health')).body
    const shown = async () => (await program.ask('GET', `/api/nowplaying/${id}`)).body
    const before = await waitFor(
      async () => {
        const document = await shown()
        return document.is_online && document
      },
      { deadlineMs: 10_000, what: 'a song' }
    )
    const healthy = { status: 'success', postgres: 'up', redis: 'up', live_state: 'current' }
    expect(await health()).toMatchObject(healthy)

    await redis.config('SET', 'maxmemory', '1')
    try {
      const fault = { status: 'error', postgres: 'up', redis: 'read-only', live_state: 'stale' }
      const isStale = async () => (await health()).live_state === 'stale'
      await waitFor(isStale, { deadlineMs: 5_000, what: 'the fault to show' })
      expect(await health()).toMatchObject(fault)
      expect((await program.ask('POST', `/api/station/${id}/backend/skip`)).status).toBe(200)
      const report = await program.ask('PUT', `/api/station/${id}/listeners`, { body: { total: 5 } })
      expect([report.status, report.headers.get('retry-after')]).toEqual([503, expect.any(String)])
      const url = `${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
      const { connect } = await subscribeLive(url, { subs: { [`station:${id}`]: { recover: true } } })
      expect(connect.subs?.[`station:${id}`]?.publications).toMatchObject([
        { data: { stale_since: expect.any(Number) } }
      ])
      expect((await shown()).now_playing.sh_id).toBe(before.now_playing.sh_id)
    } finally {
      await redis.config('SET', 'maxmemory', '0')
    }
    const isShown = async () => (await shown()).now_playing.sh_id !== before.now_playing.sh_id
    await waitFor(isShown, { deadlineMs: 5_000, what: 'the skip to show' })
    await waitFor(async () => (await health()).status === 'success', { deadlineMs: 5_000, what: 'the end' })
    expect(await health()).toMatchObject(healthy)
  }
)
