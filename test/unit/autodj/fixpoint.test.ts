import { describe, expect, test } from 'vitest'

import { nextStartMs } from '../../../src/autodj/estimate.ts'
import { interrupts, isSequence, type Playlist } from '../../../src/autodj/library.ts'
import { pickFrom } from '../../../src/autodj/pick.ts'
import { buckets } from '../../../src/autodj/pools.ts'
import { type Plan, type QueuedRow, refill, type PlannerInput } from '../../../src/autodj/refill.ts'
import { applyPlan } from '../../../src/autodj/simulate.ts'
import { randomOf } from '../../../src/autodj/zone.ts'
import { onDays } from '../../support/autodj/days.ts'
import { sized } from '../../support/tier.ts'

function afterPlan(situation: PlannerInput, plan: Plan): PlannerInput {
  const { queue, nextSeq } = situation
  return { ...situation, queue: applyPlan(queue, plan), nextSeq: nextSeq + plan.insert.length }
}

/** Rows as text: when they begin, whose they are and what they play. */
function linesOf(situation: PlannerInput, plan: Plan): string[] {
  const rows = applyPlan(situation.queue, plan).map(row => {
    const { id, position, playlistId, trackId, pass, requestId, startsAtMs, cuedAtMs } = row
    const what = requestId === null ? `${playlistId}: ${trackId} in ${pass}` : `request ${requestId}`
    const [at, cuedAt] = [startsAtMs, cuedAtMs].map(timeMs => new Date(timeMs).toISOString())
    return `${id} at ${position}, ${at}, cued ${cuedAt}, ${what}`
  })
  return [...rows, `after ${new Date(plan.runningEndsMs).toISOString()}`]
}

describe('whatever happens to a station', () => {
  test('a plan that was applied leaves nothing to plan', () => {
    const faultsOf = (situation: PlannerInput, plan: Plan) => {
      const again = afterPlan(situation, plan)
      const [once, twice] = [linesOf(situation, plan), linesOf(again, refill(again))]
      return once.join() === twice.join() ? [] : [{ once, twice }]
    }
    onDays({ faultsOf, numRuns: sized({ quick: 4, deep: 150, soak: 7_500 }) }, (_, faults) =>
      expect(faults).toEqual([])
    )
  })

  test('expected times follow from each other', () => {
    const faultsOf = (situation: PlannerInput, plan: Plan) => {
      const { library, running, nowMs } = situation
      const rows = applyPlan(situation.queue, plan)
      const ends = rows.map(row => nextStartMs(row.startsAtMs, row.durationMs, library.rules.overlapMs))
      const mayCut = library.playlists.some(interrupts)
      const odd = rows.filter(({ startsAtMs, cuedAtMs, isSent }, index) => {
        const previousMs = rows[index - 1]?.startsAtMs ?? running.startedAtMs
        const endMs = ends[index - 1] ?? plan.runningEndsMs
        const isInTime = startsAtMs === endMs || (mayCut && startsAtMs > previousMs && startsAtMs < endMs)
        return !isInTime || (!isSent && cuedAtMs !== previousMs)
      })
      return plan.runningEndsMs < nowMs ? [plan] : odd
    }
    onDays({ faultsOf }, (_, faults) => expect(faults).toEqual([]))
  })

  test('no song follows itself where another one may play', () => {
    const faultsOf = (situation: PlannerInput, plan: Plan) => {
      const rows = applyPlan(situation.queue, plan)
      return rows.filter((_, index) => isNeedless(situation, rows, index))
    }
    onDays({ faultsOf, without: ['add', 'send'] }, (_, faults) => expect(faults).toEqual([]))
  })
})

function isNeedless({ library, rejected }: PlannerInput, rows: readonly QueuedRow[], index: number): boolean {
  const row = rows[index]
  const last = rows[index - 1] ?? library.past.plays.at(-1)
  if (!row || last?.song.song !== row.song.song || row.batch !== null) return false
  const own = library.playlists.find(({ id }) => id === row.playlistId && id === last.playlistId)
  if (own && isSequence(own)) return false
  const slot = { library, ahead: rows.slice(0, index), behind: [], atMs: row.startsAtMs, rejected }
  // What cuts in is there for its time: no other playlist stands in for it.
  const mayStandIn = (playlist: Playlist) =>
    row.isInterrupt ? playlist.id === row.playlistId : !interrupts(playlist)
  const playlists = library.playlists.filter(mayStandIn)
  return pickFrom(slot, { playlists, buckets, mayRepeat: false }, randomOf(1, 1), []) !== null
}
