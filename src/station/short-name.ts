const longest = 100

/** What a short name of a station looks like: it stands in paths and channels, beside ids. */
export const shortNamePattern = /^(?!\d+$|\.+$)[A-Za-z0-9._-]+$/

/**
 * The short name of a station with this name: lower case, blanks to `_`, and of the rest only what it may
 * hold, letters without their accents. `number` from 2 on makes another one where that is taken.
 */
export function shortNameOf(name: string, number = 1): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^a-z0-9._-]/g, '')
    .slice(0, longest)
  const suffix = number > 1 ? `_${number}` : ''
  const base = plain === '' ? 'station' : shortNamePattern.test(plain) ? plain : `station_${plain}`
  return base.slice(0, longest - suffix.length) + suffix
}
