import { anything, assert, dictionary, json, property, record, string } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseDelay, parseSubscribeMessage, parseStationChannel } from '../../../src/live/protocol.ts'
import { anyCharacter, anyWebUrl } from '../../support/any-text.ts'

const channels = (count: number) =>
  JSON.stringify({
    subs: Object.fromEntries(Array.from({ length: count }, (_, i) => [`station:${i}`, {}]))
  })

const named = (name: string) => JSON.stringify({ subs: { [name]: {} } })

describe('the subscribe message', () => {
  test.each([
    ['{"subs":{"station:a":{"recover":true,"offset":7,"epoch":"k3Vd"}}}', true, 7, 'k3Vd'],
    ['{"subs":{"station:a":{}}}', false, 0, ''],
    ['{"subs":{"station:a":null}}', false, 0, ''],
    ['{"subs":{"station:a":{"recover":"yes","offset":"7","epoch":1}},"flag":1,"data":[]}', false, 0, '']
  ])('%s', (text, recover, offset, epoch) => {
    expect(parseSubscribeMessage(text)).toEqual({
      requests: [{ channel: 'station:a', recover, delta: false, heartbeatMs: 0, offset, epoch }],
      token: ''
    })
  })

  test.each(['{}', 'null'])('may contain no subscriptions: %s', text => {
    expect(parseSubscribeMessage(text)).toEqual({ requests: null, token: '' })
  })

  test('may contain a key', () => {
    expect(parseSubscribeMessage('{"subs":null,"token":"abc"}')).toEqual({ requests: [], token: 'abc' })
  })

  test.each(['', 'hello', '[]', '1', '"x"', '{"subs":[]}', '{"subs":"station:a"}', '{"subs":{"a":1}'])(
    'is refused if it is %s',
    text => {
      expect(parseSubscribeMessage(text)).toBe('badRequest')
    }
  )

  test.each([15, 60, 300])('may ask for a heartbeat of %i seconds', heartbeat => {
    const text = JSON.stringify({ subs: { 'station:a': { heartbeat } } })
    expect(parseSubscribeMessage(text)).toMatchObject({ requests: [{ heartbeatMs: heartbeat * 1_000 }] })
  })

  test.each([14, 301, 0, -60, 15.5, '"60"', 'true', '{}'])('is refused with a heartbeat of %s', heartbeat => {
    expect(parseSubscribeMessage(`{"subs":{"station:a":{"heartbeat":${heartbeat}}}}`)).toBe('badHeartbeat')
  })

  test('has limits', () => {
    expect(parseSubscribeMessage(channels(128))).toMatchObject({ token: '' })
    expect(parseSubscribeMessage(channels(129))).toBe('channelLimit')
    expect(parseSubscribeMessage(named('é'.repeat(127) + 'e'))).toMatchObject({ token: '' })
    expect(parseSubscribeMessage(named('é'.repeat(128)))).toBe('badRequest')
    expect(parseSubscribeMessage(`{"data":"${'x'.repeat(64 * 1024)}"}`)).toBe('tooBig')
  })

  test('never throws for arbitrary input', () => {
    const hostile = record({ subs: anything(), token: anything() })
    assert(property(string(), text => parseSubscribeMessage(text) !== undefined))
    assert(property(json({ stringUnit: anyCharacter }), text => parseSubscribeMessage(text) !== undefined))
    assert(property(hostile, value => parseSubscribeMessage(JSON.stringify(value)) !== undefined))
    assert(
      property(dictionary(anyWebUrl, anything()), subs => {
        return parseSubscribeMessage(JSON.stringify({ subs })) !== undefined
      })
    )
  })

  test('accepts channels named like properties of objects', () => {
    const parsed = parseSubscribeMessage('{"subs":{"__proto__":{"recover":true},"constructor":{}}}')
    expect(parsed).toMatchObject({
      requests: [{ channel: '__proto__', recover: true }, { channel: 'constructor' }]
    })
  })
})

test.each([
  ['station:harbour_fm', 'harbour_fm'],
  ['station:1', '1'],
  ['station:', ''],
  ['stations:1', null],
  ['global:time', null],
  ['foo', null]
])('%s names the station %s', (channel, station) => {
  expect(parseStationChannel(channel)).toBe(station)
})

test.each([
  [null, 0],
  ['', 0],
  ['0', 0],
  ['20', 20_000],
  ['2.5', 2_500],
  ['60', 60_000],
  ['60.001', null],
  ['61', null],
  ['-1', null],
  ['1e1', null],
  ['abc', null]
])('a delay of %s', (text, ms) => {
  expect(parseDelay(text)).toBe(ms)
})

test.each([
  ['{"subs":{"station:a":{"delta":"merge-patch"}}}', true],
  ['{"subs":{"station:a":{"delta":"fossil"}}}', false],
  ['{"subs":{"station:a":{"delta":true}}}', false]
])('deltas are requested by name: %s', (text, delta) => {
  expect(parseSubscribeMessage(text)).toMatchObject({ requests: [{ delta }] })
})
