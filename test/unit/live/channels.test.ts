import { expect, test } from 'vitest'

import { applyDuePublications, delayPublication } from '../../../src/live/channels.ts'
import { LiveStation } from '../../../src/live/feed/live-station.ts'
import type { Channel } from '../../../src/live/session.ts'
import type { Trigger } from '../../../src/model/station/triggers.ts'
import { aStation, documented } from '../../support/builders.ts'

const at = (offset: number, epoch = 'e1') => LiveStation.of(aStation({ offset, epoch }), documented)

function aChannel(shown: Channel['shown']): Channel {
  return {
    name: 'station:1',
    delayMs: 1_000,
    heartbeatMs: 0,
    isStale: false,
    subscribers: new Set(),
    dueAtMs: 0,
    revision: 0,
    shown,
    postponed: [],
    repeated: null
  }
}

test('a change is shown after its delay, with all triggers up to it', () => {
  const channel = aChannel(at(1))
  expect(delayPublication(channel, at(2), ['song_changed'], 0)).toBe(false)
  expect(delayPublication(channel, at(3), ['listener_gained'], 10)).toBe(false)
  expect(delayPublication(channel, at(4), [], 500)).toBe(false)
  expect(applyDuePublications(channel, 999)).toBeNull()
  expect(channel.shown?.state.offset).toBe(1)
  expect(applyDuePublications(channel, 1_010)).toEqual(new Set(['song_changed', 'listener_gained']))
  expect(channel.shown?.state.offset).toBe(3)
  expect(applyDuePublications(channel, 1_500)).toEqual(new Set())
  expect(channel.shown?.state.offset).toBe(4)
})

test('the first state, and one of another epoch, are shown immediately', () => {
  const channel = aChannel(null)
  expect(delayPublication(channel, at(5), [], 0)).toBe(true)
  delayPublication(channel, at(6), [], 0)
  expect(delayPublication(channel, at(1, 'e2'), [], 10)).toBe(true)
  expect(channel.shown?.state.epoch).toBe('e2')
  expect(applyDuePublications(channel, 9_999)).toBeNull()
})

test('the number of delayed changes is limited, and no trigger is lost', () => {
  const channel = aChannel(at(0))
  const raised: Trigger[] = ['live_connect', 'live_disconnect']
  for (let offset = 1; offset <= 2_000; offset++)
    delayPublication(channel, at(offset), raised.slice(offset % 2, 1 + (offset % 2)), offset)
  expect(channel.postponed.length).toBeLessThanOrEqual(256)
  expect(applyDuePublications(channel, 10_000)).toEqual(new Set(raised))
  expect(channel.shown?.state.offset).toBe(2_000)
})
