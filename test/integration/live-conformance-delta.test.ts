import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

import { expect, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'

import type { StationState } from '../../src/model/station/state.ts'
import type { Trigger } from '../../src/model/station/triggers.ts'
import { aPlay, aSong } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import type { Publication } from '../support/live-frames.ts'
import { connectBy, livePath, openWebSocket, transports } from '../support/live-ways.ts'
import { waitFor } from '../support/wait.ts'

// Deltas (PROTOCOL.md, section 6), and the example client that applies them.

type Data = Publication['pub']['data']
interface Example {
  readonly followStation: (options: {
    url: string
    channel: string
    WebSocket: typeof WebSocket
    onData: (data: Data, offset: number) => void
    onEnd?: (end: { code: number; reason: string }) => void
  }) => { close: () => void }
  readonly mergePatch: (target: unknown, patch: unknown) => unknown
}

const file = new URL('../../examples/delta-client.mjs', import.meta.url)
const { followStation, mergePatch }: Example = await import(file.href)
const soon = { deadlineMs: 5_000, what: 'the client to follow' }
const addressAt = (baseUrl: string) => `${baseUrl.replace('http', 'ws')}${livePath}/websocket`

const withDeltas = { recover: true, delta: 'merge-patch' }
const subsOf = (channel: string) => ({ subs: { [channel]: withDeltas } })

/** Every field that can change in a document, in both directions, with nulls that appear and disappear. */
const changes: readonly [parts: Partial<StationState>, triggers: readonly Trigger[]][] = [
  [
    { listeners: { total: 1, unique: 1, mounts: { 1: { total: 1, unique: 1 } }, remotes: {}, hls: 0 } },
    ['listener_gained']
  ],
  [{ shown: aPlay({ shId: 5_001, song: aSong({ title: 'Night Ferry' }) }) }, ['song_changed']],
  [
    {
      live: {
        streamerName: 'DJ Wren',
        startedAtMs: Date.now() - 5_000,
        art: '/api/station/harbour_fm/streamer/3/art-1.jpg'
      }
    },
    ['live_connect']
  ],
  [{ live: null }, ['live_disconnect']],
  [
    {
      next: {
        cuedAtMs: Date.now(),
        playsAtMs: Date.now() + 60_000,
        durationMs: 182_530,
        playlist: 'Daytime',
        isRequest: true,
        song: aSong({ title: 'Tidewater' })
      }
    },
    []
  ],
  [{ history: [aPlay({ shId: 5_000 }), aPlay({ shId: 4_999 })] }, []],
  [{ next: null }, []],
  [{ history: [] }, []],
  [
    {
      listeners: { total: 9_999, unique: 7, mounts: { 1: { total: 9_999, unique: 7 } }, remotes: {}, hls: 0 }
    },
    ['listener_gained']
  ],
  [{ shown: null, current: null }, ['station_offline']],
  [{ shown: aPlay({ shId: 5_002, song: aSong({ title: '' }) }) }, ['station_online', 'song_changed']],
  [
    { shown: aPlay({ shId: 5_003, durationMs: 0, song: aSong({ title: 'x'.repeat(500) }) }) },
    ['song_changed']
  ]
]

const profile = {
  customFields: [
    { id: 1, shortName: 'mood' },
    { id: 2, shortName: 'label' }
  ]
}

test.for(transports)(
  '%s: patches result in the same documents as full publications',
  async (way, { stage }) => {
    const station = await stage.put({ profile })
    const { baseUrl } = stage
    const message = subsOf(station.channel)
    const patched = await connectBy(way, { baseUrl, message })
    const whole = await connectBy(way, {
      baseUrl,
      message: { subs: { [station.channel]: { recover: true } } }
    })
    const entry: { delta?: string; publications?: readonly { data: Data }[] } = Object(
      patched.connect.subs?.[station.channel]
    )
    expect(entry.delta).toBe('merge-patch')
    expect(Object(whole.connect.subs?.[station.channel])).not.toHaveProperty('delta')
    let data: unknown = entry.publications?.[0]?.data
    const used = { pub: 0, delta: 0, sameSecond: 0 }
    for (const [parts, triggers] of [...changes, ...changes]) {
      const { offset } = await station.change(parts, triggers)
      const { pub } = await whole.reader.until('pub', frame => frame.pub.offset === offset)
      await waitFor(() => patched.reader.waiting.some(frame => Object(frame).pub?.offset === offset), soon)
      for (const frame of patched.reader.waiting) {
        const { data: fullData, delta } = Object(frame).pub
        used[delta === undefined ? 'pub' : 'delta']++
        data = fullData ?? mergePatch(data, delta)
        if (delta !== undefined)
          expect(JSON.stringify(delta).length).toBeLessThan(JSON.stringify(data).length)
      }
      await patched.reader.until(
        Object(patched.reader.waiting.at(-1)).pub.delta === undefined ? 'pub' : 'delta',
        frame => frame.pub.offset === offset
      )
      expect(Object(data).triggers).toEqual(triggers)
      if (Object(data).current_time === pub.data.current_time) {
        used.sameSecond++
        expect(data).toEqual(pub.data)
      }
    }
    expect(used.sameSecond).toBeGreaterThan(changes.length)
    expect(used.delta).toBeGreaterThan(changes.length)
    whole.reader.check()
    patched.reader.check()
  }
)

test('a changed count takes less than 400 bytes', async ({ stage }) => {
  const station = await stage.put()
  const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(station.channel) })
  await client.until('connect')
  await station.change({ listeners: { total: 7, unique: 5, mounts: {}, remotes: {}, hls: 0 } }, [
    'listener_gained'
  ])
  const frame = await client.until('delta')
  expect(frame.pub.delta).toMatchObject({
    np: { listeners: { total: 7, unique: 5, current: 7 } },
    triggers: ['listener_gained']
  })
  expect(JSON.stringify(frame).length).toBeLessThan(400)
})

