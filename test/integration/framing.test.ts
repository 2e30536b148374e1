import net from 'node:net'

import { expect, onTestFinished } from 'vitest'

import { test } from '../support/fixtures.ts'
import { sendRaw } from '../support/raw-http.ts'
import { waitFor } from '../support/wait.ts'

const bodyless = [
  'GET /api/time',
  'GET /api/nowplaying',
  'HEAD /api/nowplaying',
  'POST /api/live/nowplaying/http_stream'
]

test.for(bodyless)(
  '%s with two different lengths closes the connection without a response',
  async (target, { program }) => {
    const lines = [`${target} HTTP/1.1`, 'Host: radio', 'Content-Length: 0', 'Content-Length: 44', '', '']
    const smuggled = 'GET /api/status HTTP/1.1\r\nHost: radio\r\nX: y\r\n\r\n'
    const { status, body } = await sendRaw(program.baseUrl, lines.join('\r\n') + smuggled)
    expect([status, body]).toEqual([0, ''])
  }
)

const ambiguous = [
  ['Content-Length:', 'Content-Length: 44'],
  ['Content-Length:  ', 'Content-Length: 44'],
  ['Content-Length: 44', 'Content-Length:'],
  ['Content-Length:'],
  ['Transfer-Encoding:', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']
]

test.for(
  [...bodyless, 'POST /nowhere', 'GET /api/nowplaying_static/none.txt'].flatMap(target =>
    ambiguous.map(lines => [target, ...lines] as const)
  )
)(
  '%s with the lines %s, %s closes the connection without a response',
  async ([target, ...lines], { program }) => {
    const head = [`${target} HTTP/1.1`, 'Host: radio', ...lines, '', ''].join('\r\n')
    const smuggled = 'GET /api/status HTTP/1.1\r\nHost: radio\r\nX: y\r\n\r\n'
    const { status, body } = await sendRaw(program.baseUrl, head + smuggled)
    expect([status, body]).toEqual([0, ''])
  }
)

test('a length that is repeated with the same value is accepted', async ({ program }) => {
  const lines = ['GET /api/time HTTP/1.1', 'Host: radio', 'Content-Length: 0', 'Content-Length: 0', '', '']
  expect((await sendRaw(program.baseUrl, lines.join('\r\n'))).status).toBe(200)
})

const withBodies = [
  'POST /api/internal/sftp-auth',
  'POST /nowhere',
  'DELETE /api/station/1/queue',
  'POST /api/live/nowplaying/http_stream?delay=x',
  'POST /api/live/nowplaying/http_stream'
]
const chunked = (target: string) => `${target} HTTP/1.1\r\nHost: radio\r\nTransfer-Encoding: chunked\r\n\r\n`
const trailers = 'X:GET /api/time HTTP/1.1\r\nHost: radio\r\n\r\n'

/**
 * Sends the second part after the first data of the response. Returns everything received until the server
 * closes the connection.
 */
async function sendInTwoParts(baseUrl: string, first: string, second: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  const socket = net.connect(Number(port), hostname).setEncoding('latin1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('error', () => {})
  socket.once('data', () => socket.write(second))
  socket.on('data', chunk => (text += String(chunk)))
  socket.write(first)
  await waitFor(() => socket.closed, { deadlineMs: 5_000, what: 'the connection to be closed' })
  return text
}

test.for([...bodyless, ...withBodies])(
  '%s: trailers after its chunks are not parsed as a request',
  async (target, { program }) => {
    const bytes = `${chunked(target)}4\r\njunk\r\n0\r\n`
    expect(await sendInTwoParts(program.baseUrl, bytes + trailers, '')).toBe('')
    expect(
      (await sendInTwoParts(program.baseUrl, bytes, trailers)).match(/^HTTP/gm)?.length ?? 0
    ).toBeLessThan(2)
  }
)
