import { expect, test } from 'vitest'

import { type FanOutOptions, openFanOut } from '../../../src/live/fan-out.ts'
import {
  type Channel,
  openLiveSession,
  type Subscription,
  type LiveTransport
} from '../../../src/live/session.ts'
import { waitFor } from '../../support/wait.ts'

const silent: LiveTransport = {
  name: 'websocket',
  send: () => true,
  ping: () => {},
  waitingBytes: () => 0,
  close: () => {},
  cork: action => action()
}
const client = { key: '', delayMs: 0, owner: { name: '', connections: 1 } }

function aChannel(subscribers: number): Channel {
  const channel: Channel = {
    name: 'station:1',
    delayMs: 0,
    heartbeatMs: 0,
    isStale: false,
    subscribers: new Set(),
    dueAtMs: 0,
    revision: 0,
    shown: null,
    postponed: [],
    repeated: null
  }
  for (let index = 0; index < subscribers; index++) channel.subscribers.add(aSubscription(channel, 0))
  return channel
}

function aSubscription(channel: Channel, joinedAt: number): Subscription {
  const session = openLiveSession(silent, client, 0)
  return {
    session,
    channel,
    joinedAt,
    epoch: '',
    offset: 0,
    base: null,
    isDelta: false,
    missedTriggers: null
  }
}

/** Without a feed: the tests publish. */
const open = (prepare: FanOutOptions['prepare'], onError: FanOutOptions['onError'] = () => {}) =>
  openFanOut({
    feed: { onChange: () => () => {}, onRemoved: () => () => {}, namesOf: () => [] },
    channels: { named: () => [] },
    publications: { find: () => undefined },
    prepare,
    onError,
    heartbeatMs: 12_000
  })

const soon = { deadlineMs: 5_000, what: 'deliveries' }

function blockEventLoop(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('a broadcast to many subscribers yields to other work', async () => {
  const channel = aChannel(200)
  let delivered = 0
  const fanOut = open(() => () => {
    blockEventLoop(0.2)
    delivered++
  })
  fanOut.publish(channel, [])
  const seen: number[] = []
  const timer = setInterval(() => seen.push(delivered), 0)
  await waitFor(() => delivered === 200, soon)
  clearInterval(timer)
  expect(seen.filter(count => count > 0 && count < 200).length).toBeGreaterThan(3)
})

test('changes before a broadcast starts are combined, with their triggers', async () => {
  const channel = aChannel(1)
  const rounds: string[][] = []
  const fanOut = open((_, triggers) => {
    rounds.push([...triggers])
    return () => {}
  })
  fanOut.publish(channel, ['song_changed'])
  fanOut.publish(channel, ['live_connect'])
  await waitFor(() => rounds.length > 0, soon)
  expect(rounds).toEqual([['song_changed', 'live_connect']])
})

test('a subscriber that joins after the publication is skipped, and an error affects one delivery', async () => {
  const channel = aChannel(3)
  const faults: unknown[] = []
  const received: Subscription[] = []
  const fanOut = open(
    () => subscription => {
      received.push(subscription)
      throw new Error('broken')
    },
    error => faults.push(error)
  )
  fanOut.publish(channel, [])
  const late = aSubscription(channel, fanOut.position())
  channel.subscribers.add(late)
  await waitFor(() => faults.length === 3, soon)
  fanOut.publish(channel, [])
  await waitFor(() => faults.length === 7, soon)
  expect(received.filter(each => each === late)).toHaveLength(1)
})