test('after a recovery without publications the first publication is full', async ({ stage }) => {
  const station = await stage.put({ offset: 5 })
  const message = { subs: { [station.channel]: { ...withDeltas, offset: 5, epoch: 'e1' } } }
  const client = openWebSocket({ baseUrl: stage.baseUrl, message })
  const { connect } = await client.until('connect')
  expect(connect.subs?.[station.channel]).toEqual({
    recoverable: true,
    epoch: 'e1',
    recovered: true,
    offset: 5,
    positioned: true,
    was_recovering: true,
    delta: 'merge-patch'
  })
  await station.play('Night Ferry')
  expect((await client.until('pub')).pub.offset).toBe(6)
  await station.change({ listeners: { total: 1, unique: 1, mounts: {}, remotes: {}, hls: 0 } })
  expect((await client.until('delta')).pub.offset).toBe(7)
})

test.for([null, true, 'json-patch', 7, ['merge-patch']])(
  'delta %j is not a request for merge patches',
  async (delta, { stage }) => {
    const station = await stage.put()
    const message = { subs: { [station.channel]: { recover: true, delta } } }
    const client = openWebSocket({ baseUrl: stage.baseUrl, message })
    const { connect } = await client.until('connect')
    expect(connect.subs?.[station.channel]).not.toHaveProperty('delta')
    await station.play('Night Ferry')
    await client.until('pub')
    expect(client.kinds).toEqual(['connect', 'pub'])
  }
)

test('a second subs frame starts with a full publication', async ({ stage }) => {
  const station = await stage.put()
  const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(station.channel) })
  await client.until('connect')
  client.socket.send(JSON.stringify(subsOf(station.channel)))
  await client.until('pub')
  await station.change({ listeners: { total: 1, unique: 1, mounts: {}, remotes: {}, hls: 0 } })
  await client.until('delta')
  client.socket.send(JSON.stringify({ subs: { [station.channel]: {} } }))
  await client.until('pub')
  await station.play('Night Ferry')
  await client.until('pub')
  expect(client.kinds).toEqual(['connect', 'pub', 'delta', 'pub', 'pub'])
})

