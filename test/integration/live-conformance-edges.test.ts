import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'

import { removeStationState } from '../../src/stores/redis/station-store.ts'
import { aPlay, aSong } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import type { StagedStation } from '../support/live-stage.ts'
import { connectBy, livePath, openWay, openWebSocket, transports, type Way } from '../support/live-ways.ts'
import { sendRaw } from '../support/raw-http.ts'
import { openRaw, openRawWebSocket, rawFrame } from '../support/raw-websocket.ts'
import { waitFor } from '../support/wait.ts'

// Cases in which several rules of the protocol apply at once.

const subsOf = (...stations: StagedStation[]) => ({
  subs: Object.fromEntries(stations.map(({ channel }) => [channel, { recover: true }]))
})

const entryOf = (connect: { subs?: Record<string, unknown> }, { channel }: StagedStation) =>
  Object(connect.subs?.[channel])

describe('the encoding of the subscribe message', () => {
  test('cf_connect may contain a plain colon, a plus for a space, and quotes', async ({ stage }) => {
    const station = await stage.put()
    const query = `cf_connect={"subs":+{"${station.channel}":+{"recover":true}}}`
    const socket = new WebSocket(`${stage.baseUrl.replace('http', 'ws')}${livePath}/websocket?${query}`)
    const text = await new Promise<string>(resolve => {
      socket.once('message', data => resolve(Buffer.isBuffer(data) ? data.toString() : ''))
    })
    socket.terminate()
    expect(JSON.parse(text).connect.subs[station.channel].publications).toHaveLength(1)
    const life = new AbortController()
    const response = await fetch(`${stage.baseUrl}${livePath}/sse?_=1&${query}`, { signal: life.signal })
    expect(response.status).toBe(200)
    life.abort()
  })

  test.for(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-8', ''])(
    'a body is read for any content type: %j',
    async (type, { stage }) => {
      const station = await stage.put()
      const { connect } = await connectBy('curl: http_stream', {
        baseUrl: stage.baseUrl,
        message: subsOf(station),
        headers: { 'Content-Type': type }
      })
      expect(entryOf(connect, station).publications).toHaveLength(1)
    }
  )

  test.for(['sse', 'http_stream'])(
    'a chunked body of more than 64 KiB is refused: %s',
    async (path, { stage }) => {
      const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`
      const response = await sendRaw(
        stage.baseUrl,
        `POST ${livePath}/${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}${chunk}0\r\n\r\n`
      )
      expect(response.status).toBe(413)
    }
  )

  test.for(['sse', 'http_stream'])('a chunked body is accepted: %s', async (path, { stage }) => {
    const life = new AbortController()
    const body = new ReadableStream({
      start: controller => {
        for (const part of ['{"su', 'bs":{"global:ti', 'me":{}}}'])
          controller.enqueue(new TextEncoder().encode(part))
        controller.close()
      }
    })
    const response = await fetch(`${stage.baseUrl}${livePath}/${path}`, {
      method: 'POST',
      body,
      duplex: 'half',
      signal: life.signal
    })
    expect(response.status).toBe(200)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"channel":"global:time"')) text += (await reader?.read())?.value ?? ''
    expect(text).toContain('"subs":{"global:time":{}}')
    life.abort()
  })

  test('after cf_connect the first frame is treated as a later frame', async ({ stage }) => {
    const [first, second] = [await stage.put(), await stage.put()]
    const client = openWebSocket({ baseUrl: stage.baseUrl, message: null }, subsOf(first))
    await client.until('connect')
    client.socket.send('junk')
    client.socket.send(JSON.stringify(subsOf(second)))
    expect((await client.until('pub')).channel).toBe(second.channel)
    expect(client.kinds).toEqual(['connect', 'pub'])
  })

  test('the message of a POST takes precedence over cf_connect', async ({ stage }) => {
    const [first, second] = [await stage.put(), await stage.put()]
    const { connect } = await connectBy('curl: http_stream', {
      baseUrl: stage.baseUrl,
      message: subsOf(second),
      query: `cf_connect=${encodeURIComponent(JSON.stringify(subsOf(first)))}`
    })
    expect(Object.keys(connect.subs ?? {})).toEqual([second.channel])
  })

  test.for([['json'], ['json', 'centrifuge-json']])(
    'a client that offers %j as subprotocols is connected',
    async (protocols, { stage }) => {
      const socket = new WebSocket(
        `${stage.baseUrl.replace('http', 'ws')}${livePath}/websocket?cf_connect=%7B%7D`,
        protocols
      )
      const outcome = await new Promise(resolve => {
        socket.once('message', () => resolve('a frame'))
        socket.once('error', resolve)
      })
      socket.terminate()
      expect(outcome).toBe('a frame')
    }
  )
})

describe('permission to listen', () => {
  test.for(transports)(
    'a station that becomes private is unknown to clients without a key: %s',
    async (way, { stage }) => {
      const [station, witness] = [await stage.put(), await stage.put()]
      const { key } = await stage.makeKey()
      const { baseUrl } = stage
      const message = subsOf(station, witness)
      const keyless = await connectBy(way, { baseUrl, message })
      const keyed = await connectBy(way, { baseUrl, message: { ...message, token: key } })
      await station.change({ profile: { ...station.state().profile, isPublic: false } })
      expect((await keyed.reader.until('pub')).pub.data.np.station.is_public).toBe(false)
      expect((await keyless.reader.until('disconnect')).disconnect.code).toBe(3010)
      expect(keyless.reader.kinds).toEqual(['connect', 'disconnect'])

      const again = await connectBy(way, { baseUrl, message })
      expect(entryOf(again.connect, station)).toEqual({})
      await station.play('Secret Ferry')
      await witness.play('Night Ferry')
      expect((await again.reader.until('pub')).channel).toBe(witness.channel)
      await keyed.reader.until('pub', frame => frame.channel === station.channel && frame.pub.offset === 3)
      await station.change({ profile: { ...station.state().profile, isPublic: true } })
      const opened = await again.reader.until('pub')
      expect([opened.channel, opened.pub.offset]).toEqual([station.channel, 4])
      expect(again.reader.kinds).toEqual(['connect', 'pub', 'pub'])
    }
  )

  test.for(transports)(
    'a delayed publication is not sent after the key is revoked: %s',
    async (way, { stage }) => {
      const hidden = await stage.put({ profile: { isPublic: false } })
      const { key, revoke } = await stage.makeKey()
      const { reader, connect } = await connectBy(way, {
        baseUrl: stage.baseUrl,
        message: { ...subsOf(hidden), token: key },
        query: 'delay=1'
      })
      expect(entryOf(connect, hidden).publications).toHaveLength(1)
      await hidden.play('Secret Ferry')
      await revoke()
      expect((await reader.until('disconnect')).disconnect.code).toBe(3010)
      expect(reader.kinds).toEqual(['connect', 'disconnect'])
    }
  )
})

describe('a delay', () => {
  test('never sends a publication older than the position of the client', async ({ stage }) => {
    const { baseUrl } = stage
    const comeBack = async (way: Way) => {
      const station = await stage.put()
      const prompt = await connectBy(way, { baseUrl, message: subsOf(station) })
      const delayed = await connectBy(way, { baseUrl, message: subsOf(station), query: 'delay=1' })
      await station.play('Night Ferry')
      await prompt.reader.until('pub')
      prompt.reader.close()
      const message = { subs: { [station.channel]: { recover: true, offset: 2, epoch: 'e1' } } }
      const back = await connectBy(way, { baseUrl, message, query: 'delay=1' })
      const { offset, publications } = entryOf(back.connect, station)
      expect(offset ?? publications[0].offset).toBe(2)
      await delayed.reader.until('pub', ({ pub }) => pub.offset === 2)
      await station.play('Tidewater')
      const { pub } = await back.reader.until('pub', frame => frame.pub.offset !== 2)
      expect(pub.offset).toBe(3)
    }
    await Promise.all(transports.map(comeBack))
  })

  test('keeps changes in order, each with its triggers', async ({ stage }) => {
    const station = await stage.put()
    const message = subsOf(station)
    const delayed = await Promise.all(
      transports.map(way => connectBy(way, { baseUrl: stage.baseUrl, message, query: 'delay=1' }))
    )
    for (const title of ['One', 'Two', 'Three']) await station.play(title)
    for (const { reader } of delayed) {
      let last = 1
      while (last < 4) {
        const { pub } = await reader.until('pub')
        expect(pub.offset).toBeGreaterThanOrEqual(last)
        if (pub.offset > last) expect(pub.data.triggers).toEqual(['song_changed'])
        last = pub.offset
      }
    }
  })

  test.for(['delay=', 'delay=0', 'delay=60'])('may be %s', async (query, { stage }) => {
    const station = await stage.put()
    for (const way of transports) {
      const { connect } = await connectBy(way, { baseUrl: stage.baseUrl, message: subsOf(station), query })
      expect(entryOf(connect, station).publications).toHaveLength(1)
    }
  })

  test.for(['delay=abc', 'delay=61', 'delay=-1', 'delay=1e1'])('must not be %s', async (query, { stage }) => {
    for (const way of transports) {
      const reader = openWay(way, { baseUrl: stage.baseUrl, message: {}, query })
      expect((await reader.ended).status).toBe(400)
    }
  })
})

describe('a deleted station', () => {
  test.for(transports)(
    'is unknown, and its name can be used by another station: %s',
    async (way, { stage }) => {
      const [station, witness] = [await stage.put(), await stage.put()]
      const { baseUrl } = stage
      const { reader } = await connectBy(way, { baseUrl, message: subsOf(station, witness) })
      await removeStationState(stage.redis, station.id)
      expect((await reader.until('disconnect')).disconnect.code).toBe(3010)
      expect((await stage.server.ask('GET', `/api/nowplaying/${station.id}`)).status).toBe(404)
      const again = await connectBy(way, { baseUrl, message: subsOf(station, witness) })
      expect(entryOf(again.connect, station)).toEqual({})
      await witness.play('Night Ferry')
      expect((await again.reader.until('pub')).channel).toBe(witness.channel)
      const successor = await stage.put({ profile: { shortName: station.shortName }, epoch: 'e2' })
      const { pub } = await again.reader.until('pub')
      expect(pub.data.np.station.id).toBe(successor.id)
    }
  )
})

test('a client with deltas that reads slowly ends up with the newest document', async ({ stage }) => {
  const station = await stage.put()
  using raw = await openRawWebSocket(stage.baseUrl)
  const options = { recover: true, delta: 'merge-patch' }
  raw.send(rawFrame({ payload: JSON.stringify({ subs: { [station.channel]: options } }) }))
  expect(await raw.nextText()).toContain('"delta":"merge-patch"')
  const witness = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(station) })
  await witness.until('connect')
  raw.socket.pause()
  for (let count = 0; count < 40; count++) {
    const song = aSong({ title: `Song ${count}`, lyrics: `${count} la `.repeat(60_000) })
    const { offset } = await station.change({ shown: aPlay({ shId: 6_000 + count, song }) }, ['song_changed'])
    await witness.until('pub', ({ pub }) => pub.offset === offset)
  }
  await station.change({ shown: aPlay({ shId: 7_000, song: aSong({ title: 'The Last' }) }) }, [
    'song_changed'
  ])
  const newest = station.state().offset
  raw.socket.resume()
  const seen: { offset: number; isWhole: boolean; title: string }[] = []
  while (seen.at(-1)?.offset !== newest) {
    const { pub } = JSON.parse((await raw.nextText()) ?? 'null')
    const { np } = pub.data ?? pub.delta
    seen.push({ offset: pub.offset, isWhole: 'data' in pub, title: np.now_playing?.song?.title })
  }
  // A full document follows after every gap.
  for (const [index, { offset, isWhole }] of seen.entries())
    if (offset !== (seen[index - 1]?.offset ?? 1) + 1) expect([offset, isWhole]).toEqual([offset, true])
  expect(seen.length).toBeLessThan(40)
  expect(seen.at(-1)?.title).toBe('The Last')
})

test.for(['sse', 'http_stream'])(
  'frames that a slow %s client could not receive at once follow when it reads',
  async (path, { stage }) => {
    // With one of these counts data remains in the server, whatever the size of the kernel buffers.
    const readers = [2, 3, 4, 5, 6].map(async count => {
      const station = await stage.put()
      const message = JSON.stringify(subsOf(station))
      using raw = openRaw(stage.baseUrl)
      raw.send(
        `POST ${livePath}/${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${message.length}\r\n\r\n${message}`
      )
      expect(await raw.status()).toBe(200)
      raw.socket.pause()
      const witness = openWebSocket({ baseUrl: stage.baseUrl, message })
      await witness.until('connect')
      for (let change = 0; change < count; change++) {
        const song = aSong({ title: `Song ${change}`, lyrics: 'x'.repeat(900_000) })
        const { offset } = await station.change({ shown: aPlay({ shId: 8_000 + change, song }) })
        await witness.until('pub', ({ pub }) => pub.offset === offset)
      }
      let text = ''
      raw.socket.on('data', chunk => (text = (text + chunk.toString('latin1')).slice(-100)))
      raw.socket.resume()
      await waitFor(() => text.includes(`"offset":${station.state().offset}}`), {
        deadlineMs: 3_000,
        what: `the last of ${count} documents`
      })
    })
    await Promise.all(readers)
  }
)
