import { isSequence, type PlayOrRow, type Playlist, type Slot } from './library.ts'
import { valueAt } from './tracks.ts'

/** The row or play directly before a slot; it may be a jingle. */
export function previousPlay({ library, rowsBefore }: Slot): PlayOrRow | null {
  return rowsBefore.at(-1) ?? library.past.plays.at(-1) ?? null
}

/** Whether a play is no jingle. */
export const isSong = ({ isVisible }: PlayOrRow) => isVisible

/** The last row or play before a slot that is not a jingle: listeners hear it as the previous song. */
export function previousSong({ library, rowsBefore }: Slot): PlayOrRow | null {
  return rowsBefore.findLast(isSong) ?? library.past.plays.findLast(isSong) ?? null
}

/** A play whose place is a slot. */
type PlayInSlot = Pick<PlayOrRow, 'song' | 'isVisible'>

/** The play that a play in a slot must not repeat: the previous song, or the previous play if it is a jingle. */
const playBefore = (slot: Slot, { isVisible }: Pick<PlayOrRow, 'isVisible'>) =>
  isVisible ? previousSong(slot) : previousPlay(slot)

/** Whether a play would be the same song twice in a row in a slot. Jingles between the two do not count. */
export function followsItself(slot: Slot, play: PlayInSlot): boolean {
  return playBefore(slot, play)?.song.song === play.song.song
}

/** As `followsItself`, unless its playlist, if it has one, continues in its own order. */
export function repeatsPrevious(slot: Slot, play: PlayInSlot, playlist: Playlist | undefined): boolean {
  if (!followsItself(slot, play)) return false
  return !playlist || !isSequence(playlist) || playBefore(slot, play)?.playlistId !== playlist.id
}

/** The songs that a playlist should not choose for a slot; `lastJingle` only if it has another one. */
export function findSongsToAvoid(playlist: Playlist, slot: Slot) {
  return {
    previous: playBefore(slot, { isVisible: !playlist.isJingle })?.song.song ?? null,
    lastJingle: playlist.isJingle ? findLastSongOf(playlist, slot) : null
  }
}

/** Whether a jingle is the one that its playlist played last. */
export function repeatsOwnJingle(slot: Slot, { song }: PlayInSlot, playlist: Playlist): boolean {
  return playlist.isJingle && !isSequence(playlist) && findLastSongOf(playlist, slot) === song.song
}

/** The song that a playlist played last before a slot, however long ago. */
function findLastSongOf({ id, tracks }: Playlist, { rowsBefore }: Slot): number | null {
  const row = rowsBefore.findLast(({ playlistId }) => playlistId === id)
  if (row) return row.song.song
  let latest = -1
  for (let index = 0; index < tracks.lastAired.length; index++) {
    const airedMs = valueAt(tracks.lastAired, index)
    if (airedMs > 0 && (latest < 0 || airedMs > valueAt(tracks.lastAired, latest))) latest = index
  }
  return latest < 0 ? null : valueAt(tracks.songs, latest)
}
