import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { Json } from '../../../src/live/deltas.ts'
import { openLines } from '../../../web/client/connection.ts'
import { isData, mergePatch, readFrame } from '../../../web/client/message.ts'
import { applyMergePatch } from '../../support/merge-patch.ts'
import { documentOf } from '../../support/web-client.ts'

const read = (frame: unknown) => readFrame(JSON.stringify(frame), 'station:demo')

test('frames of the protocol are read', () => {
  const data = { np: documentOf(), triggers: [], current_time: 1 }
  const entry = { recoverable: true, epoch: 'k3Vd', publications: [{ data, offset: 7 }], recovered: true }
  expect(read({ connect: { subs: { 'station:demo': entry }, time: 5 } })).toEqual([
    { type: 'connected', epoch: 'k3Vd', upTo: null, timeMs: 5 },
    { type: 'published', data, isPatch: false, offset: 7, epoch: 'k3Vd' }
  ])
  expect(read({ connect: { subs: { 'station:demo': { epoch: 'k3Vd', offset: 7 } }, time: 5 } })).toEqual([
    { type: 'connected', epoch: 'k3Vd', upTo: 7, timeMs: 5 }
  ])
  expect(read({ connect: { subs: { 'station:demo': {} }, time: 5 } })).toEqual([
    { type: 'missing', timeMs: 5 }
  ])
  expect(read({ channel: 'station:demo', pub: { delta: { np: {} }, offset: 8 } })).toEqual([
    { type: 'published', data: { np: {} }, isPatch: true, offset: 8, epoch: null }
  ])
  expect(read({ channel: 'station:other', pub: { data, offset: 8 } })).toEqual([])
  expect(read({ disconnect: { code: 3001, reason: 'shutdown' } })).toEqual([
    { type: 'dismissed', code: 3001 }
  ])
  expect(read({})).toEqual([{ type: 'pinged' }])
})

test('what is no frame is garbled, and nothing throws', () => {
  for (const text of ['', 'null', '[]', '"x"', '{', '{"channel":"station:demo","pub":{}}'])
    expect(readFrame(text, 'station:demo')).toEqual([{ type: 'garbled' }])
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('connect', 'pub', 'disconnect'), (json, name) => {
      const text = `{"${name}":${json},"channel":"station:demo"}`
      expect(Array.isArray(readFrame(text, 'station:demo'))).toBe(true)
      expect(isData(JSON.parse(json))).toBe(false)
    })
  )
})

test('patches do what RFC 7396 says', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (before, difference) => {
      // The reference stumbles over it; below it is tried.
      fc.pre(!`${before}${difference}`.includes('__proto__'))
      const target: Json = JSON.parse(before)
      const patch: Json = JSON.parse(difference)
      expect(mergePatch(target, patch)).toEqual(applyMergePatch(target, patch))
    })
  )
  expect(mergePatch({ a: 'b', c: { d: 'e', f: 'g' } }, { a: 'z', c: { f: null } })).toEqual({
    a: 'z',
    c: { d: 'e' }
  })
  expect(mergePatch({ e: null }, JSON.parse('{"__proto__":{"a":1}}'))).toHaveProperty('e', null)
  expect(Object.hasOwn(Object.prototype, 'a')).toBe(false)
})

test('lines come out whole, wherever their text is cut', () => {
  const text = 'data: {"a":1}\n\r\ndata: {}\n\nrest'
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), cuts => {
      const takeLines = openLines()
      const ends = [...new Set([...cuts, text.length])].toSorted((a, b) => a - b)
      const lines = ends.flatMap((end, index) => takeLines(text.slice(ends[index - 1] ?? 0, end)))
      expect(lines.filter(line => line !== '')).toEqual(['data: {"a":1}', 'data: {}'])
    })
  )
})
