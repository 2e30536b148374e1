import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { sendRaw } from '../support/raw-http.ts'

const bodyless = [
  'GET /api/time',
  'GET /api/nowplaying',
  'HEAD /api/nowplaying',
  'POST /api/live/nowplaying/http_stream'
]

test.for(bodyless)(
  '%s with two lengths that differ ends its connection without an answer',
  async (target, { program }) => {
    const lines = [`${target} HTTP/1.1`, 'Host: radio', 'Content-Length: 0', 'Content-Length: 44', '', '']
    const smuggled = 'GET /api/status HTTP/1.1\r\nHost: radio\r\nX: y\r\n\r\n'
    const { status, body } = await sendRaw(program.baseUrl, lines.join('\r\n') + smuggled)
    expect([status, body]).toEqual([0, ''])
  }
)

test('a length that is said twice in the same way is one', async ({ program }) => {
  const lines = ['GET /api/time HTTP/1.1', 'Host: radio', 'Content-Length: 0', 'Content-Length: 0', '', '']
  expect((await sendRaw(program.baseUrl, lines.join('\r\n'))).status).toBe(200)
})
