export const maxShortNameLength = 100

/** A valid short name. It is used in paths and channels in place of an id, so it is never all digits. */
export const shortNamePattern = /^(?!\d+$|\.+$)[A-Za-z0-9._-]+$/

/** The pattern in words. */
export const shortNameCharacters = 'letters a-z and A-Z, digits and - _ . only, and not digits or dots alone'

/** Makes a short name from a station's name. A `number` above 1 is appended, for names that are taken. */
export function makeShortName(name: string, number = 1): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^a-z0-9._-]/g, '')
    .slice(0, maxShortNameLength)
  const suffix = number > 1 ? `_${number}` : ''
  const base = plain === '' ? 'station' : shortNamePattern.test(plain) ? plain : `station_${plain}`
  return base.slice(0, maxShortNameLength - suffix.length) + suffix
}
