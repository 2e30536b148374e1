import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { PlannerInput } from '../../../../src/model/autodj/queue-draft.ts'
import type { QueuePlan } from '../../../../src/model/autodj/queue-planner.ts'
import { simulatePlays } from '../../../../src/model/autodj/simulate.ts'
import { actionLists, dayOf, libraryOf, stationSpecs } from '../../../support/autodj/days.ts'
import { aRequest, aSong, hourMs, minuteMs } from '../../../support/autodj/library.ts'
import { aStation } from '../../../support/autodj/station.ts'
import { sized } from '../../../support/tier.ts'

const numRuns = sized({ quick: 4, deep: 100, soak: 5_000 })

/** The changes of a plan, and their time. */
function changesOf({ situation: { queue }, plan }: { situation: PlannerInput; plan: QueuePlan }) {
  const before = new Map(queue.map(row => [row.id, row]))
  const earliest = (row: { startsAtMs: number }, id: number) => {
    return { ...row, startsAtMs: Math.min(row.startsAtMs, before.get(id)?.startsAtMs ?? Infinity) }
  }
  const withdrawn = queue.filter(({ id }) => plan.withdraw.includes(id))
  return [...plan.insert, ...plan.move.map(row => earliest(row, row.id)), ...withdrawn]
}

test('a plan does not change as time passes', () => {
  const changes = actionLists(['skip', 'add', 'withdraw', 'resize'], 4)
  const property = fc.property(stationSpecs(), changes, (spec, actions) => {
    const seen: { situation: PlannerInput; plan: QueuePlan }[] = []
    const station = dayOf(spec, actions, 0, {
      observe: (situation, plan) => seen.push({ situation, plan })
    })
    for (let step = 0; step < 25; step++) {
      station.runTo(station.nowMs + step * 13_000)
      // Only the end of the plan moves.
      const seenMs = (seen.at(-1)?.situation.nowMs ?? 0) + 6 * hourMs
      if (!station.on) continue
      station.top()
      const made = seen.slice(-1).flatMap(changesOf)
      expect(made.filter(({ startsAtMs }) => startsAtMs < seenMs)).toEqual([])
    }
  })
  fc.assert(property, { numRuns })
})

test('a simulation matches the engine', () => {
  const songs = fc.uniqueArray(fc.nat(9), { maxLength: 3 })
  const property = fc.property(stationSpecs(), songs, (spec, requested) => {
    const fromMs = Date.parse('2026-03-28T23:10Z')
    const requests = requested.map((song, index) =>
      aRequest(index + 1, { mediaId: song, song: aSong(song), dueAtMs: fromMs + index * 7 * minuteMs })
    )
    const library = { ...libraryOf(spec), requests }
    const queueLength = spec.queueLength ?? 3
    const untilMs = fromMs + 4 * hourMs
    const station = aStation(library, fromMs, queueLength)
    station.runTo(untilMs - 1)
    const expected: string[] = []
    const beginning = { library, queue: [], startedAtMs: fromMs, fromMs, queueLength, nextSeq: 1 }
    for (const { startsAtMs, play } of simulatePlays(beginning)) {
      if (startsAtMs >= untilMs) break
      if (play) expected.push(`${startsAtMs} ${play.playlistId} ${play.trackId} ${play.requestId}`)
    }
    const heard = station.heard.map(
      ({ startsAtMs, playlistId, trackId, requestId }) =>
        `${startsAtMs} ${playlistId} ${trackId} ${requestId}`
    )
    expect(heard).toEqual(expected)
  })
  fc.assert(property, { numRuns })
})
