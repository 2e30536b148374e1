import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { StationEvent, TrackStarted } from '../../../src/station/event.ts'
import { reduce } from '../../../src/station/reduce.ts'
import { emptyState, isOnline, type StationState } from '../../../src/station/state.ts'
import { aPlay, aStation } from '../../support/builders.ts'

const trackStarted = (revision: number, shId: number, parts: { isVisible?: boolean } = {}): TrackStarted => {
  const shown = aPlay({ shId, startedAtMs: 1_000 })
  const current = { shId, dueAtMs: 216_000, isVisible: true, ...parts }
  return { type: 'track-started', revision, current, shown, history: [], next: null }
}

const triggersAfter = (state: StationState, event: StationEvent) =>
  reduce(state, event).effects.flatMap(effect => (effect.type === 'publish' ? effect.triggers : []))

const silent = aStation({ shown: null })
const aNext = { cuedAtMs: 1, playsAtMs: 2, durationMs: 3, playlist: '', isRequest: false }

const counted = (revision: number, total: number): StationEvent => ({
  type: 'listeners-counted',
  revision,
  listeners: { total, unique: total, mounts: {}, remotes: {}, hls: 0 }
})

const liveStarted = (revision: number, streamerName: string): StationEvent => ({
  type: 'live-started',
  revision,
  live: { streamerName, startedAtMs: revision, art: '' }
})

describe('events', () => {
  test('a track that started is shown, published and its end scheduled', () => {
    const { state, effects } = reduce(silent, trackStarted(5, 77))
    expect(state).toMatchObject({ current: { shId: 77 }, shown: { shId: 77 } })
    expect(effects).toEqual([
      { type: 'publish', triggers: ['song_changed', 'station_online'] },
      { type: 'schedule-advance', shId: 77, atMs: 216_000 }
    ])
  })

  test('a track whose end only a report can tell schedules nothing', () => {
    const event: StationEvent = {
      ...trackStarted(5, 77),
      current: { shId: 77, dueAtMs: null, isVisible: true }
    }
    expect(reduce(silent, event).effects.map(effect => effect.type)).toEqual(['publish'])
  })

  test('the same song again is a song change', () => {
    const first = reduce(silent, trackStarted(5, 77)).state
    expect(triggersAfter(first, trackStarted(6, 78))).toEqual(['song_changed'])
  })

  test('a jingle changes no song, but is published', () => {
    const playing = reduce(silent, trackStarted(5, 77)).state
    const jingle: StationEvent = {
      ...trackStarted(6, 77),
      current: { shId: 78, dueAtMs: 220_000, isVisible: false }
    }
    expect(reduce(playing, jingle).effects).toEqual([
      { type: 'publish', triggers: [] },
      { type: 'schedule-advance', shId: 78, atMs: 220_000 }
    ])
  })

  test('a step of the playback takes the queue along', () => {
    const next = { ...aNext, song: aPlay().song }
    const queued = reduce(silent, { type: 'queue-changed', revision: 4, next }).state
    expect(queued.next).toEqual(next)
    const started = reduce(queued, trackStarted(5, 77)).state
    expect(started.next).toBeNull()
    expect(reduce(started, { type: 'queue-changed', revision: 5, next }).state).toBe(started)
  })

  test('a step of the playback leaves a queue alone that is as new or newer', () => {
    const next = { ...aNext, song: aPlay().song }
    for (const revision of [5, 6]) {
      const queued = reduce(silent, { type: 'queue-changed', revision, next }).state
      const started = reduce(queued, trackStarted(5, 77)).state
      expect(started.next).toBe(next)
      expect(started.revisions).toMatchObject({ playback: 5, queue: revision })
      const offline: StationEvent = { type: 'went-offline', revision: 5, history: [], next: null }
      expect(reduce(queued, offline).state.next).toBe(next)
    }
  })

  test('going offline shows nothing and is told once', () => {
    const playing = aStation()
    const offline: StationEvent = { type: 'went-offline', revision: 9, history: [], next: null }
    const { state } = reduce(playing, offline)
    expect(isOnline(state)).toBe(false)
    expect(triggersAfter(playing, offline)).toEqual(['station_offline'])
    expect(triggersAfter(state, { ...offline, revision: 10 })).toEqual([])
  })

  test('listeners that come and go are told apart', () => {
    expect(triggersAfter(silent, counted(2, 5))).toEqual(['listener_gained'])
    const five = reduce(silent, counted(2, 5)).state
    expect(triggersAfter(five, counted(3, 4))).toEqual(['listener_lost'])
    expect(triggersAfter(five, counted(3, 5))).toEqual([])
  })

  test('a hand-over between two DJs disconnects one and connects the other', () => {
    const wren = reduce(silent, liveStarted(2, 'Wren')).state
    expect(triggersAfter(silent, liveStarted(2, 'Wren'))).toEqual(['live_connect', 'station_online'])
    expect(triggersAfter(wren, liveStarted(3, 'Swift'))).toEqual(['live_disconnect', 'live_connect'])
    expect(triggersAfter(wren, { type: 'live-ended', revision: 3 })).toEqual([
      'live_disconnect',
      'station_offline'
    ])
    expect(triggersAfter(wren, trackStarted(4, 80))).toEqual(['song_changed', 'song_changed_live'])
  })
})

