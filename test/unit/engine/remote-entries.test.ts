import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  compareRemoteEntries,
  type RemoteEntry,
  type RemoteEntryChanges,
  type EntrySong,
  hasNoEntryChanges
} from '../../../src/engine/queue/remote-entries.ts'

const song = (name: string, parts: Partial<EntrySong> = {}): EntrySong => ({
  path: `https://cdn.example/${name}`,
  artist: '',
  title: name,
  durationMs: 0,
  ...parts
})

const entriesOf = (songs: readonly EntrySong[]): RemoteEntry[] =>
  songs.map((each, index) => ({
    ...each,
    position: index + 1,
    trackId: 100 + index,
    mediaId: 200 + index
  }))

test('an identical list results in no changes', () => {
  const songs = [song('a', { durationMs: 5_000 }), song('b', { artist: 'B' })]
  const changes = compareRemoteEntries(entriesOf(songs), songs)
  expect(changes).toEqual({ added: [], moved: [], retold: [], gone: [] })
  expect(hasNoEntryChanges(changes)).toBe(true)
})

test('added, moved, changed and removed entries are distinguished', () => {
  const [a, b, c, d] = [song('a'), song('b'), song('c'), song('d')]
  const renamed = song('c', { title: 'See', durationMs: 1_000 })
  const entries = entriesOf([a, b, c])
  const changes = compareRemoteEntries(entries, [a, renamed, d])
  expect(changes).toEqual({
    added: [{ song: d, position: 3 }],
    moved: [{ trackId: 102, position: 2 }],
    retold: [{ song: renamed, mediaId: 202 }],
    gone: [entries[1]]
  })
  expect(hasNoEntryChanges(changes)).toBe(false)
})

test('a list without a duration keeps the known one', () => {
  const known = entriesOf([song('a', { durationMs: 7_000 })])
  expect(hasNoEntryChanges(compareRemoteEntries(known, [song('a')]))).toBe(true)
  expect(compareRemoteEntries(known, [song('a', { durationMs: 8_000 })]).retold).toHaveLength(1)
})

/** The entries after the statements were executed. */
function applied(
  entries: readonly RemoteEntry[],
  { added, moved, retold, gone }: RemoteEntryChanges
): EntrySong[] {
  const left = entries.filter(({ trackId }) => !gone.some(entry => entry.trackId === trackId))
  const placed = left.map(({ trackId, mediaId, position, ...rest }) => {
    const other = retold.find(each => each.mediaId === mediaId)?.song ?? rest
    return {
      song: { ...other, durationMs: other.durationMs || rest.durationMs },
      position: moved.find(each => each.trackId === trackId)?.position ?? position
    }
  })
  return [...placed, ...added].toSorted((x, y) => x.position - y.position).map(each => each.song)
}

const songs = fc.uniqueArray(
  fc.record({
    path: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    artist: fc.constantFrom('', 'A'),
    title: fc.constantFrom('', 'T'),
    durationMs: fc.constantFrom(1_000, 2_000)
  }),
  { selector: each => each.path }
)

test('changes lead from any list to any other, and then to no further changes', () => {
  fc.assert(
    fc.property(songs, songs, (before, after) => {
      const entries = entriesOf(before)
      const changes = compareRemoteEntries(entries, after)
      expect(applied(entries, changes)).toEqual(after)
      expect(hasNoEntryChanges(changes)).toBe(JSON.stringify(before) === JSON.stringify(after))
      const paths = new Set(after.map(({ path }) => path))
      expect(changes.gone.map(({ path }) => path)).toEqual(
        before.map(({ path }) => path).filter(path => !paths.has(path))
      )
    })
  )
})
