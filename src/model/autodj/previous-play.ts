import { isSequencePlaylist, type PlayOrRow, type Playlist, type QueueSlot } from './library.ts'
import { columnValueAt } from './track-columns.ts'

/** The row or play directly before a slot; it may be a jingle. */
export function findPreviousPlay({ library, rowsBefore }: QueueSlot): PlayOrRow | null {
  return rowsBefore.at(-1) ?? library.past.plays.at(-1) ?? null
}

/** Whether a play is no jingle. */
export const isSongPlay = ({ isVisible }: PlayOrRow) => isVisible

/** The last row or play before a slot that is not a jingle: listeners hear it as the previous song. */
export function findPreviousSong({ library, rowsBefore }: QueueSlot): PlayOrRow | null {
  return rowsBefore.findLast(isSongPlay) ?? library.past.plays.findLast(isSongPlay) ?? null
}

/** A play whose place is a slot. */
type PlayInSlot = Pick<PlayOrRow, 'song' | 'isVisible'>

/** The play that a play in a slot must not repeat: the previous song, or the previous play if it is a jingle. */
const playBefore = (slot: QueueSlot, { isVisible }: Pick<PlayOrRow, 'isVisible'>) =>
  isVisible ? findPreviousSong(slot) : findPreviousPlay(slot)

/** Whether a play would be the same song twice in a row in a slot. Jingles between the two do not count. */
export function repeatsPreviousSong(slot: QueueSlot, play: PlayInSlot): boolean {
  return playBefore(slot, play)?.song.song === play.song.song
}

/** As `repeatsPreviousSong`, unless its playlist, if it has one, continues in its own order. */
export function repeatsUnintentionally(
  slot: QueueSlot,
  play: PlayInSlot,
  playlist: Playlist | undefined
): boolean {
  if (!repeatsPreviousSong(slot, play)) return false
  return !playlist || !isSequencePlaylist(playlist) || playBefore(slot, play)?.playlistId !== playlist.id
}

/** The songs that a playlist should not choose for a slot; `lastJingle` only if it has another one. */
export function findSongsToAvoid(playlist: Playlist, slot: QueueSlot) {
  return {
    previous: playBefore(slot, { isVisible: !playlist.isJingle })?.song.song ?? null,
    lastJingle: playlist.isJingle ? findLastSongOf(playlist, slot) : null
  }
}

/** Whether a jingle is the one that its playlist played last. */
export function repeatsOwnJingle(slot: QueueSlot, { song }: PlayInSlot, playlist: Playlist): boolean {
  return playlist.isJingle && !isSequencePlaylist(playlist) && findLastSongOf(playlist, slot) === song.song
}

/** The song that a playlist played last before a slot, however long ago. */
function findLastSongOf({ id, tracks }: Playlist, { rowsBefore }: QueueSlot): number | null {
  const row = rowsBefore.findLast(({ playlistId }) => playlistId === id)
  if (row) return row.song.song
  let latest = -1
  for (let index = 0; index < tracks.lastAired.length; index++) {
    const airedMs = columnValueAt(tracks.lastAired, index)
    if (airedMs > 0 && (latest < 0 || airedMs > columnValueAt(tracks.lastAired, latest))) latest = index
  }
  return latest < 0 ? null : columnValueAt(tracks.songs, latest)
}
