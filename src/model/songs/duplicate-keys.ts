import { createHash } from 'node:crypto'

import { splitArtists, normalizeArtistName } from './artist-names.ts'

/* Keys for duplicate checks: 52-bit hashes, exact as a number and as a Postgres bigint. */

/** The key of a title, regardless of case, whitespace and Unicode composition; 0 for an empty title. */
export function titleKey(title: string): number {
  const text = normalize(title)
  return text === '' ? 0 : hashKey(text)
}

/**
 * The keys of the artists of a song, without repeats: of those that its file lists, else of those that the text names
 * (`Tom & Ann` names two, an empty text none).
 */
export function artistKeys(artist: string, listed: readonly string[] = []): number[] {
  const names =
    listed.length > 0
      ? listed.map(name => normalizeArtistName(normalize(name)))
      : splitArtists(normalize(artist))
  return [...new Set(names.filter(name => name !== '').map(hashKey))]
}

/** The key of a `songId`. */
export const songKey = (songId: string): number => Number.parseInt(songId.slice(0, 13), 16)

/** Lower case comes first, because it may decompose a character. */
const normalize = (text: string): string => text.toLowerCase().normalize('NFC').replace(/\s+/g, ' ').trim()

const hashKey = (text: string): number => songKey(createHash('md5').update(text).digest('hex'))
