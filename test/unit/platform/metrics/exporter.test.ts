import { pino } from 'pino'
import { expect, test } from 'vitest'

import { serveMetrics } from '../../../../src/platform/metrics/exporter.ts'
import { findFreePort } from '../../../../src/platform/process/ports.ts'

const log = pino({ level: 'silent' })

test('metrics are served at /metrics only; a failed collection is a 503', async () => {
  const config = { METRICS_PORT: await findFreePort(), METRICS_HOST: '127.0.0.1' }
  const results = [async () => 'one 1\n', async () => Promise.reject(new Error('away'))]
  const close = await serveMetrics(async () => (await results.shift()?.()) ?? '', config, log)
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${config.METRICS_PORT}${path}`, { method })
    return [response.status, response.headers.get('content-type'), await response.text()]
  }
  try {
    expect(await get('/metrics')).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8', 'one 1\n'])
    expect((await get('/metrics'))[0]).toBe(503)
    expect((await get('/'))[0]).toBe(404)
    expect((await get('/metrics', 'POST'))[0]).toBe(405)
  } finally {
    await close()
  }
})
