import { isWebAddress } from '../fields/field.ts'
import type { Format } from './template.ts'

/** An address: a value that it begins with may be a whole one, any other is a part of it. */
export const addressText: Format = {
  write: (value, { outline }) => addressPart(value, outline.trim() === ''),
  isMarkup: false
}

/** A value as the beginning of an address, or as a part of one (RFC 3986). */
export function addressPart(value: string, isBeginning: boolean): string {
  return isBeginning && isWebAddress(value) ? value : encodeURIComponent(value)
}

/** The same address without these characters, ASCII ones: percent-encoded they mean the same in it. */
export function encodedIn(address: string, characters: RegExp): string {
  return address.replace(
    characters,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  )
}

/** Whether what a path names is an address: `station.listen_url`, `now_playing.song.art`. */
export function isAddressPath(path: string): boolean {
  return /(^|[._])(art|url)$/i.test(path)
}
