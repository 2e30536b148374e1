import { expect, test } from 'vitest'

import { openChannels } from '../../../src/live/channels.ts'
import { openHeartbeats } from '../../../src/live/heartbeats.ts'
import { openLiveSession, type LiveSession, type LiveTransport } from '../../../src/live/session.ts'
import { waitFor } from '../../support/wait.ts'

const client = { key: '', delayMs: 0, owner: { name: '', connections: 1 } }

const transportOf = (ping: () => void): LiveTransport => ({
  name: 'websocket',
  send: () => true,
  ping,
  waitingBytes: () => 0,
  close: () => {},
  cork: action => action()
})

function openSessions(count: number, ping: (index: number) => void): Set<LiveSession> {
  return new Set(
    Array.from({ length: count }, (_, index) => {
      const session = openLiveSession(
        transportOf(() => ping(index)),
        client,
        0
      )
      session.phase = 'connected'
      return session
    })
  )
}

function beat(sessions: Set<LiveSession>, failed: LiveSession[] = []) {
  return openHeartbeats({
    sessions,
    channels: openChannels(() => {}),
    fanOut: { publish: () => {} },
    // No session has a grant or a subscription, so none is asked for.
    publications: new Proxy(Object(null), {}),
    backPressure: { watched: () => [], check: () => {} },
    end: () => {},
    noteFault: () => {},
    fail: session => failed.push(session),
    pingIntervalMs: 60_000,
    timeIntervalMs: 60_000,
    tickMs: 10
  })
}

const soon = { deadlineMs: 10_000, what: 'pings' }

test('pings of many sessions yield to other work', async () => {
  let pings = 0
  const sessions = openSessions(400, () => {
    pings++
    for (const until = performance.now() + 0.2; performance.now() < until;);
  })
  const heartbeats = beat(sessions)
  const seen: number[] = []
  const timer = setInterval(() => seen.push(pings), 0)
  await waitFor(() => pings === 400, soon)
  clearInterval(timer)
  heartbeats.close()
  expect(seen.filter(count => count > 0 && count < 400).length).toBeGreaterThan(5)
})

test('a session that fails does not prevent the pings of the others', async () => {
  const pinged: number[] = []
  const sessions = openSessions(3, index => {
    if (index === 0) throw new Error('broken')
    pinged.push(index)
  })
  const failed: LiveSession[] = []
  const heartbeats = beat(sessions, failed)
  await waitFor(() => pinged.length === 2, soon)
  heartbeats.close()
  expect(pinged).toEqual([1, 2])
  expect(failed[0]).toBe([...sessions][0])
})
