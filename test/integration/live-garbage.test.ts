import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import * as fc from 'fast-check'
import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'

import { test } from '../support/fixtures.ts'
import type { Stage } from '../support/live-stage.ts'
import { livePath, openWay, openWebSocket } from '../support/live-ways.ts'
import { openWitnesses } from '../support/live-witnesses.ts'
import { canMeasure, sizeOf } from '../support/process-size.ts'
import { sendRaw } from '../support/raw-http.ts'
import { handshake, opcodes, openRaw, openRawWebSocket, rawFrame } from '../support/raw-websocket.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

// Whatever a client sends, the server keeps running, its memory is limited, and a valid client on each
// transport receives each change in time.

const pidOf = ({ server }: Stage) => server.process.pid ?? 0

/**
 * Runs `attack` beside valid clients. Then these have missed no change, and the server is the same process.
 */
async function withWitnesses(stage: Stage, attack: () => Promise<void>): Promise<void> {
  const witnesses = await openWitnesses(stage)
  await attack()
  const { changes } = await witnesses.finish()
  expect(changes).toBeGreaterThan(0)
  expect(stage.server.process.exitCode).toBe(null)
  expect(stage.server.process.signalCode).toBe(null)
}

/** Runs one job per item, at most `width` at a time. */
async function inParallel<Item>(
  items: readonly Item[],
  width: number,
  job: (item: Item) => Promise<unknown>
): Promise<void> {
  const rest = items.values()
  const lane = async () => {
    for (const item of rest) await job(item)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

const anyJson = fc.oneof(
  fc.json({ depthSize: 'large' }),
  fc
    .record(
      {
        subs: fc.oneof(
          fc.dictionary(
            fc.oneof(fc.string(), fc.constant('station:1'), fc.constant('global:time')),
            fc.jsonValue()
          ),
          fc.jsonValue()
        ),
        token: fc.jsonValue()
      },
      { requiredKeys: [] }
    )
    .map(value => JSON.stringify(value)),
  fc.constantFrom(
    '{"subs":{"__proto__":{"recover":true}}}',
    '{"__proto__":{"subs":{}}}',
    '{"subs":{"station:":{}}}',
    '{"subs":{"station:__proto__":{}}}',
    '{"subs":{"station:1":{"recover":{"valueOf":1}}}}',
    '{"subs":{"station:1e3":{}}}',
    '{"subs":{"station:99999999999999999999999999":{"recover":true}}}',
    '{"subs":{"station:-1":{}}}',
    '{"subs":{"station:harbour\\u0000fm":{}}}',
    '{"subs":{"\\ud800":{}}}',
    '\uFEFF{}'
  )
)
const anyBytes = fc.uint8Array({ maxLength: 2_000 })

describe('the first frame', () => {
  test.for([
    ['arbitrary bytes in a text frame', anyBytes, false],
    ['arbitrary bytes in a binary frame', anyBytes, true],
    ['arbitrary JSON', anyJson, false]
  ] as const)('%s', async ([, arbitrary, binary], { stage }) => {
    await withWitnesses(stage, async () => {
      await inParallel(
        fc.sample<string | Uint8Array>(arbitrary, sized({ quick: 60, deep: 150 })),
        10,
        async payload => {
          using raw = await openRawWebSocket(stage.baseUrl)
          raw.send(rawFrame({ payload, opcode: binary ? opcodes.binary : opcodes.text }))
          const text = await raw.nextText()
          // Either it was valid and there is a connect frame, or the connection was closed for a reason.
          if (text !== null) return expect(text).toMatch(/^\{"(connect":|disconnect":\{"code":3505)/)
          expect([3501, 1006, 1007]).toContain(await raw.ended())
        }
      )
    })
  })

  test('arbitrary bytes and JSON as cf_connect and as a body', async ({ stage }) => {
    await withWitnesses(stage, async () => {
      const bodies = fc.sample<string | Uint8Array>(
        fc.oneof(anyBytes, anyJson),
        sized({ quick: 40, deep: 100 })
      )
      await inParallel(bodies, 10, async body => {
        const [sse, stream] = [`${stage.baseUrl}${livePath}/sse`, `${stage.baseUrl}${livePath}/http_stream`]
        const text = typeof body === 'string' ? body : Buffer.from(body).toString('latin1')
        const life = new AbortController()
        const { signal } = life
        const responses = [
          await fetch(`${sse}?cf_connect=${encodeURIComponent(Buffer.from(text.slice(0, 300)).toString())}`, {
            signal
          }),
          await fetch(sse, { method: 'POST', body, signal }),
          await fetch(stream, { method: 'POST', body, signal })
        ]
        for (const { status } of responses) expect([200, 400, 431]).toContain(status)
        life.abort()
      })
    })
  })
})

const subscribe = '{"subs":{"global:time":{}}}'

describe('frames that violate RFC 6455', () => {
  const closing: [name: string, bytes: () => Buffer, codes: readonly number[]][] = [
    ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode): (typeof closing)[number] => [
      `opcode ${opcode}`,
      () => rawFrame({ opcode, payload: '{}' }),
      [1002, 1006]
    ]),
    ...[1, 2, 3, 4, 5, 6, 7].map((rsv): (typeof closing)[number] => [
      `reserved bits ${rsv}`,
      () => rawFrame({ rsv, payload: subscribe }),
      [1002, 1006]
    ]),
    [
      'a continuation of nothing',
      () => rawFrame({ opcode: opcodes.continuation, payload: '{}' }),
      [1002, 1006]
    ],
    [
      'a text within a fragmented text',
      () => Buffer.concat([rawFrame({ fin: false, payload: '{' }), rawFrame({ payload: '}' })]),
      [1002, 1006]
    ],
    ['a fragmented ping', () => rawFrame({ opcode: opcodes.ping, fin: false, payload: 'x' }), [1002, 1006]],
    ['a ping of 126 bytes', () => rawFrame({ opcode: opcodes.ping, payload: 'x'.repeat(126) }), [1002, 1006]],
    [
      'a close of 126 bytes',
      () =>
        rawFrame({
          opcode: opcodes.close,
          payload: Buffer.concat([Buffer.from([3, 232]), Buffer.alloc(124, 120)])
        }),
      [1002, 1006]
    ],
    ['invalid UTF-8', () => rawFrame({ payload: Buffer.from([0x7b, 0xc3, 0x28, 0x7d]) }), [1007, 1006]],
    [
      'invalid UTF-8 that begins in another fragment',
      () =>
        Buffer.concat([
          rawFrame({ fin: false, payload: Buffer.from([0x22, 0xe2, 0x82]) }),
          rawFrame({ opcode: opcodes.continuation, payload: Buffer.from([0x28, 0x22]) })
        ]),
      [1007, 1006, 3501]
    ],
    ['more than 64 KiB', () => rawFrame({ payload: `{"data":"${'x'.repeat(65_536)}"}` }), [1009]],
    ['more than 256 KiB', () => rawFrame({ payload: 'x'.repeat(256 * 1_024 + 1) }), [1006, 1009]],
    ['a claim of 2^62 bytes', () => rawFrame({ claimed: 2n ** 62n, payload: 'x' }), [1006, 1009, 1002]],
    ['a claim of 2^63 bytes', () => rawFrame({ claimed: 2n ** 63n, payload: 'x' }), [1006, 1009, 1002]],
    [
      'a claim of 2^64 - 1 bytes',
      () => rawFrame({ claimed: 2n ** 64n - 1n, payload: 'x' }),
      [1006, 1009, 1002]
    ],
    [
      'fragments of more than 256 KiB',
      () =>
        Buffer.concat([
          rawFrame({ fin: false, payload: 'x'.repeat(60_000) }),
          ...Array.from({ length: 5 }, () =>
            rawFrame({ fin: false, opcode: opcodes.continuation, payload: 'x'.repeat(60_000) })
          )
        ]),
      [1006, 1009, 3501]
    ]
  ]

  test('each closes its connection and no other', async ({ stage }) => {
    await withWitnesses(stage, async () => {
      await inParallel(closing, 8, async ([name, bytes, codes]) => {
        // Before and after the subscribe message.
        for (const first of ['', subscribe]) {
          using raw = await openRawWebSocket(stage.baseUrl)
          if (first !== '') raw.send(rawFrame({ payload: first }))
          if (first !== '') expect(await raw.nextText()).toMatch(/^\{"connect"/)
          raw.send(bytes())
          expect([name, ...codes]).toContain(await raw.ended())
        }
      })
    })
  })

  test('an unmasked frame does not subscribe', async ({ stage }) => {
    await withWitnesses(stage, async () => {
      using raw = await openRawWebSocket(stage.baseUrl)
      raw.send(rawFrame({ payload: subscribe, isMasked: false }))
      raw.send(rawFrame({ payload: subscribe, isMasked: false }))
      expect(await raw.nextText()).toBe(null)
    })
  })

  test.for([0, 1, 999, 1000, 1001, 1004, 1005, 1006, 1015, 1016, 2999, 3000, 4999, 65_535])(
    'close code %i ends the connection',
    async (code, { stage }) => {
      using raw = await openRawWebSocket(stage.baseUrl)
      const payload = Buffer.from([code >> 8, code & 255])
      raw.send(rawFrame({ opcode: opcodes.close, payload }))
      // A code that must not be sent on the wire must not be echoed: RFC 6455 section 7.4.
      const forbidden = new Set([0, 1, 999, 1004, 1015, 65_535])
      expect(forbidden.has(await raw.ended())).toBe(false)
    }
  )

  test.for([
    ['empty', Buffer.alloc(0)],
    ['of one byte', Buffer.from([3])],
    ['with a reason that is not UTF-8', Buffer.from([3, 232, 0xc3, 0x28])]
  ] as const)('a close frame that is %s ends the connection', async ([, payload], { stage }) => {
    using raw = await openRawWebSocket(stage.baseUrl)
    raw.send(rawFrame({ opcode: opcodes.close, payload }))
    expect(await raw.ended()).toBeGreaterThanOrEqual(1000)
  })

  test('fragments with a ping in between are one message', async ({ stage }) => {
    using raw = await openRawWebSocket(stage.baseUrl)
    raw.send(
      rawFrame({ fin: false, payload: subscribe.slice(0, 5) }),
      rawFrame({ opcode: opcodes.ping, payload: 'x'.repeat(125) }),
      rawFrame({ fin: false, opcode: opcodes.continuation, payload: subscribe.slice(5, 6) }),
      rawFrame({ fin: false, opcode: opcodes.continuation, payload: '' }),
      rawFrame({ opcode: opcodes.continuation, payload: subscribe.slice(6) })
    )
    expect(await raw.nextText()).toMatch(/^\{"connect"/)
  })

  test('a frame that arrives byte by byte is accepted', async ({ stage }) => {
    using raw = await openRawWebSocket(stage.baseUrl)
    for (const byte of rawFrame({ payload: subscribe })) {
      raw.send(Buffer.from([byte]))
      await sleep(1)
    }
    expect(await raw.nextText()).toMatch(/^\{"connect"/)
  })
})

describe('the handshake', () => {
  test('is accepted when split at any byte', async ({ stage }) => {
    const whole = handshake(stage.baseUrl, '?cf_connect=%7B%7D')
    await withWitnesses(stage, async () => {
      await inParallel([...Array.from(whole).keys()], 32, async at => {
        using raw = openRaw(stage.baseUrl)
        raw.send(whole.slice(0, at))
        await sleep(10)
        raw.send(whole.slice(at))
        expect([at, await raw.status()]).toEqual([at, 101])
        expect(await raw.nextText()).toMatch(/^\{"connect"/)
      })
    })
  })

  test('that is invalid is refused', async ({ stage }) => {
    const key = createHash('md5').update('key').digest('base64')
    const upgrade = `GET ${livePath}/websocket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
    const requests = [
      `${upgrade}\r\n`,
      `${upgrade}Sec-WebSocket-Key: ${'x'.repeat(4_000)}\r\n\r\n`,
      `${upgrade}Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n${'X-More: 1\r\n'.repeat(200)}\r\n`,
      'GET / HTTP/0.1\r\n\r\n',
      '\u0000\u0001\u0002\u0003\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'
    ]
    await withWitnesses(stage, async () => {
      for (const bytes of requests) {
        using raw = openRaw(stage.baseUrl)
        raw.send(Buffer.from(bytes, 'latin1'))
        raw.socket.end()
        const status = await raw.status()
        expect([0, 400, 404, 426, 431, 505]).toContain(status)
      }
    })
  })

  test('with a cf_connect of 64 KB is refused on each transport', async ({ stage }) => {
    const query = `?cf_connect=${encodeURIComponent(JSON.stringify({ data: 'x'.repeat(64_000) }))}`
    await withWitnesses(stage, async () => {
      await inParallel([...Array.from({ length: 20 }).keys()], 5, async () => {
        using raw = openRaw(stage.baseUrl)
        raw.send(handshake(stage.baseUrl, query))
        expect(await raw.status()).toBe(431)
        const response = await sendRaw(
          stage.baseUrl,
          `GET ${livePath}/sse${query} HTTP/1.1\r\nHost: x\r\n\r\n`
        )
        expect(response.status).toBe(431)
      })
    })
  })
})

describe('excessive requests', () => {
  test('10,000 subscriptions in one message are refused', async ({ stage }) => {
    const channels = Array.from({ length: 10_000 }, (_, index) => [index.toString(36), 0])
    const message = JSON.stringify({ subs: Object.fromEntries(channels) })
    const short = JSON.stringify({ subs: Object.fromEntries(channels.slice(0, 5_000)) })
    expect(short.length).toBeLessThan(64 * 1_024)
    expect(message.length).toBeGreaterThan(64 * 1_024)
    await withWitnesses(stage, async () => {
      expect(await openWebSocket({ baseUrl: stage.baseUrl, message }).ended).toMatchObject({ code: 1009 })
      const counted = openWebSocket({ baseUrl: stage.baseUrl, message: short })
      expect(await counted.ended).toMatchObject({ code: 3505 })
      for (const way of ['curl: SSE by POST', 'curl: http_stream'] as const) {
        const tooBig = openWay(way, { baseUrl: stage.baseUrl, message })
        expect(await tooBig.ended).toMatchObject({ status: 413 })
        const tooMany = openWay(way, { baseUrl: stage.baseUrl, message: short })
        expect((await tooMany.until('disconnect')).disconnect.code).toBe(3505)
      }
    })
  })

  test('10,000 subscriptions on 80 connections receive a change, and are removed with them', async ({
    stage
  }) => {
    const station = await stage.put()
    const names = Array.from({ length: 126 }, (_, index) => [`station:none${index}`, null])
    const subs = { ...Object.fromEntries(names), [station.channel]: {}, [`station:${station.id}`]: {} }
    const clients = Array.from({ length: 80 }, () =>
      openWebSocket({ baseUrl: stage.baseUrl, message: { subs } })
    )
    await withWitnesses(stage, async () => {
      await Promise.all(clients.map(client => client.until('connect')))
      const { offset } = await station.play('Night Ferry')
      await Promise.all(clients.map(client => client.until('pub', ({ pub }) => pub.offset === offset)))
      for (const { socket } of clients) socket.terminate()
      await Promise.all(clients.map(({ ended }) => ended))
    })
  })
})

/** Connects a client and disconnects it in one of four ways. */
async function connectAndLeave({ baseUrl }: Stage, channel: string, index: number): Promise<void> {
  const message = encodeURIComponent(JSON.stringify({ subs: { [channel]: {} } }))
  if (index % 4 === 0) {
    using raw = openRaw(baseUrl)
    raw.send(handshake(baseUrl, `?cf_connect=${message}`))
    await raw.status()
    return
  }
  if (index % 4 === 1) {
    using raw = openRaw(baseUrl)
    raw.send(`GET ${livePath}/sse?cf_connect=${message} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await raw.status()
    return
  }
  const socket = new WebSocket(`${baseUrl.replace('http', 'ws')}${livePath}/websocket`)
  await new Promise<void>(resolve => {
    const leave = () => (index % 4 === 2 ? socket.terminate() : socket.close())
    socket.once('open', () => socket.send(JSON.stringify({ subs: { [channel]: { recover: true } } })))
    socket.once('message', leave)
    socket.once('error', () => resolve())
    socket.once('close', () => resolve())
  })
}

test.runIf(canMeasure)('disconnected clients leave no memory or descriptors behind', async ({ stage }) => {
  const { channel } = await stage.put()
  const rounds = Array.from({ length: sized({ quick: 300, deep: 2_000 }) }, (_, index) => index)
  // The first round warms up the heap.
  await inParallel(rounds, 50, async index => connectAndLeave(stage, channel, index))
  const before = await sizeOf(pidOf(stage))
  await withWitnesses(stage, async () =>
    inParallel(rounds, 50, async index => connectAndLeave(stage, channel, index))
  )
  const isBack = async () => (await sizeOf(pidOf(stage))).descriptors <= before.descriptors + 5
  await waitFor(isBack, { deadlineMs: 10_000, what: 'the descriptors to be closed' })
  const after = await sizeOf(pidOf(stage))
  expect(after.rssMiB - before.rssMiB).toBeLessThan(32)
})

test.runIf(canMeasure)('the process is still small after all these tests', async ({ stage }) => {
  const { rssMiB, descriptors } = await sizeOf(pidOf(stage))
  expect(rssMiB).toBeLessThan(400)
  expect(descriptors).toBeLessThan(200)
})
