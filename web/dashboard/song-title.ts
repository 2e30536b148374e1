import type { NowPlaying } from '../client/interface.ts'

/** What stands for the song that plays. Before the first song there may be a jingle, which listeners are not shown. */
export function titleOf({ now_playing: { sh_id: shId, song }, is_online: isOnline }: NowPlaying): string {
  if (shId === 0 && isOnline) return 'A jingle'
  return song.title || song.text
}
