import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { JsonValue } from '../../../src/live/deltas.ts'
import { openLineSplitter } from '../../../web/client/connection.ts'
import { isPublishedData, mergeJsonPatch, parseServerFrame } from '../../../web/client/message.ts'
import { applyMergePatch } from '../../support/merge-patch.ts'
import { renderDocument } from '../../support/web-client.ts'

const parse = (frame: unknown) => parseServerFrame(JSON.stringify(frame), 'station:demo')

test('frames of the protocol are parsed', () => {
  const data = { np: renderDocument(), triggers: [], current_time: 1 }
  const entry = { recoverable: true, epoch: 'k3Vd', publications: [{ data, offset: 7 }], recovered: true }
  expect(parse({ connect: { subs: { 'station:demo': entry }, time: 5 } })).toEqual([
    { type: 'connect', epoch: 'k3Vd', upTo: null, timeMs: 5 },
    { type: 'publication', data, isDelta: false, offset: 7, epoch: 'k3Vd' }
  ])
  expect(parse({ connect: { subs: { 'station:demo': { epoch: 'k3Vd', offset: 7 } }, time: 5 } })).toEqual([
    { type: 'connect', epoch: 'k3Vd', upTo: 7, timeMs: 5 }
  ])
  expect(parse({ connect: { subs: { 'station:demo': {} }, time: 5 } })).toEqual([
    { type: 'missing', timeMs: 5 }
  ])
  expect(parse({ channel: 'station:demo', pub: { delta: { np: {} }, offset: 8 } })).toEqual([
    { type: 'publication', data: { np: {} }, isDelta: true, offset: 8, epoch: null }
  ])
  expect(parse({ channel: 'station:other', pub: { data, offset: 8 } })).toEqual([])
  expect(parse({ disconnect: { code: 3001, reason: 'shutdown' } })).toEqual([
    { type: 'disconnect', code: 3001 }
  ])
  expect(parse({})).toEqual([{ type: 'ping' }])
})

test('text that is not a frame is malformed, and nothing throws', () => {
  for (const text of ['', 'null', '[]', '"x"', '{', '{"channel":"station:demo","pub":{}}'])
    expect(parseServerFrame(text, 'station:demo')).toEqual([{ type: 'malformed' }])
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('connect', 'pub', 'disconnect'), (json, name) => {
      const text = `{"${name}":${json},"channel":"station:demo"}`
      expect(Array.isArray(parseServerFrame(text, 'station:demo'))).toBe(true)
      expect(isPublishedData(JSON.parse(json))).toBe(false)
    })
  )
})

test('merge patches follow RFC 7396', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (before, changes) => {
      // The reference implementation does not support this name; it is tested below.
      fc.pre(!`${before}${changes}`.includes('__proto__'))
      const target: JsonValue = JSON.parse(before)
      const patch: JsonValue = JSON.parse(changes)
      expect(mergeJsonPatch(target, patch)).toEqual(applyMergePatch(target, patch))
    })
  )
  expect(mergeJsonPatch({ a: 'b', c: { d: 'e', f: 'g' } }, { a: 'z', c: { f: null } })).toEqual({
    a: 'z',
    c: { d: 'e' }
  })
  expect(mergeJsonPatch({ e: null }, JSON.parse('{"__proto__":{"a":1}}'))).toHaveProperty('e', null)
  expect(Object.hasOwn(Object.prototype, 'a')).toBe(false)
})

test('lines are complete, wherever the text is split into chunks', () => {
  const text = 'data: {"a":1}\n\r\ndata: {}\n\nrest'
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), cuts => {
      const splitLines = openLineSplitter()
      const ends = [...new Set([...cuts, text.length])].toSorted((a, b) => a - b)
      const lines = ends.flatMap((end, index) => splitLines(text.slice(ends[index - 1] ?? 0, end)))
      expect(lines.filter(line => line !== '')).toEqual(['data: {"a":1}', 'data: {}'])
    })
  )
})
