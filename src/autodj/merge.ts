import { airtimeMs } from './estimate.ts'
import { isCounted, type Playlist, type Slot } from './library.ts'
import { passesOf } from './passes.ts'
import { at } from './tracks.ts'
import { shuffledPlace } from './zone.ts'

const rowsAtMost = 500

/** Tracks of a merged list that are played back to back, as places in the list. */
export interface Batch {
  readonly pass: number
  readonly indices: readonly number[]
  readonly airtimeMs: number
}

/** The whole list in a new pass; a list that is too long for one batch is gone through in several. */
export function batchAt(playlist: Playlist, slot: Slot): Batch {
  const { order, tracks } = playlist
  const { seed } = slot.library.rules
  const { pass, isIn } = runOf(playlist, slot)
  const count = tracks.ids.length
  const placeOf = (index: number) =>
    order === 'sequential' ? 0 : shuffledPlace(seed, pass, at(tracks.ids, index))
  // Sorted as numbers that hold both the place and the track.
  const placed = Float64Array.from(
    [...tracks.ids.keys()].filter(isIn),
    index => placeOf(index) * count + index
  )
  const indices = [...placed.toSorted().subarray(0, rowsAtMost)].map(place => place % count)
  const heldMs = indices.reduce((sum, index) => sum + airtimeMs(at(tracks.durations, index)), 0)
  return { pass, indices, airtimeMs: heldMs }
}

function runOf(playlist: Playlist, slot: Slot) {
  const { pass, tracks } = playlist
  const { working, consumed } = passesOf(playlist, slot)
  const isBegun = tracks.ids.length > rowsAtMost && consumed.includes(working)
  if (isBegun) return { pass: working, isIn: (index: number) => at(consumed, index) < working }
  // A pass of its own: by it the rows of a batch are known that has begun.
  const isIn = (index: number) => isCounted(playlist, index)
  const newest = consumed.reduce((most, each, index) => (isIn(index) ? Math.max(most, each) : most), 0)
  return { pass: Math.max(pass, newest + 1), isIn }
}
