import { isWebAddress } from '../../model/fields/field.ts'
import type { TextFormat } from './template.ts'

/** A URL: a value at its beginning may be a whole URL, any other is a part of it. */
export const urlTextFormat: TextFormat = {
  write: (value, { outline }) => encodeUrlValue(value, outline.trim() === ''),
  isMarkup: false
}

/** Percent-encodes a value as a part of a URL (RFC 3986); keeps a whole URL at the beginning. */
export function encodeUrlValue(value: string, isBeginning: boolean): string {
  return isBeginning && isWebAddress(value) ? value : encodeURIComponent(value)
}

/** Percent-encodes ASCII characters in a URL, which does not change its meaning. */
export function encodeUrlCharacters(address: string, characters: RegExp): string {
  return address.replace(
    characters,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  )
}
