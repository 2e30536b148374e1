import type { Song } from '../client/interface.ts'

/** What a song is called where there is one line for it. */
export const songLine = ({ artist, title, text }: Pick<Song, 'artist' | 'title' | 'text'>) =>
  artist !== '' && title !== '' ? `${artist} – ${title}` : text || title || artist
