import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { applyPlan } from '../../../src/autodj/apply.ts'
import { type Plan, refill, type Situation } from '../../../src/autodj/refill.ts'
import { actionLists, dayOf, everyDoing, stationSpecs } from '../../support/autodj/days.ts'

function afterPlan(situation: Situation, plan: Plan): Situation {
  return {
    ...situation,
    queue: applyPlan(situation.queue, plan),
    nextSeq: situation.nextSeq + plan.insert.length
  }
}

/** Rows as text: when they begin, whose they are and what they play. */
function queueOf(situation: Situation, plan: Plan): string[] {
  return applyPlan(situation.queue, plan).map(
    ({ id, playlistId, trackId, requestId, startsAtMs, ...row }) => {
      const from = requestId === null ? `${playlistId}: ${trackId} in ${row.pass}` : `request ${requestId}`
      return `${id} at ${row.position}, ${new Date(startsAtMs).toISOString()}, ${row.cuedAtMs}, ${from}`
    }
  )
}

test('a plan that was applied leaves nothing to plan', () => {
  fc.assert(
    fc.property(stationSpecs(), actionLists(everyDoing), (spec, actions) => {
      dayOf(spec, actions, 5, (situation, plan) => {
        const again = afterPlan(situation, plan)
        expect([...queueOf(again, refill(again)), plan.runningEndsMs]).toEqual([
          ...queueOf(situation, plan),
          refill(again).runningEndsMs
        ])
      })
    }),
    { numRuns: Number(process.env['RUNS'] ?? 100) }
  )
})
