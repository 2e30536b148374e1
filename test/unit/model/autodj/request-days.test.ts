import { describe, expect, test } from 'vitest'

import { onDays } from '../../../support/autodj/days.ts'
import { sized } from '../../../support/tier.ts'

describe('whatever happens to a station', () => {
  test('a request plays once, not before its due time, and not after it was cancelled', () => {
    onDays({}, ({ heard, requests }) => {
      const aired = heard.flatMap(({ requestId, startsAtMs }) =>
        requestId === null ? [] : [{ requestId, startsAtMs }]
      )
      const ids = aired.map(({ requestId }) => requestId)
      const inState = requests.filter(({ state }) => state === 'aired')
      expect(ids.toSorted((a, b) => a - b)).toEqual(inState.map(({ id }) => id))
      const early = inState.filter(({ id, dueAtMs }) =>
        aired.some(each => each.requestId === id && each.startsAtMs < dueAtMs)
      )
      expect(early.filter(({ id }) => !heard.some(each => each.requestId === id && each.isSent))).toEqual([])
    })
  })

  test('the limit of consecutive requests is kept', () => {
    onDays({ without: ['send'] }, ({ heard, library }) => {
      const most = library.rules.consecutiveRequests || Infinity
      const kinds = heard.map(({ requestId }) => (requestId === null ? '-' : 'R')).join('')
      expect(kinds.split('-').filter(run => run.length > most)).toEqual([])
    })
  })

  test('every request is played, cancelled or expires', () => {
    const numRuns = sized({ quick: 2, deep: 40, soak: 2_000 })
    // Days with songs of a second would take half a minute.
    const maxPlays = sized({ quick: 500, deep: Infinity })
    // Every request has ended only after all of these hours.
    onDays({ hours: 12, numRuns, maxPlays, without: ['switch', 'send'] }, station => {
      if (station.heard.length >= maxPlays) return
      station.top()
      const open = station.requests.filter(({ state }) => state === 'pending' || state === 'queued')
      expect(open).toEqual([])
    })
  })

  test('there is no silence while a playlist may play at any time', () => {
    onDays({ first: [{ minutes: [3] }], without: ['switch', 'pause'] }, station => {
      const { heard, nowMs } = station
      const ends = heard.map(({ untilMs }) => untilMs)
      expect([...heard.slice(1).map(({ startsAtMs }) => startsAtMs), nowMs]).toEqual(ends)
    })
  })
})
