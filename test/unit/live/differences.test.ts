import { assert, boolean, integer, nat, option, property, record, string, uniqueArray } from 'fast-check'
import { expect, test } from 'vitest'

import { renderPatch } from '../../../src/live/deltas.ts'
import { LiveStation } from '../../../src/live/feed/live-station.ts'
import { aPlay, aSong, aStation, documented } from '../../support/builders.ts'
import { applyMergePatch } from '../../support/merge-patch.ts'

const start = 1_783_468_790

/** States of one station: live or not, playing or not, with or without custom fields and a next song. */
const states = record({
  title: string(),
  total: nat(9),
  isPlaying: boolean(),
  streamer: option(string()),
  hasNext: boolean(),
  fields: uniqueArray(integer({ min: 1, max: 3 }))
}).map(({ title, total, isPlaying, streamer, hasNext, fields }) => {
  const song = aSong({ title })
  const empty = aStation()
  return LiveStation.of(
    aStation({
      shown: isPlaying ? aPlay({ song, startedAtMs: start * 1000 }) : null,
      listeners: { ...empty.listeners, total, unique: total },
      live: streamer === null ? null : { streamerName: streamer, startedAtMs: start * 1000, art: '' },
      next: hasNext
        ? { song, cuedAtMs: 0, playsAtMs: 0, durationMs: 0, playlist: '', isRequest: false }
        : null,
      profile: { customFields: fields.map(id => ({ id, shortName: `field_${id}` })) }
    }),
    documented
  )
})

test('a patch turns the document of any second into the current one', () => {
  assert(
    property(states, states, nat(300), nat(300), (from, to, then, now) => {
      const target = JSON.parse(to.eventText(start + now))
      const patch = renderPatch(from, to, start + now)
      const patched =
        patch === null ? target : applyMergePatch(JSON.parse(from.eventText(start + then)), JSON.parse(patch))
      expect(patched).toEqual(target)
    })
  )
})

test('a changed listener count results in a small patch', () => {
  const before = aStation({ shown: aPlay({ startedAtMs: start * 1000 }) })
  const after = { ...before, listeners: { ...before.listeners, total: 7, unique: 6 } }
  const patch = renderPatch(LiveStation.of(before, documented), LiveStation.of(after, documented), start + 31)
  expect(JSON.parse(patch ?? '')).toEqual({
    listeners: { total: 7, unique: 6, current: 7 },
    now_playing: { elapsed: 31, remaining: 184 }
  })
})
