import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { renderSourceName } from '../../../src/engine/listeners/flush-sessions.ts'
import {
  compareSessions,
  findEarliestStart,
  type SourceSessions
} from '../../../src/engine/listeners/sessions.ts'
import { sized } from '../../support/tier.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** 23:00 UTC, so that most logs cross midnight. */
const startMs = Date.UTC(2026, 6, 7, 23)

/** An entry of a listener log: one connection. */
interface Listen {
  readonly hash: string
  readonly fromMs: number
  readonly untilMs: number
}

const empty: SourceSessions = { isTracked: false, starts: new Map(), oldestMs: Infinity }

/** Follows reports of one source as the workers do, and sums up the sessions that ended. */
function openReplay(log: readonly Listen[]) {
  let sessions = empty
  let previousMs: number | null = null
  const starts = new Map<string, number>()
  const lengths: number[] = []

  function report(
    connections: readonly { hash: string; seconds: number }[],
    times: { atMs: number; previousMs: number | null }
  ) {
    const { opened, ended, sessions: after } = compareSessions(sessions, connections, times)
    for (const [token, endMs] of ended) {
      lengths.push(endMs - (starts.get(token) ?? Number.NaN))
      starts.delete(token)
    }
    for (const { token, startMs: fromMs } of opened) starts.set(token, fromMs)
    sessions = after
  }

  return {
    lengths,
    poll: (atMs: number) => {
      const connected = log.filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs)
      report(
        connected.map(({ hash, fromMs }) => ({ hash, seconds: Math.floor((atMs - fromMs) / 1_000) })),
        { atMs, previousMs }
      )
      previousMs = atMs
      if (sessions.starts.size !== connected.length)
        throw new Error('there is not one session per connection')
    },
    /** The server has not responded since the last poll, so its counts expire. */
    expire: () => report([], { atMs: previousMs ?? 0, previousMs }),
    /** Redis has lost its data. */
    lose: () => {
      sessions = empty
      starts.clear()
    },
    /** Another process continues with what is in Redis. */
    restart: () => {
      sessions = { isTracked: true, starts: new Map(starts), oldestMs: findEarliestStart(starts) }
    },
    sum: () => lengths.reduce((sum, ms) => sum + ms, 0)
  }
}

const truth = (log: readonly Listen[]) => log.reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0)

test('the hours of a replayed log are right within 1 %, with polls missed and workers restarted', () => {
  const listen = fc
    .record({
      // Few, so that many share an address and a program.
      hash: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      atMs: fc.integer({ min: 0, max: 90 * minuteMs }),
      ms: fc.integer({ min: 15_000, max: 30 * minuteMs })
    })
    .map(({ hash, atMs, ms }) => ({ hash, fromMs: startMs + atMs, untilMs: startMs + atMs + ms }))
  const log = fc.array(listen, { minLength: 60, maxLength: 100 })
  // Of each poll, the time after the one before, and what happens first.
  const step = fc.record({
    afterMs: fc.integer({ min: 4_500, max: 5_500 }),
    missed: fc.integer({ min: -60, max: 3 }).map(count => Math.max(0, count)),
    isRestarted: fc.integer({ max: 40, min: 0 }).map(chance => chance === 0)
  })
  const steps = fc.infiniteStream(step)
  fc.assert(
    fc.property(log, steps, (listens, polls) => {
      const replay = openReplay(listens)
      let atMs = startMs
      for (const { afterMs, missed, isRestarted } of polls) {
        if (isRestarted) replay.restart()
        replay.poll(atMs)
        atMs += afterMs * (1 + missed)
        if (atMs > startMs + 125 * minuteMs) break
      }
      const expected = truth(listens)
      expect(Math.abs(replay.sum() - expected) / expected).toBeLessThan(0.01)
    }),
    { numRuns: sized({ quick: 6, deep: 60 }) }
  )
})

/** Polls every five seconds from one time to another. */
function pollUntil(replay: ReturnType<typeof openReplay>, fromMs: number, untilMs: number): void {
  for (let atMs = fromMs; atMs <= untilMs; atMs += 5_000) replay.poll(atMs)
}

test('a listener who stays while the server does not respond is counted throughout, once', () => {
  const log = [{ hash: 'a', fromMs: startMs, untilMs: startMs + hourMs }]
  const replay = openReplay(log)
  pollUntil(replay, startMs, startMs + 20 * minuteMs)
  replay.expire()
  pollUntil(replay, startMs + 40 * minuteMs, startMs + 61 * minuteMs)
  expect(replay.lengths).toHaveLength(2)
  expect(Math.abs(replay.sum() - hourMs)).toBeLessThan(6_000)
})

test('sessions are restored after Redis has lost them, whole days as they were stored', () => {
  const log = [{ hash: 'a', fromMs: startMs, untilMs: startMs + 30 * hourMs }]
  const replay = openReplay(log)
  replay.poll(startMs)
  for (let hour = 1; hour <= 25; hour++) replay.poll(startMs + hour * hourMs)
  replay.lose()
  pollUntil(replay, startMs + 26 * hourMs, startMs + 26 * hourMs)
  pollUntil(replay, startMs + 30 * hourMs - 4_000, startMs + 30 * hourMs + 6_000)
  expect(replay.lengths.map(ms => Math.round(ms / hourMs))).toEqual([24, 6])
  expect(Math.abs(replay.sum() - 30 * hourMs)).toBeLessThan(6_000)
})

test('the listeners who were there at the last poll are assumed to have stayed for five minutes at most', () => {
  const replay = openReplay([{ hash: 'a', fromMs: startMs, untilMs: startMs + hourMs }])
  replay.poll(startMs)
  replay.poll(startMs + 10 * hourMs)
  expect(replay.lengths).toEqual([5 * minuteMs + 500])
})

test('of a remote no password and no token is stored', () => {
  const path = 'https://user:hush@relay.example.com:8443/radio.mp3?token=hush'
  expect(renderSourceName({ source: 'remote', path })).toBe('https://relay.example.com:8443/radio.mp3')
  expect(renderSourceName({ source: 'mount', path: '/radio.mp3' })).toBe('/radio.mp3')
})
