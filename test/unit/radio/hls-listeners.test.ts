import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { openHlsListeners } from '../../../src/radio/hls/hls-listeners.ts'

const windowMs = 8_000
const fetch = (identity: string, variant = 'radio', shortName = 'demo') => ({
  shortName,
  variant,
  identity,
  address: '203.0.113.1',
  agent: 'VLC'
})

/** The identities by variant. */
const identitiesOf = (listeners: ReturnType<typeof openHlsListeners>) =>
  Object.fromEntries(
    [...listeners.listVariants('demo')].map(([variant, seen]) => [variant, [...seen.keys()]])
  )

test('a listener expires after the window without a fetch', () => {
  const listeners = openHlsListeners(windowMs)
  listeners.recordFetch(fetch('a'), 0)
  listeners.recordFetch(fetch('b'), 0)
  listeners.recordFetch(fetch('a'), 4_000)
  expect(listeners.expire(8_000)).toEqual(['demo'])
  expect(identitiesOf(listeners)).toEqual({ radio: ['b', 'a'] })
  listeners.expire(8_001)
  expect(identitiesOf(listeners)).toEqual({ radio: ['a'] })
  listeners.expire(12_001)
  expect(identitiesOf(listeners)).toEqual({})
})

test('a station stays changed until it is marked as counted, and changes again with its listeners', () => {
  const listeners = openHlsListeners(windowMs)
  listeners.recordFetch(fetch('a'), 0)
  expect(listeners.expire(1)).toEqual(['demo'])
  expect(listeners.expire(2)).toEqual(['demo'])
  listeners.markCounted('demo')
  listeners.recordFetch(fetch('a'), 3)
  expect(listeners.expire(4)).toEqual([])
  expect(listeners.expire(10_000)).toEqual(['demo'])
})

test('beyond the limit new listeners are ignored, until others expire', () => {
  const listeners = openHlsListeners(windowMs, 3)
  for (let n = 0; n < 10; n++) listeners.recordFetch(fetch(`${n}`, `radio${n}`), 0)
  expect(listeners.listVariants('demo').size).toBe(3)
  listeners.expire(9_000)
  listeners.recordFetch(fetch('late'), 9_000)
  expect(identitiesOf(listeners)).toEqual({ radio: ['late'] })
})

test('exactly the clients that fetched within the window are listeners', () => {
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 6_000 }),
    who: fc.constantFrom('a', 'b', 'c'),
    variant: fc.constantFrom('radio', 'radio2'),
    station: fc.constantFrom('demo', 'other')
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const listeners = openHlsListeners(windowMs)
      const seen = new Map<string, number>()
      let nowMs = 0
      for (const { afterMs, who, variant, station } of steps) {
        nowMs += afterMs
        listeners.recordFetch(fetch(who, variant, station), nowMs)
        seen.set(`${station} ${variant} ${who}`, nowMs)
        listeners.expire(nowMs)
        const known = ['demo', 'other'].flatMap(name =>
          [...listeners.listVariants(name)].flatMap(([path, identities]) =>
            [...identities.keys()].map(each => `${name} ${path} ${each}`)
          )
        )
        const expected = [...seen].filter(([, atMs]) => nowMs - atMs <= windowMs).map(([key]) => key)
        expect(known.toSorted()).toEqual(expected.toSorted())
      }
    })
  )
})
