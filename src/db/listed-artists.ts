import type { SongTags } from '../songs/song.ts'
import type { Sql, Tx } from './sql.ts'

/*
 * `media.artists` are the artists that the file of a song lists for the text in `artists_for`. They are void once `artist` is
 * another text, because a person or a release that does not know them changed it.
 */

/** The artists that the file of a media `m` lists; empty if it lists none, or if its text was changed. */
export const listedArtistsOf = (sql: Sql | Tx) =>
  sql`case when m.artists_for = m.artist then m.artists else '{}' end`

/** The values of the columns. */
export const listedArtistsToRow = ({ artist, artists }: Pick<SongTags, 'artist' | 'artists'>) => ({
  artists: [...artists],
  artists_for: artists.length === 0 ? '' : artist
})
