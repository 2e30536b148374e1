import { describe, expect, test } from 'vitest'

import type { QueuedRow } from '../../../../src/model/autodj/queue-draft.ts'
import { findPlannedStart } from '../../../../src/model/autodj/queue-planner.ts'
import { onDays } from '../../../support/autodj/days.ts'
import { aPlay, aRow, minuteMs, timeOf } from '../../../support/autodj/library.ts'
import { sized } from '../../../support/tier.ts'

const row = (parts: Partial<QueuedRow> = {}) =>
  aRow(1, aPlay(1, timeOf('12:00'), { durationMs: 3 * minuteMs }), parts)
const next = (parts: Partial<QueuedRow> = {}) =>
  aRow(2, aPlay(2, timeOf('12:03'), { durationMs: 3 * minuteMs }), parts)

test('a row that starts at its planned time is the one that a plan starts, and ends when it does', () => {
  let steps = 0
  onDays(
    {
      numRuns: sized({ quick: 30, deep: 300, soak: 5_000 }),
      // Only playouts refuse songs, and their songs start by reports.
      without: ['refuse'],
      faultsOf: ({ queue, nowMs, running, library }, { first }) => {
        const isStep = running.playlistId === null && running.isInterrupt
        const planned = isStep ? findPlannedStart(queue, nowMs, library.rules.overlapMs) : null
        if (!planned || Math.abs(planned.row.startsAtMs - nowMs) > 1) return []
        steps++
        const isSame = first?.id === planned.row.id && Math.abs(first.endsAtMs - planned.endsAtMs) <= 1
        return isSame ? [] : [{ nowMs, first, planned, queue }]
      }
    },
    (_, faults) => expect(faults).toEqual([])
  )
  expect(steps).toBeGreaterThan(0)
})

describe('a row', () => {
  test('ends early if the next one interrupts it', () => {
    const queue = [row(), next({ startsAtMs: timeOf('12:01'), isInterrupt: true })]
    expect(findPlannedStart(queue, timeOf('12:00'), 0)?.endsAtMs).toBe(timeOf('12:01'))
  })

  test('may start late, until the next one was planned to start', () => {
    const queue = [row(), next()]
    expect(findPlannedStart(queue, timeOf('12:02'), 0)?.endsAtMs).toBe(timeOf('12:05'))
    expect(findPlannedStart(queue, timeOf('12:03'), 0)).toBeNull()
    expect(findPlannedStart([row()], timeOf('12:02'), 0)).not.toBeNull()
    expect(findPlannedStart([row()], timeOf('12:03'), 0)).toBeNull()
  })

  test.for([
    ['requested', { requestId: 1 }],
    ['an interrupt', { isInterrupt: true }]
  ] as const)('that is %s starts on time only', ([, parts]) => {
    const queue = [row(parts), next()]
    expect(findPlannedStart(queue, timeOf('12:00'), 0)).not.toBeNull()
    expect(findPlannedStart(queue, timeOf('12:01'), 0)).toBeNull()
  })

  test('that is scheduled needs a plan', () => {
    expect(findPlannedStart([row({ occurrenceMs: timeOf('11:00') })], timeOf('12:00'), 0)).toBeNull()
  })

  test('does not start early', () => {
    expect(findPlannedStart([row(), next()], timeOf('11:59'), 0)).toBeNull()
    expect(findPlannedStart([], timeOf('12:00'), 0)).toBeNull()
  })
})