// RFC 7396, appendix A.
test.for<[original: unknown, patch: unknown, result: unknown]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd']
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }]
])('the example client: %j patched with %j', ([original, patch, result]) => {
  const before = structuredClone(original)
  expect(mergePatch(original, patch)).toEqual(result)
  expect(original).toEqual(before)
})

test('the example client always has the same document as full publications', async ({ stage }) => {
  const station = await stage.put({ profile })
  const seen = new Map<string, Data>()
  let newest = 0
  const client = followStation({
    url: addressAt(stage.baseUrl),
    channel: station.channel,
    WebSocket,
    onData: (data, offset) => {
      newest = offset
      seen.set(`${offset} ${data.current_time}`, data)
    }
  })
  onTestFinished(() => client.close())
  const whole = openWebSocket({ baseUrl: stage.baseUrl, message: { subs: { [station.channel]: {} } } })
  await whole.until('pub')
  await waitFor(() => newest === 1, soon)
  let compared = 0
  for (const [parts, triggers] of [...changes, ...changes]) {
    const { offset } = await station.change(parts, triggers)
    const { pub } = await whole.until('pub', frame => frame.pub.offset === offset)
    await waitFor(() => newest === offset, soon)
    const data = seen.get(`${offset} ${pub.data.current_time}`)
    if (data === undefined) continue
    compared++
    expect(data).toEqual(pub.data)
  }
  expect(compared).toBeGreaterThan(changes.length)
})

test('the example client reconnects with its position, and continues', async ({ stage }) => {
  const station = await stage.put()
  const titles: string[] = []
  const client = followStation({
    url: addressAt(stage.baseUrl),
    channel: station.channel,
    WebSocket,
    onData: ({ np }) => titles.push(np.now_playing.song.title)
  })
  onTestFinished(() => client.close())
  await waitFor(() => titles.at(-1) === 'Paper Lanterns', soon)
  await stage.restart('SIGKILL')
  await station.play('Night Ferry')
  await waitFor(() => titles.at(-1) === 'Night Ferry', { ...soon, deadlineMs: 20_000 })
})

test.for([
  ['a close frame', 3501, (socket: WebSocket) => socket.close(3501, 'bad request')],
  [
    'a disconnect frame',
    3505,
    (socket: WebSocket) => socket.send('{"disconnect":{"code":3505,"reason":"channel limit"}}')
  ]
] as const)('the example client does not reconnect after %s with %i', async ([, code, end]) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  let connections = 0
  server.on('connection', socket => {
    connections++
    end(socket)
  })
  await once(server, 'listening')
  const address = server.address()
  const { port }: Pick<AddressInfo, 'port'> = typeof address === 'object' && address ? address : { port: 0 }
  const ended = await new Promise<{ code: number }>(resolve => {
    followStation({
      url: `ws://127.0.0.1:${port}`,
      channel: 'station:1',
      WebSocket,
      onData: () => {},
      onEnd: resolve
    })
  })
  expect(ended.code).toBe(code)
  expect(connections).toBe(1)
})

test('the example client prints title and listeners', async ({ stage }) => {
  const station = await stage.put()
  const child = spawn(
    process.execPath,
    [fileURLToPath(file), stage.baseUrl.replace('http', 'ws'), station.shortName],
    {
      stdio: ['ignore', 'pipe', 'inherit']
    }
  )
  onTestFinished(() => void child.kill())
  let text = ''
  child.stdout.on('data', chunk => (text += String(chunk)))
  await waitFor(() => text === 'Nils Okada - Paper Lanterns (0 listeners)\n', soon)
  await station.change({ listeners: { total: 7, unique: 5, mounts: {}, remotes: {}, hls: 0 } })
  await waitFor(() => text.endsWith('\nNils Okada - Paper Lanterns (7 listeners)\n'), soon)
})
