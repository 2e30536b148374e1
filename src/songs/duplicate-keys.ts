import { createHash } from 'node:crypto'

/* Keys for duplicate checks: 52-bit hashes, exact as a number and as a Postgres bigint. */

/** Separates the artists of a normalized text. */
const separators = /,(?= )|;| (?:&|\/|feat\.?|ft\.?|featuring|vs\.?)(?= )/

/** The key of a title, regardless of case, whitespace and Unicode composition; 0 for an empty title. */
export function titleKey(title: string): number {
  const text = normalize(title)
  return text === '' ? 0 : hashKey(text)
}

/** The keys of the artists in a text, without repeats: `Tom & Ann` has two, an empty text none. */
export function artistKeys(artist: string): number[] {
  const names = normalize(artist)
    .split(separators)
    .map(name => name.trim())
    .filter(name => name !== '')
  return [...new Set(names.map(hashKey))]
}

/** The key of a `songId`. */
export const songKey = (songId: string): number => Number.parseInt(songId.slice(0, 13), 16)

/** Lower case comes first, because it may decompose a character. */
const normalize = (text: string): string => text.toLowerCase().normalize('NFC').replace(/\s+/g, ' ').trim()

const hashKey = (text: string): number => songKey(createHash('md5').update(text).digest('hex'))
