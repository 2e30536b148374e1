import { createHash } from 'node:crypto'

/** What stands for a text of which nothing is left: the hash of `stationoffline`. */
const nothing = '5a6a865199cf5df73b1417326d2ff24f'

/**
 * The id by which players and web hooks know a song, 32 hex digits: the MD5 of the first 150 code points, without
 * spaces, hyphens, quotes and line breaks, in lower case. Library media and streamed titles get it the same way.
 */
export function songId(text: string): string {
  // No code point is longer than two UTF-16 units, so a huge text is cut before it is taken apart.
  const start = Array.from(text.slice(0, 300)).slice(0, 150).join('')
  const bare = start.replace(/[ \-"'\n\t\r]/g, '')
  if (bare === '' || bare === '0') return nothing
  return createHash('md5').update(bare.toLowerCase()).digest('hex')
}

/** The song id of what is behind an address: two addresses are two songs, whatever they are called. */
export function addressSongId(address: string): string {
  return createHash('md5').update(address).digest('hex')
}

/** `Artist - Title`; a part that is empty is left out together with the hyphen. */
export function songText(artist: string, title: string): string {
  return [artist, title].filter(part => part !== '').join(' - ')
}
