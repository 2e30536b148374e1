import { describe, expect, test } from 'vitest'

import type { PlayOrRow, QueueSlot } from '../../../../src/model/autodj/library.ts'
import type { DecisionLogEntry } from '../../../../src/model/autodj/log-entry.ts'
import { findDueRequest } from '../../../../src/model/autodj/requests.ts'
import {
  aLibrary,
  aPlay,
  aPlaylist,
  aPlayOf,
  aRequest,
  aSlot,
  aSong,
  type LibraryParts,
  minuteMs,
  noonMs
} from '../../../support/autodj/library.ts'

/** The id of the request that is due at noon, or the reason why there is none. */
function dueIn(parts: LibraryParts, slot: Partial<QueueSlot> = {}): number | string {
  const { picked, log } = findDueRequest(aSlot(aLibrary(parts), noonMs, slot))
  const [entry]: DecisionLogEntry[] = log
  return picked?.id ?? (entry && 'why' in entry ? entry.why : 'no reason')
}

const ago = (minutes: number) => noonMs - minutes * minuteMs
const inMinutes = (minutes: number) => noonMs + minutes * minuteMs
const requestPlay = (id: number, atMs: number): PlayOrRow => aPlay(500 + id, atMs, { requestId: id })
const clashing = aSong(99, { artists: [...aSong(5).artists] })
const sameTitle = aSong(99, { title: aSong(5).title })

describe('the request that is due', () => {
  test('is null before its due time', () => {
    expect(dueIn({})).toBe('none_pending')
    expect(dueIn({ requests: [aRequest(5, { dueAtMs: inMinutes(1) })] })).toBe('not_due')
    expect(dueIn({ requests: [aRequest(5)] })).toBe(5)
  })

  test('is the oldest, after those that skip the delay', () => {
    const requests = [
      aRequest(5),
      aRequest(6),
      aRequest(7, { skipsDelay: true }),
      aRequest(8, { skipsDelay: true })
    ]
    expect(dueIn({ requests: requests.slice(0, 2) })).toBe(5)
    expect(dueIn({ requests })).toBe(7)
    expect(dueIn({ requests: requests.toReversed() })).toBe(7)
    expect(dueIn({ requests: [aRequest(5), aRequest(7, { skipsDelay: true, dueAtMs: inMinutes(1) })] })).toBe(
      5
    )
  })

  test('is not one that is queued', () => {
    const requests = [aRequest(5), aRequest(6)]
    const rules = { consecutiveRequests: 0 }
    expect(dueIn({ requests, rules }, { rowsBefore: [requestPlay(5, ago(3))] })).toBe(6)
    expect(dueIn({ requests, rules }, { rowsAfter: [requestPlay(5, inMinutes(3))] })).toBe(6)
  })

  test('waits while a playlist with priority is due', () => {
    const requests = [aRequest(5)]
    const priority = aPlaylist({ id: 2, options: ['prioritize'], type: 'once_per_hour', hourMinute: 0 })
    expect(dueIn({ requests, playlists: [aPlaylist(), priority] })).toBe('prioritized')
    expect(dueIn({ requests, playlists: [{ ...priority, hourMinute: 30 }] })).toBe(5)
    expect(dueIn({ requests, playlists: [{ ...priority, isEnabled: false }] })).toBe(5)
    expect(dueIn({ requests, playlists: [priority], plays: [aPlayOf(2, 201, noonMs)] })).toBe(5)
  })
})

describe('requests in a row', () => {
  const requests = [aRequest(5)]
  const two = [requestPlay(1, ago(6)), requestPlay(2, ago(3))]

  test('are limited by the station', () => {
    expect(dueIn({ requests, plays: two })).toBe('run_limit')
    expect(dueIn({ requests, plays: two.slice(0, 1) }, { rowsBefore: two.slice(1) })).toBe('run_limit')
    expect(dueIn({ requests }, { rowsBefore: two })).toBe('run_limit')
    expect(dueIn({ requests, plays: two.slice(1) })).toBe(5)
    expect(dueIn({ requests, plays: two }, { rowsBefore: [aPlay(9, ago(1))] })).toBe(5)
    expect(dueIn({ requests, plays: two, rules: { consecutiveRequests: 3 } })).toBe(5)
  })

  test('are counted without jingles', () => {
    const jingle = { ...aPlay(9, ago(1)), isVisible: false }
    expect(dueIn({ requests, plays: [...two, jingle] })).toBe('run_limit')
    expect(dueIn({ requests, plays: two }, { rowsBefore: [jingle] })).toBe('run_limit')
    expect(dueIn({ requests, plays: [two[0] ?? jingle, jingle] }, { rowsBefore: two.slice(1) })).toBe(
      'run_limit'
    )
  })

  test('are unlimited with a limit of 0', () => {
    expect(
      dueIn({ requests, plays: [...two, requestPlay(3, ago(1))], rules: { consecutiveRequests: 0 } })
    ).toBe(5)
  })
})

describe('a request for a recent song', () => {
  const requests = [aRequest(5)]

  test.for<[what: string, song: PlayOrRow['song']]>([
    ['the song', aSong(5)],
    ['the title', sameTitle],
    ['an artist', clashing]
  ])('waits while %s is within the threshold or in the queue', ([, song]) => {
    const other = aPlay(1, ago(1))
    const play = (minutes: number) => aPlay(99, ago(minutes), { song })
    expect(dueIn({ requests, plays: [play(14), other] })).toBe('too_recent')
    expect(dueIn({ requests, plays: [play(15), other] })).toBe(5)
    expect(dueIn({ requests, plays: [other] }, { rowsBefore: [play(100), other] })).toBe('too_recent')
    expect(dueIn({ requests, plays: [other] }, { rowsAfter: [play(-20)] })).toBe('too_recent')
  })

  test('lets the next one go first', () => {
    expect(dueIn({ requests: [aRequest(5), aRequest(6)], plays: [aPlay(5, ago(3))] })).toBe(6)
  })

  test('waits only for the previous row if the threshold is 0', () => {
    const rules = { requestThresholdMs: 0 }
    const play = aPlay(99, ago(3), { song: clashing })
    expect(dueIn({ requests, rules, plays: [play] })).toBe('too_recent')
    expect(dueIn({ requests, rules, plays: [play, aPlay(1, ago(1))] })).toBe(5)
    expect(dueIn({ requests, rules, plays: [play] }, { rowsBefore: [aPlay(1, ago(1))] })).toBe(5)
    expect(dueIn({ requests, rules }, { rowsAfter: [play] })).toBe(5)
  })

  test('waits only for the song itself after an hour', () => {
    const late = [aRequest(5, { dueAtMs: ago(61) })]
    const plays = (song: PlayOrRow['song']) => [aPlay(99, ago(3), { song }), aPlay(1, ago(1))]
    expect(dueIn({ requests: [aRequest(5, { dueAtMs: ago(60) })], plays: plays(clashing) })).toBe(
      'too_recent'
    )
    expect(dueIn({ requests: late, plays: plays(clashing) })).toBe(5)
    expect(dueIn({ requests: late, plays: plays(aSong(5)) })).toBe('too_recent')
  })

  test('expires after three hours', () => {
    expect(dueIn({ requests: [aRequest(5, { dueAtMs: ago(180) + 1 })] })).toBe(5)
    expect(dueIn({ requests: [aRequest(5, { dueAtMs: ago(180) })] })).toBe('none_pending')
  })

  test('never follows the same song, however long ago it started', () => {
    expect(dueIn({ requests, plays: [aPlay(5, ago(100), { durationMs: 100 * minuteMs })] })).toBe(
      'too_recent'
    )
  })
})
