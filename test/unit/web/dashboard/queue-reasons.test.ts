import { expect, test } from 'vitest'

import type { LogEntry } from '../../../../src/autodj/log-entry.ts'
import { reasonsOf } from '../../../../web/dashboard/queue/queue-reasons.ts'

const wording = {
  nameOf: (id: number) => (id === 2 ? 'Rotation' : null),
  timeOf: (seconds: number) => `t${seconds}`
}

const told = (...log: readonly LogEntry[]) => reasonsOf(log, wording)

test('a choice of the AutoDJ reads as sentences, in its order', () => {
  const reasons = told(
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
    'Planned for t60, to keep the queue full.',
    'No request: those waiting were not due yet.',
    '“Legal ID” was passed over: it has had its turn.',
    'The rotation, drawn by weight in this order: “Rotation”, playlist 1.',
    '14 songs looked at, passed over as heard not long ago: 2 because of the song itself, 11 because of the artist.',
    'Picked from “Rotation”, though the artist was heard not long ago. It ends 30 seconds after the time of its playlist.'
  ])
})

test('what was moved, asked for or put in by hand says so', () => {
  const reasons = told(
    { step: 'slot', at: 60, why: 'manual' },
    { step: 'picked', request: 55 },
    { step: 'bucket', bucket: 'once_per_hour/scheduled', order: [{ id: 2, weight: 1 }] },
    { step: 'moved', from: 60, to: 120, why: 'request_inserted' },
    { step: 'moved_by_hand', from: 3, to: 1 }
  )
  expect(reasons).toEqual([
    'Planned for t60: an operator put it in.',
    'Picked: a listener asked for it.',
    'Playlists of once an hour that are scheduled now: only “Rotation”.',
    'Moved from t60 to t120, because a request came before it.',
    'Moved by hand from place 3 to place 1.'
  ])
})

test('what a later version writes down is left out, or told in part', () => {
  const log = [{ step: 'weather' }, 7, null, { step: 'slot', at: 60, why: 'whim' }, { step: 'moved' }]
  expect(reasonsOf(log, wording)).toEqual(['Planned for t60.'])
})
