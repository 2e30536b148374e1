import type { Playlist, Slot } from './library.ts'
import { at, indexOf } from './tracks.ts'

/** What of a playlist is consumed: aired or in the queue. A pass is one run through all of its tracks. */
export interface Passes {
  /** The pass that has tracks left. */
  readonly working: number
  /** The last pass in which each track is consumed. */
  readonly consumed: Int32Array
}

/**
 * What is consumed before a slot. Derived from airings and the rows of the queue, so that a row which leaves the queue gives
 * its track back without anybody undoing anything.
 */
export function passesOf({ id, pass, tracks }: Playlist, { ahead }: Slot): Passes {
  const consumed = tracks.lastPass.slice()
  for (const row of ahead) {
    const index = row.playlistId === id && row.trackId !== null ? indexOf(tracks, row.trackId) : -1
    if (index >= 0) consumed[index] = Math.max(at(consumed, index), row.pass)
  }
  let least = Infinity
  for (const each of consumed) if (each < least) least = each
  return { working: Math.max(pass, least === Infinity ? 0 : least + 1), consumed }
}
