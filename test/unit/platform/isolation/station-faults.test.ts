import { pino } from 'pino'
import { expect, test } from 'vitest'

import { openStationFaults } from '../../../../src/platform/isolation/station-faults.ts'
import { failingStationsMetric } from '../../../../src/platform/metrics/stations.ts'

function openFaults() {
  const lines: { level: number; station?: number; msg: string; failures?: number; left_out?: number }[] = []
  const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
  let nowMs = 1_000
  const faults = openStationFaults(log, () => nowMs)
  return { faults, lines, pass: (ms: number) => void (nowMs += ms) }
}

const broken = new Error('broken')

test('work that fails every second is logged once in ten minutes, and its end once', () => {
  const { faults, lines, pass } = openFaults()
  for (let second = 0; second < 599; second++) {
    faults.note('songs', 7, broken)
    pass(1_000)
  }
  expect(lines).toMatchObject([{ station: 7, task: 'songs', failures: 1, err: { message: 'broken' } }])
  pass(1_000)
  faults.note('songs', 7, broken)
  expect(lines).toHaveLength(2)
  faults.clear('songs', 7)
  faults.clear('songs', 7)
  expect(lines.at(-1)).toMatchObject({ station: 7, failures: 600, msg: 'work for a station succeeds again' })
  for (let time = 0; time < 100; time++) {
    faults.note('songs', 7, broken)
    faults.clear('songs', 7)
  }
  expect(lines).toHaveLength(3)
})

test('a fault of many stations writes a bounded number of lines', () => {
  const { faults, lines, pass } = openFaults()
  for (let id = 1; id <= 1_000; id++) faults.note('refill', id, broken)
  expect(lines).toHaveLength(20)
  pass(10_000)
  faults.note('refill', 1_001, broken)
  expect(lines.slice(20)).toMatchObject([{ left_out: 980 }, { station: 1_001 }])
})

test('the first retry follows at once, later ones after up to three seconds', () => {
  const { faults, pass } = openFaults()
  faults.note('wake', 7, broken)
  expect(faults.pausedIds('wake')).toEqual([])
  const pauses = []
  for (let retry = 0; retry < 5; retry++) {
    faults.note('wake', 7, broken)
    let ms = 0
    for (; faults.pausedIds('wake').length > 0; ms += 100) pass(100)
    pauses.push(ms)
  }
  expect(pauses).toEqual([1_000, 2_000, 3_000, 3_000, 3_000])
  expect(faults.pausedIds('songs')).toEqual([])
  expect(faults.failingIds('wake')).toEqual([7])
})

test('what fails for more than five seconds is lasting, until it succeeds or is not tried any more', () => {
  const { faults, pass } = openFaults()
  faults.note('songs', 7, broken)
  faults.note('polls', 8, broken, 1)
  expect(faults.lasting()).toEqual([])
  pass(6_000)
  faults.note('songs', 7, new Error('still broken'))
  faults.note('polls', 8, broken, 1)
  faults.clear('polls', 8, 2)
  expect(faults.lasting()).toEqual([
    { stationId: 7, task: 'songs', reason: 'still broken' },
    { stationId: 8, task: 'polls', reason: 'broken' }
  ])
  expect(failingStationsMetric.read?.()).toBe(2)
  faults.clear('songs', 7)
  expect(faults.lasting()).toHaveLength(1)
  pass(301_000)
  expect(faults.lasting()).toEqual([])
  expect(failingStationsMetric.read?.()).toBe(0)
})
