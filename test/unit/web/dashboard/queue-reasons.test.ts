import { expect, test } from 'vitest'

import type { DecisionLogEntry } from '../../../../src/model/autodj/log-entry.ts'
import { describeReasons } from '../../../../web/dashboard/queue/queue-reasons.ts'

const options = {
  findName: (id: number) => (id === 2 ? 'Rotation' : null),
  formatTime: (seconds: number) => `t${seconds}`
}

const describe = (...log: readonly DecisionLogEntry[]) => describeReasons(log, options)

test('the choice of the AutoDJ is described in sentences, in order', () => {
  const reasons = describe(
    { step: 'slot', at: 60, why: 'fill' },
    { step: 'requests', result: 'none', pending: 2, why: 'not_due' },
    { step: 'playlist', id: 4, name: 'Legal ID', due: false, why: 'already_played' },
    {
      step: 'bucket',
      bucket: 'default/unscheduled',
      order: [
        { id: 2, weight: 5 },
        { id: 1, weight: 3 }
      ]
    },
    { step: 'tracks', id: 2, tier: 1, looked_at: 14, skipped: { song: 2, title: 0, artist: 11 }, pass: 17 },
    { step: 'picked', id: 2, media: 812, tier: 2, pass: 17, overrun: 30 }
  )
  expect(reasons).toEqual([
    'Planned for t60 to fill the queue.',
    'No request was chosen: the pending requests were not due yet.',
    '“Legal ID” was skipped: it was already played in this period.',
    'Rotation, in weighted random order: “Rotation”, playlist 1.',
    '14 songs considered, skipped as recently played: 2 by song, 11 by artist.',
    'Picked from “Rotation”, although the artist was played recently. It ends 30 seconds after the scheduled time of its playlist.'
  ])
})

test('moved, requested and manually added songs are described', () => {
  const reasons = describe(
    { step: 'slot', at: 60, why: 'manual' },
    { step: 'picked', request: 55 },
    { step: 'bucket', bucket: 'once_per_hour/scheduled', order: [{ id: 2, weight: 1 }] },
    { step: 'moved', from: 60, to: 120, why: 'request_inserted' },
    { step: 'moved_by_hand', from: 3, to: 1 }
  )
  expect(reasons).toEqual([
    'Planned for t60, added by an operator.',
    'Picked: requested by a listener.',
    'Hourly playlists, scheduled now: only “Rotation”.',
    'Moved from t60 to t120 because a request was inserted before it.',
    'Moved by an operator from position 3 to position 1.'
  ])
})

test('unknown entries are omitted, and unknown reasons are left out', () => {
  const log = [{ step: 'unknown' }, 7, null, { step: 'slot', at: 60, why: 'unknown' }, { step: 'moved' }]
  expect(describeReasons(log, options)).toEqual(['Planned for t60.'])
})
