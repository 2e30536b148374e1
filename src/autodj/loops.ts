import { isCounted, type Playlist, type Slot } from './library.ts'
import type { Window } from './schedule.ts'

/** Whether each track of the list is to be heard once in a window, from the top. */
export function loopsOnce({ options }: Playlist, { item }: Window): boolean {
  return item.loop_once || options.has('loop_once')
}

/**
 * The tracks of a playlist that were played in a window. What an operator took out of a sequence is one of them, or it
 * would come straight back.
 */
export function playedIn({ id, order }: Playlist, { library, ahead }: Slot, window: Window): Set<number> {
  const { plays, refused } = library.past
  const played = new Set<number>()
  for (const rows of [plays, ahead, order === 'sequential' ? refused : []])
    for (const row of rows)
      if (row.playlistId === id && row.trackId !== null && row.startsAtMs >= window.startMs)
        played.add(row.trackId)
  return played
}

export function isLoopDone(playlist: Playlist, slot: Slot, window: Window): boolean {
  const played = playedIn(playlist, slot, window)
  return playlist.tracks.ids.every((id, index) => played.has(id) || !isCounted(playlist, index))
}
