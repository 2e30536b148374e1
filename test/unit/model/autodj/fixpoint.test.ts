import { describe, expect, test } from 'vitest'

import { nextStartMs } from '../../../../src/model/autodj/durations.ts'
import {
  isInterruptingPlaylist,
  isSequencePlaylist,
  type Playlist,
  type PlayOrRow
} from '../../../../src/model/autodj/library.ts'
import { playlistRanks, pickFromPlaylists } from '../../../../src/model/autodj/pick.ts'
import type { PlannerInput, QueuedRow } from '../../../../src/model/autodj/queue-draft.ts'
import { planQueue, type QueuePlan } from '../../../../src/model/autodj/queue-planner.ts'
import { createSeededRandom } from '../../../../src/model/autodj/random.ts'
import { applyQueuePlan } from '../../../../src/model/autodj/simulate.ts'
import { onDays } from '../../../support/autodj/days.ts'
import { sized } from '../../../support/tier.ts'

function afterPlan(situation: PlannerInput, plan: QueuePlan): PlannerInput {
  const { queue, nextSeq } = situation
  return { ...situation, queue: applyQueuePlan(queue, plan), nextSeq: nextSeq + plan.insert.length }
}

/** Rows as text: start, playlist and track. */
function linesOf(situation: PlannerInput, plan: QueuePlan): string[] {
  const rows = applyQueuePlan(situation.queue, plan).map(row => {
    const { id, position, playlistId, trackId, pass, requestId, startsAtMs, cuedAtMs } = row
    const what = requestId === null ? `${playlistId}: ${trackId} in ${pass}` : `request ${requestId}`
    const [at, cuedAt] = [startsAtMs, cuedAtMs].map(timeMs => new Date(timeMs).toISOString())
    return `${id} at ${position}, ${at}, cued ${cuedAt}, ${what}`
  })
  return [...rows, `after ${new Date(plan.runningEndsMs).toISOString()}`]
}

describe('whatever happens to a station', () => {
  test('planning is idempotent', () => {
    const faultsOf = (situation: PlannerInput, plan: QueuePlan) => {
      const again = afterPlan(situation, plan)
      const [once, twice] = [linesOf(situation, plan), linesOf(again, planQueue(again))]
      return once.join() === twice.join() ? [] : [{ once, twice }]
    }
    onDays({ faultsOf, numRuns: sized({ quick: 4, deep: 150, soak: 7_500 }) }, (_, faults) =>
      expect(faults).toEqual([])
    )
  })

  test('expected times are consistent', () => {
    const faultsOf = (situation: PlannerInput, plan: QueuePlan) => {
      const { library, running, nowMs } = situation
      const rows = applyQueuePlan(situation.queue, plan)
      const ends = rows.map(row => nextStartMs(row.startsAtMs, row.durationMs, library.rules.overlapMs))
      const mayCut = library.playlists.some(isInterruptingPlaylist)
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

  test('no song follows itself while another one is eligible', () => {
    const faultsOf = (situation: PlannerInput, plan: QueuePlan) => {
      const rows = applyQueuePlan(situation.queue, plan)
      return rows.filter((_, index) => isNeedless(situation, rows, index))
    }
    onDays({ faultsOf, without: ['add', 'send'] }, (_, faults) => expect(faults).toEqual([]))
  })
})

function isNeedless({ library, rejected }: PlannerInput, rows: readonly QueuedRow[], index: number): boolean {
  const row = rows[index]
  const before = [...library.past.plays, ...rows.slice(0, index)]
  const last = row?.isVisible ? before.findLast(({ isVisible }) => isVisible) : before.at(-1)
  if (!row || last?.song.song !== row.song.song) return false
  // The rest of a batch follows its first row, also after an interrupt.
  const isOfBatch = (play: PlayOrRow) => play.playlistId === row.playlistId && play.pass === row.pass
  if (row.batch !== null && before.some(isOfBatch)) return false
  const own = library.playlists.find(({ id }) => id === row.playlistId && id === last.playlistId)
  if (own && isSequencePlaylist(own)) return false
  const slot = { library, rowsBefore: rows.slice(0, index), rowsAfter: [], atMs: row.startsAtMs, rejected }
  // No other playlist may replace an interrupt.
  const isAfterJingle = row.isVisible && before.at(-1)?.isVisible === false
  const mayStandIn = (playlist: Playlist) =>
    (row.isInterrupt ? playlist.id === row.playlistId : !isInterruptingPlaylist(playlist)) &&
    // Jingles do not replace songs after a jingle.
    !(playlist.isJingle && isAfterJingle)
  const playlists = library.playlists.filter(mayStandIn)
  return (
    pickFromPlaylists(
      slot,
      { playlists, buckets: playlistRanks, mayRepeat: false },
      createSeededRandom(1, 1),
      []
    ) !== null
  )
}
