import { setTimeout as sleep } from 'node:timers/promises'

import { describe, expect } from 'vitest'

import { aPlay } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { entryOf, subsOf } from '../support/live-frames.ts'
import type { StagedStation } from '../support/live-stage.ts'
import { allWays, connectBy, openWay, quickWays, transports } from '../support/live-ways.ts'
import { sized } from '../support/tier.ts'

// Requirements R1 to R21 of the protocol, with clients from other projects. All keys of every received frame
// are checked: see `live-frames.ts`.

describe.for(sized({ quick: quickWays, deep: allWays }))('%s', way => {
  test('R2, R3: the connect frame comes first, and contains the state with recover', async ({ stage }) => {
    const station = await stage.put()
    const { reader, connect } = await connectBy(way, {
      baseUrl: stage.baseUrl,
      message: subsOf(station.channel)
    })
    const entry = entryOf('recovered', connect, station.channel)
    expect(entry.epoch).toBe('e1')
    expect(entry.publications[0]).toMatchObject({
      offset: 1,
      data: { triggers: [], np: { station: { id: station.id, shortcode: station.shortName } } }
    })
    expect(connect.ping).toBe(25)
    expect(Math.abs(connect.time - Date.now())).toBeLessThan(2_000)
    const { current_time: now, np } = entry.publications[0].data
    expect(Math.abs(now - connect.time / 1_000)).toBeLessThan(2)
    expect(np.now_playing.elapsed + np.now_playing.remaining).toBe(np.now_playing.duration)
    expect(Math.abs(np.now_playing.played_at + np.now_playing.elapsed - now)).toBeLessThanOrEqual(1)
    expect(connect.client).not.toBe(connect.session)
    reader.check()
    expect(reader.kinds).toEqual(['connect'])
  })

  test.for([
    ['the empty message', {}],
    ['null', 'null'],
    ['null for subs', { subs: null }],
    ['an empty subs', { subs: {} }],
    ['only unknown keys', { id: 1, connect: {}, data: 7, name: 'js', version: '5.3', flag: 1 }]
  ] as const)('no subscriptions: %s', async ([, message], { stage }) => {
    const { connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    expect(new Set(Object.keys(connect))).toEqual(new Set(['client', 'version', 'ping', 'session', 'time']))
  })

  test.for([
    ['an empty object', {}],
    ['null', null],
    ['recover false', { recover: false }],
    ['an offset and an epoch without recover', { offset: 1, epoch: 'e1' }]
  ] as const)('R4: without recover (%s) a publication follows at once', async ([, options], { stage }) => {
    const station = await stage.put()
    const message = { subs: { [station.channel]: options } }
    const { reader, connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    expect(entryOf('positioned', connect, station.channel)).toMatchObject({ epoch: 'e1', offset: 1 })
    const { channel, pub } = await reader.until('pub', () => true, 1_000)
    expect(channel).toBe(station.channel)
    expect(pub).toMatchObject({ offset: 1, data: { triggers: [] } })
  })

  test.for([
    ['older', { offset: 2, epoch: 'e1' }],
    ['newer than any possible one', { offset: 2 ** 53 - 1, epoch: 'e1' }],
    ['of another epoch', { offset: 3, epoch: 'e0' }],
    ['without an epoch', { offset: 3 }],
    ['without an offset', { epoch: 'e1' }],
    ['zero', { offset: 0, epoch: '' }],
    ['nonsense', { offset: 'three', epoch: 7 }],
    ['negative', { offset: -1, epoch: 'e1' }],
    ['a fraction', { offset: 2.5, epoch: 'e1' }]
  ] as const)('R3: a position that is %s returns the state', async ([, position], { stage }) => {
    const station = await stage.put({ offset: 3 })
    const message = { subs: { [station.channel]: { recover: true, ...position } } }
    const { connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    expect(entryOf('recovered', connect, station.channel).publications[0].offset).toBe(3)
  })

  test('R3: with a newer position nothing is sent until the station reaches it', async ({ stage }) => {
    const station = await stage.put({ offset: 3 })
    const message = { subs: { [station.channel]: { recover: true, offset: 5, epoch: 'e1' } } }
    const { reader, connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    expect(entryOf('upToDate', connect, station.channel)).toMatchObject({ offset: 5, epoch: 'e1' })
    await station.play('Night Ferry')
    await station.change({ offset: 6 })
    const { pub } = await reader.until('pub')
    expect(pub.offset).toBe(6)
  })

  test('R3: with the current position no state is sent, and newer publications follow', async ({ stage }) => {
    const station = await stage.put({ offset: 3 })
    const message = { subs: { [station.channel]: { recover: true, offset: 3, epoch: 'e1' } } }
    const { reader, connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    expect(entryOf('upToDate', connect, station.channel)).toMatchObject({ offset: 3, epoch: 'e1' })
    await station.play('Night Ferry')
    const { pub } = await reader.until('pub')
    expect(pub.offset).toBe(4)
    expect(reader.kinds).toEqual(['connect', 'pub'])
  })

  test('R3: an offline station has a state', async ({ stage }) => {
    const station = await stage.put({ shown: null })
    const { connect } = await connectBy(way, { baseUrl: stage.baseUrl, message: subsOf(station.channel) })
    const { np } = entryOf('recovered', connect, station.channel).publications[0].data
    expect(np).toMatchObject({
      is_online: false,
      now_playing: {
        sh_id: 0,
        elapsed: 0,
        remaining: 0,
        song: { id: '5a6a865199cf5df73b1417326d2ff24f', text: 'Station Offline' }
      }
    })
  })

  test('R5: a change is sent immediately, with its triggers and the current time', async ({ stage }) => {
    const station = await stage.put()
    const { reader } = await connectBy(way, { baseUrl: stage.baseUrl, message: subsOf(station.channel) })
    await station.play('Night Ferry')
    const { channel, pub } = await reader.until('pub', () => true, 1_000)
    expect(channel).toBe(station.channel)
    expect(pub.offset).toBe(2)
    expect(pub.data.triggers).toEqual(['song_changed'])
    expect(pub.data.np.now_playing).toMatchObject({ sh_id: 4313, song: { title: 'Night Ferry' } })
    expect(pub.data.np.now_playing.elapsed).toBeLessThanOrEqual(1)
    expect(Math.abs(pub.data.current_time - Date.now() / 1_000)).toBeLessThan(2)
  })

  test('R6: the id is an alias; each channel has the requested name', async ({ stage }) => {
    const station = await stage.put()
    const byId = `station:${station.id}`
    const { reader, connect } = await connectBy(way, {
      baseUrl: stage.baseUrl,
      message: subsOf(byId, station.channel)
    })
    const [one, other] = [entryOf('recovered', connect, byId), entryOf('recovered', connect, station.channel)]
    expect(one).toEqual(other)
    await station.play('Night Ferry')
    const both = [await reader.until('pub'), await reader.until('pub')]
    expect(new Set(both.map(({ channel }) => channel))).toEqual(new Set([byId, station.channel]))
    expect(both[0]?.pub.offset).toBe(both[1]?.pub.offset)
  })

  test('R7: global:time sends the time immediately', async ({ stage }) => {
    const station = await stage.put()
    const message = { subs: { [station.channel]: { recover: true }, 'global:time': {} } }
    const { reader, connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    expect(connect.subs?.['global:time']).toEqual({})
    const { pub } = await reader.until('time', () => true, 1_000)
    expect(Math.abs(pub.data.time - Date.now() / 1_000)).toBeLessThan(2)
    await station.play('Night Ferry')
    await reader.until('pub')
  })

  test('R7: other channels do not receive the time', async ({ stage }) => {
    const station = await stage.put()
    const { reader } = await connectBy(way, {
      baseUrl: stage.baseUrl,
      message: { subs: { [station.channel]: {} } }
    })
    await station.play('Night Ferry')
    await reader.until('pub', ({ pub }) => pub.offset === 2)
    expect(reader.kinds).toEqual(['connect', 'pub', 'pub'])
  })

  test('R8: other channels are ignored, unknown stations can be subscribed', async ({ stage }) => {
    const { id, shortName } = stage.newName()
    const byName = `station:${shortName}`
    const message = {
      subs: {
        'foo:bar': {},
        global: {},
        'global:other': {},
        '': {},
        constructor: {},
        'Station:x': {},
        [byName]: { recover: true },
        [`station:${id}`]: {}
      }
    }
    const { reader, connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    expect(connect.subs).toEqual({ [byName]: {}, [`station:${id}`]: {} })
    await stage.put({ stationId: id, profile: { shortName } })
    const both = [await reader.until('pub'), await reader.until('pub')]
    expect(new Set(both.map(({ channel }) => channel))).toEqual(new Set([byName, `station:${id}`]))
  })

  test('R10: without its key a private station is treated as unknown', async ({ stage }) => {
    const hidden = await stage.put({ profile: { isPublic: false } })
    const open = await stage.put()
    const message = subsOf(hidden.channel, `station:${hidden.id}`, open.channel)
    const attempts = [
      { message },
      { message: { ...message, token: 'wrong' } },
      { message, headers: { 'X-API-Key': 'wrong' } },
      { message, headers: { Authorization: 'Bearer wrong' } },
      { message, query: 'api_key=wrong' }
    ]
    const keyless = await Promise.all(
      attempts.map(attempt => connectBy(way, { baseUrl: stage.baseUrl, ...attempt }))
    )
    for (const { connect } of keyless) {
      entryOf('waiting', connect, hidden.channel)
      entryOf('waiting', connect, `station:${hidden.id}`)
      entryOf('recovered', connect, open.channel)
    }
    await hidden.play('Secret Ferry')
    await open.play('Night Ferry')
    for (const { reader } of keyless) {
      expect((await reader.until('pub')).channel).toBe(open.channel)
      expect(reader.kinds).toEqual(['connect', 'pub'])
    }
  })

  test('R10: each way to send a key opens the station, until the key is revoked', async ({ stage }) => {
    const hidden = await stage.put({ profile: { isPublic: false } })
    const open = await stage.put()
    const { key, revoke } = await stage.makeKey()
    const message = subsOf(hidden.channel, open.channel)
    const attempts = [
      { message: { ...message, token: key } },
      { message, headers: { 'X-API-Key': key } },
      { message, headers: { Authorization: `Bearer ${key}` } },
      { message, query: `api_key=${key}` },
      { message: { ...message, token: key }, headers: { 'X-API-Key': 'wrong' } }
    ]
    const listeners = await Promise.all(
      attempts.map(attempt => connectBy(way, { baseUrl: stage.baseUrl, ...attempt }))
    )
    for (const { connect } of listeners) entryOf('recovered', connect, hidden.channel)
    await hidden.play('Night Ferry')
    for (const { reader } of listeners) expect((await reader.until('pub')).channel).toBe(hidden.channel)

    await revoke()
    await hidden.play('Secret Ferry')
    for (const { reader } of listeners) {
      expect((await reader.until('disconnect')).disconnect.code).toBe(3010)
      expect(reader.kinds).toEqual(['connect', 'pub', 'disconnect'])
    }
    const again = await Promise.all(
      attempts.map(attempt => connectBy(way, { baseUrl: stage.baseUrl, ...attempt }))
    )
    for (const { connect } of again) entryOf('waiting', connect, hidden.channel)
    // Two publications, because permissions are checked asynchronously: one of the hidden station would
    // precede the second.
    await hidden.play('Another Secret')
    for (const title of ['Paper Lanterns', 'Tidewater']) {
      const { offset } = await open.play(title)
      for (const { reader } of again) await reader.until('pub', ({ pub }) => pub.offset === offset)
    }
    for (const { reader } of again) expect(reader.kinds).toEqual(['connect', 'pub', 'pub'])
  })

  test('R13: no change is lost between the snapshot and the publications after it', async ({ stage }) => {
    const station = await stage.put()
    const arrivals = Array.from({ length: 8 }, async (_, index) => {
      await sleep(index * 15)
      return connectBy(way, { baseUrl: stage.baseUrl, message: subsOf(station.channel) })
    })
    for (let count = 0; count < 30; count++) {
      await station.play(`Song ${count}`)
      await sleep(5)
    }
    const newest = station.state().offset
    for (const { reader, connect } of await Promise.all(arrivals)) {
      let last = entryOf('recovered', connect, station.channel).publications[0].offset
      while (last < newest) {
        const { pub } = await reader.until('pub')
        expect(pub.offset).toBeGreaterThanOrEqual(last)
        last = pub.offset
      }
      expect(last).toBe(newest)
    }
  })

  test('R15: a new epoch ends the connection, and the next connection has it', async ({ stage }) => {
    const station = await stage.put({ offset: 40 })
    const message = subsOf(station.channel)
    const { reader } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    await station.change({ epoch: 'e2', offset: 1 })
    const { disconnect } = await reader.until('disconnect')
    expect(disconnect).toEqual({ code: 3010, reason: 'insufficient state' })
    await reader.ended
    const again = await connectBy(way, {
      baseUrl: stage.baseUrl,
      message: { subs: { [station.channel]: { recover: true, offset: 40, epoch: 'e1' } } }
    })
    const entry = entryOf('recovered', again.connect, station.channel)
    expect([entry.epoch, entry.publications[0].offset]).toEqual(['e2', 1])
  })

  test('R17: a frame is one line, whatever a title contains', async ({ stage }) => {
    const station = await stage.put()
    const { reader } = await connectBy(way, { baseUrl: stage.baseUrl, message: subsOf(station.channel) })
    const titles = [
      'line\nfeed\r\nand\u2028more\u2029\u0085',
      '"quoted" \\ back\\slash \u0000\u001f',
      '\u{1F4FB} Déjà Vu — ΟΔΟΣ',
      'data: {"connect":{}}\n\ndata: {}',
      '1999',
      'true',
      '</script><script>alert(1)</script>'
    ]
    for (const title of titles) {
      await station.play(title)
      const { pub } = await reader.until('pub')
      expect(pub.data.np.now_playing.song.title).toBe(title)
    }
  })

  test('R19: stations share one connection, and a busy one does not delay another', async ({ stage }) => {
    const stations: StagedStation[] = []
    for (let count = 0; count < 12; count++) stations.push(await stage.put())
    const message = subsOf(...stations.map(({ channel }) => channel))
    const { reader, connect } = await connectBy(way, { baseUrl: stage.baseUrl, message })
    for (const { channel } of stations) entryOf('recovered', connect, channel)
    const [busy, quiet] = stations
    const noise = (async () => {
      for (let count = 0; count < 40; count++) await busy?.play(`Noise ${count}`)
    })()
    await quiet?.play('Night Ferry')
    const { pub } = await reader.until('pub', ({ channel }) => channel === quiet?.channel, 1_000)
    expect(pub.data.np.station.id).toBe(quiet?.id)
    await noise
  })

  test('R20: all triggers of a change arrive', async ({ stage }) => {
    const station = await stage.put()
    const { reader } = await connectBy(way, { baseUrl: stage.baseUrl, message: subsOf(station.channel) })
    await station.change({}, ['live_disconnect', 'live_connect'])
    const { pub } = await reader.until('pub')
    expect(pub.data.triggers).toEqual(['live_disconnect', 'live_connect'])
  })

  test('R21: with a delay changes are sent later, and the time is correct', async ({ stage }) => {
    const station = await stage.put({ shown: aPlay({ startedAtMs: Date.now() - 100_000 }) })
    const message = subsOf(station.channel)
    const { baseUrl } = stage
    const prompt = await connectBy(way, { baseUrl, message })
    const delayed = await connectBy(way, { baseUrl, message, query: 'delay=1' })
    const changedAtMs = Date.now()
    await station.play('Night Ferry')
    await prompt.reader.until('pub')
    expect(Date.now() - changedAtMs).toBeLessThan(900)
    const { pub } = await delayed.reader.until('pub', frame => frame.pub.offset === 2)
    expect(Date.now() - changedAtMs).toBeGreaterThanOrEqual(950)
    expect(Date.now() - changedAtMs).toBeLessThan(2_000)
    expect(Math.abs(pub.data.current_time - Date.now() / 1_000)).toBeLessThan(2)
  })

  test('unknown parameters, a plus for a space and a plain colon are accepted', async ({ stage }) => {
    const station = await stage.put()
    const message = `{"subs": {"${station.channel}": {"recover": true}}}`
    const { connect } = await connectBy(way, { baseUrl: stage.baseUrl, message, query: '_=1&1783468800' })
    entryOf('recovered', connect, station.channel)
  })

  test('128 channels are accepted', async ({ stage }) => {
    const channels = Array.from({ length: 128 }, (_, index) => [
      `station:${'a_long_short_name_'.repeat(4)}${index}`,
      null
    ])
    const { connect } = await connectBy(way, {
      baseUrl: stage.baseUrl,
      message: { subs: Object.fromEntries(channels) }
    })
    expect(Object.keys(connect.subs ?? {})).toHaveLength(128)
  })

  test('129 channels exceed the channel limit', async ({ stage }) => {
    const channels = Array.from({ length: 129 }, (_, index) => [`a${index}`, null])
    const reader = openWay(way, {
      baseUrl: stage.baseUrl,
      message: { subs: Object.fromEntries(channels) }
    })
    const { disconnect } = await reader.until('disconnect')
    expect(disconnect).toEqual({ code: 3505, reason: 'channel limit' })
    expect(reader.kinds).toEqual(['disconnect'])
    const { status, code = 3505, reason = 'channel limit' } = await reader.ended
    expect([200, 0]).toContain(status)
    expect([code, reason]).toEqual([3505, 'channel limit'])
  })

  test.for([
    ['text', 'hello'],
    ['a truncated document', '{"subs":'],
    ['two documents', '{}\n{}'],
    ['an array', '[]'],
    ['a number', '7'],
    ['a string', '"subs"'],
    ['true', 'true'],
    ['subs that are a number', '{"subs":7}'],
    ['subs that are an array', '{"subs":["station:1"]}'],
    ['a channel of 256 bytes', JSON.stringify({ subs: { ['x'.repeat(256)]: {} } })],
    ['a channel of 256 bytes in 128 letters', JSON.stringify({ subs: { ['é'.repeat(128)]: {} } })]
  ] as const)('3501 or 400: %s', async ([, message], { stage }) => {
    const reader = openWay(way, { baseUrl: stage.baseUrl, message })
    const { status, code, reason } = await reader.ended
    const isFirstFrame = way === 'a WebSocket and its first frame'
    expect(status).toBe(isFirstFrame ? 0 : 400)
    if (isFirstFrame) expect([code, reason]).toEqual([3501, 'bad request'])
    reader.check()
    expect(reader.kinds).toEqual([])
  })

  test('a message of more than 64 KiB is refused', async ({ stage }) => {
    const reader = openWay(way, { baseUrl: stage.baseUrl, message: { data: 'x'.repeat(64 * 1_024) } })
    const { status, code } = await reader.ended
    expect(way.includes('cf_connect') ? status : 0).toBe(way.includes('cf_connect') ? 431 : 0)
    expect(way.includes('POST') || way.includes('http_stream') ? status : 413).toBe(413)
    expect(way.includes('first frame') ? code : 1009).toBe(1009)
    expect(reader.kinds).toEqual([])
  })
})

describe('message formats of existing clients keep working', () => {
  const dialects = {
    'A and B, 0.17.6 to 0.20.0': (channel: string) => ({ subs: { [channel]: {}, 'global:time': {} } }),
    'C, 0.20.1 to today': (channel: string) => ({ subs: { [channel]: { recover: true } } }),
    'C with the keys of a full client': (channel: string) => ({
      token: '',
      data: null,
      name: 'js',
      version: '',
      headers: {},
      flag: 0,
      subs: { [channel]: { recover: true, offset: 0, epoch: '' } }
    })
  }
  test.for(
    Object.entries(dialects).flatMap(([name, messageOf]) => transports.map(way => ({ name, messageOf, way })))
  )('$name over $way', async ({ messageOf, way }, { stage }) => {
    const station = await stage.put()
    const { reader, connect } = await connectBy(way, {
      baseUrl: stage.baseUrl,
      message: messageOf(station.channel)
    })
    expect(Object.keys(connect.subs ?? {})).toContain(station.channel)
    await station.play('Night Ferry')
    const { pub } = await reader.until('pub', frame => frame.pub.offset === 2)
    expect(pub.data.np.now_playing.song.title).toBe('Night Ferry')
    expect(reader.kinds).not.toContain('disconnect')
  })
})
