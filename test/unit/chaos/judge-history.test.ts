import { describe, expect, test } from 'vitest'

import { type HistoryContext, type HistoryPlay, judgeHistory } from '../../chaos/judge-history.ts'

const context: HistoryContext = {
  stationId: 1,
  backend: 'clock',
  nowMs: 31_000,
  disturbed: [],
  skipped: new Set()
}

/** Plays of ten seconds, one after the other; the last one is open. */
const whole: readonly HistoryPlay[] = [
  { id: 1, startedAtMs: 0, endedAtMs: 10_000, dueAtMs: 10_000 },
  { id: 2, startedAtMs: 10_000, endedAtMs: 20_000, dueAtMs: 20_000 },
  { id: 3, startedAtMs: 20_000, endedAtMs: 30_000, dueAtMs: 30_000 },
  { id: 4, startedAtMs: 30_000, endedAtMs: null, dueAtMs: 40_000 }
]

const changed = (id: number, change: Partial<HistoryPlay>) =>
  whole.map(play => (play.id === id ? { ...play, ...change } : play))

const rules = (plays: readonly HistoryPlay[], parts: Partial<HistoryContext> = {}) =>
  judgeHistory(plays, { ...context, ...parts }).map(({ rule }) => rule)

test('a history without gaps passes, also an empty one', () => {
  expect(rules(whole)).toEqual([])
  expect(rules([])).toEqual([])
})

describe('a history fails with', () => {
  const failing: Record<string, [plays: readonly HistoryPlay[], rule: string]> = {
    'a play that ends after the next has started': [
      changed(2, { endedAtMs: 20_001, dueAtMs: 20_001 }),
      'no overlap'
    ],
    'a gap': [changed(2, { endedAtMs: 19_990, dueAtMs: 19_990 }), 'no gap'],
    'a play that starts before the previous one': [changed(3, { startedAtMs: 9_000 }), 'history in order'],
    'two open plays': [changed(3, { endedAtMs: null }), 'one open play'],
    'a play that ends early without a skip': [changed(2, { dueAtMs: 25_000 }), 'no play cut short'],
    'a play that ends late': [changed(2, { dueAtMs: 14_000 }), 'no drift'],
    'an overdue current play': [changed(4, { dueAtMs: 26_000 }), 'no play stuck'],
    'a silent station': [changed(4, { startedAtMs: 26_000, endedAtMs: 26_000 }), 'no silence'],
    'a play in the future': [changed(4, { startedAtMs: 33_000 }), 'no play in the future']
  }
  test.each(Object.entries(failing))('%s', (_, [plays, rule]) => {
    expect(rules(plays)).toContain(rule)
  })
})

test('a skip explains a short play', () => {
  expect(rules(changed(2, { dueAtMs: 25_000 }), { skipped: new Set([2]) })).toEqual([])
})

test('a skip explains a play that ends late only within the tolerance for overdue plays', () => {
  const skipped = new Set([2])
  expect(rules(changed(2, { dueAtMs: 19_500 }), { skipped })).toEqual([])
  expect(rules(changed(2, { dueAtMs: 15_000 }), { skipped })).toEqual(['no drift'])
})

test('a fault explains delays while it is active, not afterwards', () => {
  const late = changed(2, { dueAtMs: 14_000 })
  expect(rules(late, { disturbed: [{ fromMs: 13_000, toMs: 20_000 }] })).toEqual([])
  expect(rules(late, { disturbed: [{ fromMs: 13_000, toMs: 16_000 }] })).toEqual(['no drift'])
  expect(rules(late, { disturbed: [{ fromMs: 1_000, toMs: 2_000 }] })).toEqual(['no drift'])
})

test('reports of a playout may be late and out of order, but must not overlap', () => {
  const reported: HistoryPlay[] = [
    { id: 1, startedAtMs: 0, endedAtMs: 9_000, dueAtMs: null },
    { id: 3, startedAtMs: 9_000, endedAtMs: 12_000, dueAtMs: null },
    { id: 2, startedAtMs: 12_000, endedAtMs: null, dueAtMs: 12_500 }
  ]
  expect(rules(reported, { backend: 'liquidsoap' })).toEqual([])
  const overlapping = reported.map(play => (play.id === 3 ? { ...play, endedAtMs: 13_000 } : play))
  expect(rules(overlapping, { backend: 'liquidsoap' })).toEqual(['no overlap'])
})

test('after a fault a station may be silent until its playout reports the next song', () => {
  const silent = changed(2, { endedAtMs: 13_000, dueAtMs: null })
  const disturbed = [{ fromMs: 12_000, toMs: 14_000 }]
  expect(rules(silent, { backend: 'liquidsoap', disturbed })).toEqual([])
  expect(rules(silent, { backend: 'clock', disturbed })).toEqual(['no gap'])
  expect(rules(silent, { backend: 'liquidsoap' })).toEqual(['no gap'])
})

test('a jump of the clock explains any time between two moments in it', () => {
  const late = changed(2, { dueAtMs: 11_000, startedAtMs: 10_500 })
  const jumps = [
    { fromMs: 10_000, toMs: 12_000 },
    { fromMs: 19_000, toMs: 21_000 }
  ]
  const before = changed(1, { endedAtMs: 10_500, dueAtMs: 10_500 }).slice(0, 1)
  const plays = [...before, ...late.slice(1)]
  expect(rules(plays, { disturbed: jumps })).toEqual(['no drift'])
  expect(rules(plays, { disturbed: jumps, jumps })).toEqual([])
})

test('after the clock of Postgres is set back, a playout may report the next song later', () => {
  const hourMs = 3_600_000
  const plays = [
    { id: 1, startedAtMs: 1_000, endedAtMs: 8_000, dueAtMs: null },
    { id: 2, startedAtMs: hourMs + 16_000, endedAtMs: null, dueAtMs: null }
  ]
  const jumps = [
    { fromMs: 0, toMs: 9_000 },
    { fromMs: hourMs, toMs: hourMs + 9_000 }
  ]
  const parts = { backend: 'liquidsoap', nowMs: hourMs + 17_000, disturbed: jumps } as const
  expect(rules(plays, parts)).toEqual(['no gap'])
  expect(rules(plays, { ...parts, jumps })).toEqual([])
  const short = [
    { fromMs: 900, toMs: 3_000 },
    { fromMs: hourMs + 8_000, toMs: hourMs + 10_000 }
  ]
  expect(rules(plays, { ...parts, disturbed: short })).toEqual(['no gap'])
  expect(rules(plays, { ...parts, disturbed: short, jumps: short })).toEqual([])
})
