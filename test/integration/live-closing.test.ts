import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { describe, expect, onTestFinished } from 'vitest'

import { type DisconnectReason, disconnectReasons } from '../../src/live/protocol.ts'
import { test } from '../support/fixtures.ts'
import { python, whyWithout } from '../support/foreign-programs.ts'
import { serveLive } from '../support/live-server.ts'
import { openRawWebSocket, rawFrame } from '../support/raw-websocket.ts'
import { patience, waitFor } from '../support/wait.ts'

const isReason = (name: string): name is DisconnectReason => name in disconnectReasons
const reasons = Object.keys(disconnectReasons).filter(isReason)
const closedWithinMs = 200 * patience
const subscribe = JSON.stringify({ subs: { 'global:time': {} } })

test('every end closes the connection of a client that answers nothing within 200 ms', async ({
  redisUrl
}) => {
  const { baseUrl, hub, sessions } = await serveLive(redisUrl)
  for (const reason of reasons) {
    using raw = await openRawWebSocket(baseUrl)
    raw.send(rawFrame({ payload: subscribe }))
    await raw.nextText()
    const session = sessions.at(-1)
    if (session === undefined) throw new Error('no session')
    hub.end(session, reason)
    const code = reason === 'shutdown' ? 1001 : disconnectReasons[reason].code
    expect([reason, await raw.ended()]).toEqual([reason, code])
    expect(await raw.closedAfterMs()).toBeLessThan(closedWithinMs)
  }
})

test.for<[what: string, code: number, frames: readonly string[]]>([
  ['no JSON', 3501, ['hello']],
  ['a heartbeat out of range', 3501, ['{"subs":{"station:a":{"heartbeat":1}}}']],
  [
    'too many channels',
    3505,
    [JSON.stringify({ subs: Object.fromEntries(Array.from({ length: 129 }, (_, n) => [`${n}`, {}])) })]
  ],
  ['too many messages', 3509, Array.from({ length: 64 }, () => subscribe)],
  ['a message that is too big', 1009, ['x'.repeat(65 * 1024)]]
])('what a client sends closes its connection within 200 ms: %s', async ([, code, frames], { redisUrl }) => {
  const { baseUrl } = await serveLive(redisUrl)
  using raw = await openRawWebSocket(baseUrl)
  raw.send(...frames.map(payload => rawFrame({ payload })))
  expect(await raw.ended()).toBe(code)
  expect(await raw.closedAfterMs()).toBeLessThan(closedWithinMs)
})

test('a connection that is opened while the server drains is closed within 200 ms', async ({ redisUrl }) => {
  const { baseUrl, hub } = await serveLive(redisUrl)
  void hub.drain()
  using raw = await openRawWebSocket(baseUrl)
  expect(await raw.ended()).toBe(1001)
  expect(await raw.closedAfterMs()).toBeLessThan(closedWithinMs)
})

describe.skipIf(whyWithout('python') !== null)('Python', () => {
  test.for(['shutdown', 'tokenExpired', 'internal'] as const)(
    'learns of the end within 200 ms: %s',
    async (reason, { redisUrl }) => {
      const { url, hub, sessions } = await serveLive(redisUrl)
      const script = fileURLToPath(new URL('../support/live-client.py', import.meta.url))
      const child = spawn(python, [script, 'websocket', url, subscribe], {
        stdio: ['ignore', 'pipe', 'inherit']
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      const lines: string[] = []
      createInterface(child.stdout).on('line', line => lines.push(line))
      await waitFor(() => lines.some(line => line.includes('connect')), {
        deadlineMs: 10_000,
        what: 'the first frame'
      })
      const endedAtMs = performance.now()
      for (const session of sessions) hub.end(session, reason)
      const hasClosed = () => lines.some(line => line.startsWith('closed '))
      await waitFor(hasClosed, { deadlineMs: 20_000, what: 'the end' })
      expect(performance.now() - endedAtMs).toBeLessThan(closedWithinMs)
    }
  )
})

describe.skipIf(whyWithout('chromium') !== null)('Chromium', () => {
  test('calls onclose within 200 ms', async ({ redisUrl, openPage }) => {
    const { url, hub, sessions } = await serveLive(redisUrl)
    const page = await openPage()
    const opening = page.evaluate(
      `new Promise(resolve => {
        globalThis.socket = new WebSocket(${JSON.stringify(url)})
        socket.onopen = () => socket.send(${JSON.stringify(subscribe)})
        globalThis.ending = new Promise(ended => (socket.onclose = event => ended([event.code, Date.now()])))
        socket.onmessage = resolve
      }).then(() => {})`
    )
    await opening
    const endedAtMs = Date.now()
    for (const session of sessions) hub.end(session, 'tokenExpired')
    const [code, closedAtMs] = await page.evaluate<[number, number]>('ending')
    expect(code).toBe(disconnectReasons.tokenExpired.code)
    expect(closedAtMs - endedAtMs).toBeLessThan(closedWithinMs)
  })
})
