import type { NowPlaying } from './event.ts'

/** Why directories and statistics are told nothing where `playedSong` is null. */
export const silence = 'Nothing plays.'

/** The song that plays; null where the text for silence stands in its place. */
export function playedSong({ now_playing: { sh_id, song } }: NowPlaying) {
  return sh_id === 0 ? null : song
}
