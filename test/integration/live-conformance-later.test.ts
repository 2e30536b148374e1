import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { entryOf, subsOf } from '../support/live-frames.ts'
import { connectBy, openWebSocket } from '../support/live-ways.ts'

// Behavior after the connect frame: later frames of the client, and renamed stations.

describe('later frames of a WebSocket (R9)', () => {
  test('a second subs frame replaces the first, without a second connect', async ({ stage }) => {
    const [first, second] = [await stage.put(), await stage.put()]
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(first.channel) })
    await client.until('connect')
    client.socket.send(JSON.stringify(subsOf(second.channel)))
    const { channel, pub } = await client.until('pub', () => true, 1_000)
    expect([channel, pub.offset, pub.data.triggers]).toEqual([second.channel, 1, []])
    await first.play('Gone')
    await second.play('Night Ferry')
    expect((await client.until('pub')).channel).toBe(second.channel)
    expect(client.kinds).toEqual(['connect', 'pub', 'pub'])
  })

  test('each named channel gets one publication, even if it was already subscribed', async ({ stage }) => {
    const [first, second] = [await stage.put(), await stage.put()]
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(first.channel) })
    await client.until('connect')
    client.socket.send(JSON.stringify(subsOf(first.channel, second.channel)))
    const both = [await client.until('pub'), await client.until('pub')]
    expect(new Set(both.map(({ channel }) => channel))).toEqual(new Set([first.channel, second.channel]))
  })

  test('an empty subs ends all subscriptions', async ({ stage }) => {
    const station = await stage.put()
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(station.channel) })
    await client.until('connect')
    client.socket.send('{"subs":{}}')
    client.socket.send('{"subs":{"global:time":{}}}')
    await client.until('time')
    await station.play('Night Ferry')
    client.socket.send('{"subs":{"global:time":{}}}')
    await client.until('time')
    expect(client.kinds).toEqual(['connect', 'time', 'time'])
  })

  test('any other frame changes nothing', async ({ stage }) => {
    const station = await stage.put()
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(station.channel) })
    await client.until('connect')
    const junk = ['{}', 'junk', '[]', '7', 'null', '{"subs":7}', '', '{"ping":{}}', '{"connect":{}}']
    for (const text of junk) client.socket.send(text)
    client.socket.send(Buffer.from([0, 255, 128]))
    await station.play('Night Ferry')
    await client.until('pub')
    expect(client.kinds).toEqual(['connect', 'pub'])
  })

  test('the token of a later frame opens a private station', async ({ stage }) => {
    const hidden = await stage.put({ profile: { isPublic: false } })
    const { key } = await stage.makeKey()
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(hidden.channel) })
    entryOf('waiting', (await client.until('connect')).connect, hidden.channel)
    client.socket.send(JSON.stringify({ ...subsOf(hidden.channel), token: key }))
    expect((await client.until('pub')).channel).toBe(hidden.channel)
  })

  test('129 channels exceed the channel limit', async ({ stage }) => {
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: {} })
    await client.until('connect')
    const channels = Array.from({ length: 129 }, (_, index) => [`a${index}`, null])
    client.socket.send(JSON.stringify({ subs: Object.fromEntries(channels) }))
    expect((await client.until('disconnect')).disconnect.code).toBe(3505)
    expect(await client.ended).toMatchObject({ code: 3505, reason: 'channel limit' })
  })

  test('more than 64 KiB exceed the size limit', async ({ stage }) => {
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: {} })
    await client.until('connect')
    client.socket.send(JSON.stringify({ data: 'x'.repeat(64 * 1_024) }))
    expect(await client.ended).toMatchObject({ code: 1009 })
  })

  test('more than 20 messages in a second exceed the rate limit', async ({ stage }) => {
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: {} })
    await client.until('connect')
    for (let count = 0; count < 40; count++) client.socket.send('{}')
    expect((await client.until('disconnect')).disconnect).toEqual({ code: 3509, reason: 'too many messages' })
    expect(await client.ended).toMatchObject({ code: 3509, reason: 'too many messages' })
  })

  test('20 messages in a second are accepted', async ({ stage }) => {
    const station = await stage.put()
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(station.channel) })
    await client.until('connect')
    for (let count = 0; count < 18; count++) client.socket.send('{}')
    await station.play('Night Ferry')
    await client.until('pub')
    expect(client.kinds).toEqual(['connect', 'pub'])
  })
})

describe('renamed stations', () => {
  test('the id and the new name receive publications, and the old name is unknown after a reconnect', async ({
    stage
  }) => {
    const station = await stage.put()
    const { shortName } = stage.newName()
    const [old, renamed, byId] = [station.channel, `station:${shortName}`, `station:${station.id}`]
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(renamed, byId) })
    const former = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(old) })
    const { connect } = await client.until('connect')
    entryOf('waiting', connect, renamed)
    await former.until('connect')
    await station.change({ profile: { ...station.state().profile, shortName } })
    const received = [await client.until('pub'), await client.until('pub')]
    expect(new Set(received.map(({ channel }) => channel))).toEqual(new Set([renamed, byId]))
    expect((await former.until('disconnect')).disconnect.code).toBe(3010)
    const again = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(old) })
    entryOf('waiting', (await again.until('connect')).connect, old)
    await station.play('Night Ferry')
    const later = [await client.until('pub'), await client.until('pub')]
    expect(new Set(later.map(({ channel }) => channel))).toEqual(new Set([renamed, byId]))
    expect(client.kinds).toEqual(['connect', 'pub', 'pub', 'pub', 'pub'])
    expect(again.kinds).toEqual(['connect'])
  })

  test('a client is disconnected when its name is passed to another station', async ({ stage }) => {
    const first = await stage.put()
    const { shortName } = stage.newName()
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(first.channel) })
    await client.until('connect')
    await first.change({ profile: { ...first.state().profile, shortName } })
    const second = await stage.put({ profile: { shortName: first.shortName }, epoch: 'e2' })
    expect((await client.until('disconnect')).disconnect.code).toBe(3010)
    const { connect } = await connectBy('a WebSocket and its first frame', {
      baseUrl: stage.baseUrl,
      message: subsOf(first.channel)
    })
    const entry = entryOf('recovered', connect, first.channel)
    expect(entry.publications[0].data.np.station.id).toBe(second.id)
  })
})
