import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { ListenerSource } from '../../../src/playout/listeners/sources.ts'
import { type Peaks, peaksAfter, countUnique } from '../../../src/playout/plays/play-statistics.ts'

const sources = (...uniques: number[]): ListenerSource[] =>
  uniques.map((unique, id) => ({
    kind: 'mounts',
    id,
    path: `/${id}`,
    key: `mount:${id}`,
    total: unique,
    unique
  }))
const noneSeen = new Map<string, number>()

test('a source that does not identify listeners counts with its largest count', () => {
  const peaks = peaksAfter({}, sources(5, 1), sources(3, 1))
  expect(countUnique(peaks, sources(3, 1), noneSeen)).toBe(6)
  expect(countUnique(peaksAfter(peaks, sources(3, 1), sources(4, 2)), sources(4, 2), noneSeen)).toBe(7)
})

test('a source that identifies listeners counts with those that were seen', () => {
  expect(countUnique({ 'mount:0': 2 }, sources(2), new Map([['mount:0', 5]]))).toBe(5)
})

test('a report that changes no source changes no peak', () => {
  const peaks = { 'mount:0': 3 }
  expect(peaksAfter(peaks, sources(2, 7), sources(2, 7))).toBe(peaks)
})

test('unique listeners of a play are the sum of the largest counts of its sources', () => {
  const counts = fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9))
  fc.assert(
    fc.property(fc.array(counts, { minLength: 1 }), reports => {
      let peaks: Peaks = {}
      for (const [index, report] of reports.entries())
        peaks = peaksAfter(peaks, sources(...(reports[index - 1] ?? report)), sources(...report))
      const largest = [0, 1, 2].map(source => Math.max(...reports.map(report => report[source] ?? 0)))
      const last = sources(...(reports.at(-1) ?? []))
      expect(countUnique(peaks, last, noneSeen)).toBe(largest.reduce((sum, each) => sum + each, 0))
    })
  )
})
