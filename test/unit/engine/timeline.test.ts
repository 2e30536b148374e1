import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { computePlacement, type TimedPlay } from '../../../src/engine/plays/place-report.ts'

const aPlay = (parts: Partial<TimedPlay>): TimedPlay => ({
  id: 1,
  startedAtMs: 0,
  endedAtMs: null,
  durationMs: 200_000,
  isProvisional: false,
  ...parts
})

/** The plays after a report. */
function place(plays: readonly TimedPlay[], id: number, atMs: number): TimedPlay[] {
  const { startedAtMs, endedAtMs, cut, removed } = computePlacement(plays, atMs)
  const others = plays
    .filter(play => play !== removed)
    .map(play => (play === cut?.play ? { ...play, endedAtMs: cut.atMs } : play))
  return [...others, aPlay({ id, startedAtMs, endedAtMs })].toSorted((a, b) => a.startedAtMs - b.startedAtMs)
}

describe('a report', () => {
  test('ends the current play', () => {
    expect(place([aPlay({ id: 1 })], 2, 197_000)).toEqual([
      aPlay({ id: 1, endedAtMs: 197_000 }),
      aPlay({ id: 2, startedAtMs: 197_000 })
    ])
  })

  test('that is late is placed between the others', () => {
    const plays = [aPlay({ id: 1, endedAtMs: 390_000 }), aPlay({ id: 3, startedAtMs: 390_000 })]
    expect(place(plays, 2, 195_000)).toEqual([
      aPlay({ id: 1, endedAtMs: 195_000 }),
      aPlay({ id: 2, startedAtMs: 195_000, endedAtMs: 390_000 }),
      aPlay({ id: 3, startedAtMs: 390_000 })
    ])
  })

  test('keeps the silence before it', () => {
    const before = aPlay({ id: 1, endedAtMs: 200_000 })
    expect(place([before], 2, 900_000)).toEqual([before, aPlay({ id: 2, startedAtMs: 900_000 })])
  })

  test('replaces a provisional play', () => {
    const plays = [
      aPlay({ id: 1, endedAtMs: 200_000 }),
      aPlay({ id: 2, startedAtMs: 200_000, isProvisional: true })
    ]
    expect(place(plays, 3, 203_000)).toEqual([
      aPlay({ id: 1, endedAtMs: 203_000 }),
      aPlay({ id: 3, startedAtMs: 203_000 })
    ])
  })

  test('does not extend the song before a provisional play over a long silence', () => {
    const before = aPlay({ id: 1, endedAtMs: 200_000 })
    const plays = [before, aPlay({ id: 2, startedAtMs: 200_000, isProvisional: true })]
    expect(place(plays, 3, 280_000)).toEqual([before, aPlay({ id: 3, startedAtMs: 280_000 })])
  })

  test('follows a provisional play that has played for at least half of its length', () => {
    const provisional = aPlay({ id: 2, startedAtMs: 200_000, isProvisional: true })
    expect(place([provisional], 3, 395_000)).toEqual([
      { ...provisional, endedAtMs: 395_000 },
      aPlay({ id: 3, startedAtMs: 395_000 })
    ])
  })
})

test('in whatever order reports arrive, all plays are in order and without overlap', () => {
  const starts = fc.uniqueArray(fc.integer({ min: 0, max: 10_000_000 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(
      starts.chain(each => fc.shuffledSubarray(each, { minLength: each.length, maxLength: each.length })),
      order => {
        let plays: TimedPlay[] = []
        for (const [id, atMs] of order.entries()) plays = place(plays, id, atMs)
        const inTime = order.toSorted((a, b) => a - b)
        expect(plays.map(({ startedAtMs }) => startedAtMs)).toEqual(inTime)
        expect(plays.map(({ endedAtMs }) => endedAtMs)).toEqual([...inTime.slice(1), null])
      }
    )
  )
})
