import { once } from 'node:events'
import net from 'node:net'

import { describe, expect, onTestFinished } from 'vitest'

import { test } from '../support/fixtures.ts'
import { adminKey, type Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const bodyBytes = 20_000_000
const sliceBytes = 65_536
const slice = Buffer.alloc(sliceBytes)

interface Sending {
  readonly target: string
  readonly lines?: readonly string[]
  readonly isChunked?: boolean
}

/** Sends a whole body before it reads the response, as browsers do. Returns the response. */
async function sendAll({ baseUrl }: Program, { target, lines = [], isChunked = false }: Sending) {
  const { hostname, port } = new URL(baseUrl)
  const socket = net.connect(Number(port), hostname).setEncoding('latin1')
  onTestFinished(() => void socket.destroy())
  const failures: unknown[] = []
  socket.on('error', error => failures.push(error.message))
  socket.pause()
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bodyBytes}`
  socket.write([`${target} HTTP/1.1`, 'Host: radio', length, ...lines, '', ''].join('\r\n'))
  for (let sent = 0; sent < bodyBytes && failures.length === 0; sent += sliceBytes) {
    const bytes = slice.subarray(0, Math.min(sliceBytes, bodyBytes - sent))
    const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
    if (!socket.write(isChunked ? chunk : bytes))
      await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  }
  if (isChunked) socket.write('0\r\n\r\n')
  let text = ''
  socket.on('data', part => (text += String(part)))
  socket.resume()
  const hasResponded = () => socket.closed || failures.length > 0 || /\r\n\r\n.*\}$/s.test(text)
  await waitFor(hasResponded, { deadlineMs: 10_000, what: 'a response' })
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0), failures }
}

const json = 'Content-Type: application/json'
const refusals: readonly (readonly [number, string, readonly string[]])[] = [
  [403, 'POST /api/station/ID/files', [json]],
  [403, 'POST /api/station/ID/files', [json, 'X-API-Key: 0123456789abcdef:00000000000000000000000000000000']],
  [403, 'PUT /api/station/ID/listeners', [json]],
  [404, 'POST /api/station/999999999/files', [json, `X-API-Key: ${adminKey}`]],
  [404, 'POST /nowhere', []],
  [405, 'DELETE /api/time', []],
  [413, 'PUT /api/station/ID/listeners', [json, `X-API-Key: ${adminKey}`]],
  [413, 'POST /api/station/ID/art/1', ['Content-Type: image/png', `X-API-Key: ${adminKey}`]],
  [415, 'POST /api/station/ID/files', ['Content-Type: text/plain', `X-API-Key: ${adminKey}`]],
  [501, 'POST /api/station/ID/liquidsoap-config/import', []]
]

describe.for([
  ['with a length', [], false],
  ['with a length, on a connection that the response ends', ['Connection: close'], false],
  ['in chunks', [], true]
] as const)('a body %s', ([, more, isChunked]) => {
  test.for(refusals)(
    'that is refused with %i (%s) is answered, whatever else is sent',
    async ([status, target, lines], { program }) => {
      const id = await seedStation(program.sql, { tracks: 1 })
      const sending = { target: target.replace('ID', String(id)), lines: [...lines, ...more], isChunked }
      const response = await sendAll(program, sending)
      expect(response).toMatchObject({ status, failures: [] })
    }
  )
})
