import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { isStationOnline } from '../../../../src/model/station/state.ts'
import { type Trigger, triggersBetween, type TriggerState } from '../../../../src/model/station/triggers.ts'

const silent: TriggerState = { current: null, shown: null, listeners: { total: 0 }, live: null }
const playing = (shId: number): TriggerState => ({ ...silent, current: { shId }, shown: { shId } })
const withListeners = (total: number): TriggerState => ({ ...silent, listeners: { total } })
const live = (startedAtMs: number): TriggerState => ({ ...silent, live: { startedAtMs } })

describe('triggers', () => {
  const cases: [why: string, before: TriggerState, after: TriggerState, triggers: Trigger[]][] = [
    ['a song starts on a silent station', silent, playing(77), ['song_changed', 'station_online']],
    ['a song follows another', playing(77), playing(78), ['song_changed']],
    ['a jingle is not shown', playing(77), { ...playing(77), current: { shId: 78 } }, []],
    ['a jingle ends', { ...playing(77), current: { shId: 78 } }, playing(77), []],
    ['nothing plays any more', playing(77), silent, ['station_offline']],
    ['nothing changed', playing(77), playing(77), []],
    ['listeners come', withListeners(4), withListeners(5), ['listener_gained']],
    ['listeners leave', withListeners(5), withListeners(4), ['listener_lost']],
    ['a DJ connects', silent, live(2), ['live_connect', 'station_online']],
    ['a DJ disconnects', live(2), silent, ['live_disconnect', 'station_offline']],
    ['a DJ takes over from another', live(2), live(3), ['live_disconnect', 'live_connect']],
    [
      'a DJ plays a song',
      { ...playing(77), live: { startedAtMs: 2 } },
      { ...playing(78), live: { startedAtMs: 2 } },
      ['song_changed', 'song_changed_live']
    ]
  ]
  test.each(cases)('%s', (_, before, after, triggers) => {
    expect(triggersBetween(before, after)).toEqual(triggers)
  })
})

const shId = fc.option(fc.record({ shId: fc.nat({ max: 3 }) }), { nil: null })
const observed: fc.Arbitrary<TriggerState> = fc.record({
  current: shId,
  shown: shId,
  listeners: fc.record({ total: fc.nat({ max: 3 }) }),
  live: fc.option(fc.record({ startedAtMs: fc.nat({ max: 3 }) }), { nil: null })
})

test('a state that stays the same fires nothing', () => {
  fc.assert(
    fc.property(observed, state => {
      expect(triggersBetween(state, state)).toEqual([])
    })
  )
})

test('going online and offline are opposites, and fire exactly when the status changes', () => {
  fc.assert(
    fc.property(observed, observed, (before, after) => {
      const fired = triggersBetween(before, after)
      expect(fired.includes('station_online')).toBe(!isStationOnline(before) && isStationOnline(after))
      expect(fired.includes('station_offline')).toBe(isStationOnline(before) && !isStationOnline(after))
    })
  )
})

test('no trigger fires twice', () => {
  fc.assert(
    fc.property(observed, observed, (before, after) => {
      const fired = triggersBetween(before, after)
      expect(new Set(fired).size).toBe(fired.length)
    })
  )
})
