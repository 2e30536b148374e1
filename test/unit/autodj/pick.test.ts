import { expect, test } from 'vitest'

import type { Ahead, Playlist, Track } from '../../../src/autodj/library.ts'
import { pick } from '../../../src/autodj/pick.ts'
import { randomOf } from '../../../src/autodj/random.ts'

const aTrack = (id: number, parts: Partial<Track> = {}): Track => ({
  trackId: id,
  mediaId: id * 10,
  pass: 1,
  songId: `song-${id}`,
  durationMs: 180_000,
  ...parts
})

const aPlaylist = (parts: Partial<Playlist> = {}): Playlist => ({
  id: 1,
  name: 'Rotation',
  weight: 3,
  isJingle: false,
  hand: [aTrack(1), aTrack(2), aTrack(3)],
  ...parts
})

const ahead = (...ids: number[]): Ahead[] => ids.map(id => ({ trackId: id, pass: 1, songId: `song-${id}` }))
const none: ReadonlySet<number> = new Set()
const random = () => randomOf(1, 1)

test('the first track of the hand is picked', () => {
  expect(pick([aPlaylist()], [], none, 0, random())?.track.trackId).toBe(1)
})

test('a song that is on air or queued is passed over', () => {
  expect(pick([aPlaylist()], ahead(1, 2), none, 0, random())?.track.trackId).toBe(3)
})

test('a track that an operator has just removed is not put back', () => {
  expect(pick([aPlaylist()], ahead(1), new Set([2]), 0, random())?.track.trackId).toBe(3)
})

test('a song queued from the last pass is taken from the next one when nothing else is left', () => {
  const library = [aPlaylist({ hand: [aTrack(1, { pass: 2 }), aTrack(2, { pass: 2 })] })]
  expect(pick(library, ahead(1, 2), none, 0, random())?.track).toMatchObject({ trackId: 1, pass: 2 })
})

test('a song follows itself only when silence is the alternative', () => {
  const one = [aPlaylist({ hand: [aTrack(1)] })]
  expect(pick(one, ahead(1), none, 0, random())?.track.trackId).toBe(1)
  const two = [aPlaylist({ hand: [aTrack(1), aTrack(2)] })]
  expect(pick(two, ahead(2, 1), new Set([2]), 0, random())?.track.trackId).toBe(2)
})

test('a library without tracks gives nothing', () => {
  expect(pick([], [], none, 0, random())).toBeNull()
  expect(pick([aPlaylist({ hand: [] })], [], none, 0, random())).toBeNull()
})

test('the reasons name the slot, the draw and the choice', () => {
  const decision = pick([aPlaylist()], [], none, 1_767_950_400_900, random())
  expect(decision?.log).toEqual([
    { step: 'slot', at: 1_767_950_400, why: 'fill' },
    { step: 'bucket', bucket: 'default/unscheduled', order: [{ id: 1, weight: 3 }] },
    { step: 'picked', id: 1, media: 10, tier: 1, pass: 1 }
  ])
})

test('playlists are drawn in proportion to their weights', () => {
  const weights = [3, 5, 2]
  const library = weights.map((weight, id) => aPlaylist({ id, weight }))
  const drawn = [0, 0, 0]
  const slots = 20_000
  for (let slot = 0; slot < slots; slot++) {
    const id = pick(library, [], none, 0, randomOf(42, slot))?.playlist.id ?? 0
    drawn[id] = (drawn[id] ?? 0) + 1
  }
  for (const [id, weight] of weights.entries()) expect((drawn[id] ?? 0) / slots).toBeCloseTo(weight / 10, 1)
})
