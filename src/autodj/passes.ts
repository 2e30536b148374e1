import { isCounted, type Playlist, type Slot } from './library.ts'
import { at, indexOf } from './tracks.ts'

/** What of a playlist is consumed: aired or in the queue. A pass is one run through all of its tracks. */
export interface Passes {
  /** The pass that has tracks left. */
  readonly working: number
  /** The last pass in which each track is consumed; of every pass where it does not count. */
  readonly consumed: Int32Array
}

const everyPass = 2 ** 31 - 1

/**
 * What is consumed before a slot. Derived from airings and the rows of the queue, so that a row which leaves
 * the queue gives its track back without anybody undoing anything.
 */
export function passesOf(playlist: Playlist, { ahead }: Slot): Passes {
  const { id, pass, tracks } = playlist
  const consumed = tracks.lastPass.slice()
  for (const row of ahead) {
    const index = row.playlistId === id && row.trackId !== null ? indexOf(tracks, row.trackId) : -1
    if (index >= 0) consumed[index] = Math.max(at(consumed, index), row.pass)
  }
  let least = everyPass
  for (let index = 0; index < consumed.length; index++) {
    if (!isCounted(playlist, index)) consumed[index] = everyPass
    least = Math.min(least, at(consumed, index))
  }
  return { working: Math.max(pass, least === everyPass ? 0 : least + 1), consumed }
}
