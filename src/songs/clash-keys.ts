import { createHash } from 'node:crypto'

/*
 * What makes two songs clash, as numbers that can be compared: 52 bits of a hash, which are exact as a number here and
 * as a bigint in Postgres.
 */

/** What stands between the artists of one text; a text is normal by then. */
const separators = /,(?= )|;| (?:&|\/|feat\.?|ft\.?|featuring|vs\.?)(?= )/

/** The same for titles that differ in case, blanks or the composition of characters only. No title is 0. */
export function titleKey(title: string): number {
  const text = normal(title)
  return text === '' ? 0 : keyOf(text)
}

/** A key for each artist that a text names, without doubles: `Tom & Ann` has two, and no artist none. */
export function artistKeys(artist: string): number[] {
  const names = normal(artist)
    .split(separators)
    .map(name => name.trim())
    .filter(name => name !== '')
  return [...new Set(names.map(keyOf))]
}

/** The key of a song's id, which is 32 hexadecimal digits (`songId`). */
export function songKey(songId: string): number {
  return Number.parseInt(songId.slice(0, 13), 16)
}

/** Lower case first: it may take a composed character apart. */
function normal(text: string): string {
  return text.toLowerCase().normalize('NFC').replace(/\s+/g, ' ').trim()
}

function keyOf(text: string): number {
  return songKey(createHash('md5').update(text).digest('hex'))
}
