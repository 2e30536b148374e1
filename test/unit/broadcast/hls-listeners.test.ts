import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { openHlsListeners } from '../../../src/broadcast/hls/log.ts'

const windowMs = 8_000
const fetch = (identity: string, variant = 'radio', shortName = 'demo') => ({ shortName, variant, identity })

test('who fetches again in time stays, who does not has left', () => {
  const listeners = openHlsListeners(windowMs)
  listeners.see(fetch('a'), 0)
  listeners.see(fetch('b'), 0)
  listeners.see(fetch('a'), 4_000)
  expect(listeners.changedAt(8_000)).toEqual(['demo'])
  expect(listeners.variantsOf('demo')).toEqual(new Map([['radio', ['b', 'a']]]))
  listeners.changedAt(8_001)
  expect(listeners.variantsOf('demo')).toEqual(new Map([['radio', ['a']]]))
  listeners.changedAt(12_001)
  expect(listeners.variantsOf('demo')).toEqual(new Map())
})

test('a station has changed until that is taken over, and not again while the same people listen', () => {
  const listeners = openHlsListeners(windowMs)
  listeners.see(fetch('a'), 0)
  expect(listeners.changedAt(1)).toEqual(['demo'])
  expect(listeners.changedAt(2)).toEqual(['demo'])
  listeners.settle('demo')
  listeners.see(fetch('a'), 3)
  expect(listeners.changedAt(4)).toEqual([])
  expect(listeners.changedAt(10_000)).toEqual(['demo'])
})

test('no more listeners are known than there is room for, and leaving makes room', () => {
  const listeners = openHlsListeners(windowMs, 3)
  for (let n = 0; n < 10; n++) listeners.see(fetch(`${n}`, `radio${n}`), 0)
  expect(listeners.variantsOf('demo').size).toBe(3)
  listeners.changedAt(9_000)
  listeners.see(fetch('late'), 9_000)
  expect(listeners.variantsOf('demo')).toEqual(new Map([['radio', ['late']]]))
})

test('whatever is fetched when, exactly those listen who fetched within the window', () => {
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
        listeners.see(fetch(who, variant, station), nowMs)
        seen.set(`${station} ${variant} ${who}`, nowMs)
        listeners.changedAt(nowMs)
        const known = ['demo', 'other'].flatMap(name =>
          [...listeners.variantsOf(name)].flatMap(([path, people]) =>
            people.map(each => `${name} ${path} ${each}`)
          )
        )
        const expected = [...seen].filter(([, atMs]) => nowMs - atMs <= windowMs).map(([key]) => key)
        expect(known.toSorted()).toEqual(expected.toSorted())
      }
    })
  )
})