const play = fc.record({ shId: fc.nat({ max: 20 }), startedAtMs: fc.nat() }).map(parts => aPlay(parts))
const revision = fc.integer({ min: 1, max: 30 })
const events: fc.Arbitrary<StationEvent> = fc.oneof(
  fc.record({
    type: fc.constant('station-changed' as const),
    revision,
    profile: fc.constant(aStation().profile)
  }),
  fc.record({
    type: fc.constant('track-started' as const),
    revision,
    current: fc.record({
      shId: fc.nat({ max: 20 }),
      dueAtMs: fc.option(fc.nat(), { nil: null }),
      isVisible: fc.boolean()
    }),
    shown: fc.option(play, { nil: null }),
    history: fc.array(play, { maxLength: 5 }),
    next: fc.constant(null)
  }),
  fc.record({ type: fc.constant('queue-changed' as const), revision, next: fc.constant(null) }),
  fc.record({
    type: fc.constant('listeners-counted' as const),
    revision,
    listeners: fc.nat({ max: 9 }).map(total => ({ total, unique: total, mounts: {}, remotes: {}, hls: 0 }))
  }),
  fc.record({
    type: fc.constant('live-started' as const),
    revision,
    live: fc.record({ streamerName: fc.string(), startedAtMs: fc.nat({ max: 3 }), art: fc.constant('') })
  }),
  fc.record({ type: fc.constant('live-ended' as const), revision }),
  fc.record({
    type: fc.constant('went-offline' as const),
    revision,
    history: fc.array(play, { maxLength: 5 }),
    next: fc.constant(null)
  })
)

const reduceAll = (list: readonly StationEvent[], from = emptyState(1, 'e')) =>
  list.reduce((state, event) => reduce(state, event).state, from)

test('a change has one effect that publishes it, and no change is the same object without effects', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 60 }), list => {
      let state = emptyState(1, 'e')
      for (const event of list) {
        const step = reduce(state, event)
        const isSame = step.state === state
        expect(step.effects.length === 0).toBe(isSame)
        expect(step.effects.filter(effect => effect.type === 'publish')).toHaveLength(
          step.state === state ? 0 : 1
        )
        state = step.state
      }
    })
  )
})

test('any event applied twice equals once', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 40 }), events, (list, event) => {
      const once = reduce(reduceAll(list), event).state
      expect(reduce(once, event)).toEqual({ state: once, effects: [] })
      expect(reduce(once, event).state).toBe(once)
    })
  )
})

test('a replay of the whole list changes nothing, and gives the same state from the start', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 60 }), list => {
      const state = reduceAll(list)
      expect(reduceAll(list)).toEqual(state)
      expect(reduceAll(list, state)).toBe(state)
    })
  )
})

test('late events never bring old facts back: what is seen of a part only grows', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 60 }), list => {
      let state = emptyState(1, 'e')
      for (const event of list) {
        const after = reduce(state, event).state
        for (const part of ['station', 'playback', 'queue', 'listeners', 'live'] as const) {
          expect(after.revisions[part]).toBeGreaterThanOrEqual(state.revisions[part])
        }
        state = after
      }
    })
  )
})

test('the state is the same in whatever order events of different revisions arrive', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(events, { selector: event => event.revision, maxLength: 20 }),
      fc.nat(),
      (list, seed) => {
        const shuffled = list
          .map((event, index) => ({ event, key: Math.imul(index + 1, seed | 1) >>> 0 }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ event }) => event)
        const inOrder = reduceAll(list.toSorted((a, b) => a.revision - b.revision))
        expect(reduceAll(shuffled)).toEqual(inOrder)
      }
    )
  )
})
