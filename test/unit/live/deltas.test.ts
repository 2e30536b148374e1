import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  dictionary,
  integer,
  letrec,
  nat,
  oneof,
  option,
  property,
  record,
  string,
  uniqueArray
} from 'fast-check'
import { expect, test } from 'vitest'

import {
  computeMergePatch,
  inexpressiblePatch,
  type JsonValue,
  type JsonObject,
  renderMergePatch
} from '../../../src/live/deltas.ts'
import { LiveStation } from '../../../src/live/feed/live-station.ts'
import { aPlay, aSong, aStation, documented } from '../../support/builders.ts'
import { applyMergePatch } from '../../support/merge-patch.ts'

const names = constantFrom('a', 'b', 'c', 'np')

const { value: values, object: objects } = letrec<{ value: JsonValue; object: JsonObject }>(tie => ({
  value: oneof(
    { depthSize: 'small' },
    constant(null),
    boolean(),
    integer({ min: 0, max: 3 }),
    string({ maxLength: 2 }),
    array(tie('value'), { maxLength: 3 }),
    tie('object')
  ),
  object: dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true })
}))

test.each<[target: JsonValue, patch: JsonValue, result: JsonValue]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }]
])('the appendix of RFC 7396: %j with %j', (target, patch, result) => {
  expect(applyMergePatch(target, patch)).toEqual(result)
})

test('a patch turns one document into another, or is reported as inexpressible', () => {
  assert(
    property(objects, objects, (from, to) => {
      const patch = computeMergePatch(from, to)
      expect(patch === inexpressiblePatch ? to : applyMergePatch(from, patch)).toEqual(to)
    })
  )
})

test('a patch to a document without nulls is always expressible', () => {
  const full = objects.filter(object => !JSON.stringify(object).includes('null'))
  assert(
    property(full, full, (from, to) => {
      expect(computeMergePatch(from, to)).not.toBe(inexpressiblePatch)
    })
  )
})

test.each<[from: JsonObject, to: JsonObject, patch: JsonObject | typeof inexpressiblePatch]>([
  [{ a: 1, b: { c: 2, d: 3 } }, { a: 1, b: { c: 2, d: 4 } }, { b: { d: 4 } }],
  [{ a: null, b: [null] }, { a: null, b: [null, null] }, { b: [null, null] }],
  [{ a: 1 }, { a: null }, inexpressiblePatch],
  [{ a: null }, { a: { b: null } }, inexpressiblePatch],
  [{ a: 1 }, { a: 1 }, {}]
])('the patch from %j to %j contains only differences', (from, to, patch) => {
  expect(computeMergePatch(from, to)).toEqual(patch)
})

test('equal values result in an empty patch', () => {
  assert(
    property(values, value => {
      expect(computeMergePatch({ a: value }, { a: value })).toEqual({})
    })
  )
})

const start = 1_783_468_790

/** States of one station: live or not, playing or not, with or without custom fields and a next song. */
const states = record({
  title: string(),
  total: nat(9),
  isPlaying: boolean(),
  streamer: option(string()),
  hasNext: boolean(),
  fields: uniqueArray(integer({ min: 1, max: 3 }))
}).map(({ title, total, isPlaying, streamer, hasNext, fields }) => {
  const song = aSong({ title })
  const empty = aStation()
  return LiveStation.of(
    aStation({
      shown: isPlaying ? aPlay({ song, startedAtMs: start * 1000 }) : null,
      listeners: { ...empty.listeners, total, unique: total },
      live: streamer === null ? null : { streamerName: streamer, startedAtMs: start * 1000, art: '' },
      next: hasNext
        ? { song, cuedAtMs: 0, playsAtMs: 0, durationMs: 0, playlist: '', isRequest: false }
        : null,
      profile: { customFields: fields.map(id => ({ id, shortName: `field_${id}` })) }
    }),
    documented
  )
})

test('a patch turns the document of any second into the current one', () => {
  assert(
    property(states, states, nat(300), nat(300), (from, to, then, now) => {
      const target = JSON.parse(to.eventText(start + now))
      const patch = renderMergePatch(from, to, start + now)
      const patched =
        patch === null ? target : applyMergePatch(JSON.parse(from.eventText(start + then)), JSON.parse(patch))
      expect(patched).toEqual(target)
    })
  )
})

test('a changed listener count results in a small patch', () => {
  const before = aStation({ shown: aPlay({ startedAtMs: start * 1000 }) })
  const after = { ...before, listeners: { ...before.listeners, total: 7, unique: 6 } }
  const patch = renderMergePatch(
    LiveStation.of(before, documented),
    LiveStation.of(after, documented),
    start + 31
  )
  expect(JSON.parse(patch ?? '')).toEqual({
    listeners: { total: 7, unique: 6, current: 7 },
    now_playing: { elapsed: 31, remaining: 184 }
  })
})
