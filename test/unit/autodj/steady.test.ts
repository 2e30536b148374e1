import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { NewRow, Plan } from '../../../src/autodj/refill.ts'
import { simulate } from '../../../src/autodj/simulate.ts'
import { actionLists, dayOf, libraryOf, stationSpecs } from '../../support/autodj/days.ts'
import { aRequest, aSong, hourMs, minuteMs } from '../../support/autodj/library.ts'
import { aStation } from '../../support/autodj/station.ts'

const numRuns = 30 * Number(process.env['FUZZ'] ?? 1)

test('time alone changes nothing that was planned', () => {
  const changes = actionLists(['skip', 'add', 'withdraw', 'resize'], 4)
  const property = fc.property(stationSpecs(), changes, (spec, actions) => {
    const plans: Plan[] = []
    let plannedMs = 0
    const station = dayOf(spec, actions, 0, (situation, plan) => {
      plans.push(plan)
      plannedMs = situation.nowMs
    })
    for (let step = 0; step < 25; step++) {
      station.runTo(station.nowMs + step * 13_000)
      const seenMs = plannedMs + 6 * hourMs
      plans.length = 0
      if (station.on) station.top()
      // Only the end of what is planned moves on.
      const isNear = ({ startsAtMs }: NewRow) => startsAtMs < seenMs
      const changed = plans.filter(
        ({ insert, move, withdraw }) => insert.some(isNear) || move.length > 0 || withdraw.length > 0
      )
      expect(changed).toEqual([])
    }
  })
  fc.assert(property, { numRuns })
})

test('what is simulated is what is heard', () => {
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
    for (const { startsAtMs, play } of simulate(beginning)) {
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
