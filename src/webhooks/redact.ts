import { isWebAddress } from '../fields/field.ts'
import { parsedUrl } from '../outbound/networks.ts'
import type { HookRequest } from './deliveries/sending.ts'
import type { Format } from './format/template.ts'

const mark = '…'
/** Shorter texts would be found everywhere. */
const shortestSecret = 4

/** Replaces secrets in a text by `…`, in each form in which requests carry them or servers repeat them. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = new Set(secrets.flatMap(formsOf).filter(form => form.length >= shortestSecret))
  // The longest first: one may be part of another.
  return [...forms]
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, mark), text)
}

function formsOf(secret: string): string[] {
  const written = [secret, encodeURI(secret), encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  const url = /^https?:/i.test(secret) ? parsedUrl(secret) : null
  if (!url) return written
  // Of an address that is a secret its path is what nobody may know.
  const { pathname, search } = url
  return [...written, pathname + search, pathname, pathname.split('/').at(-1) ?? '']
}

/** Headers as operators see them: values that may contain a secret are `…`. */
export function shownHeaders(headers: HookRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isOurs(name, value) ? value : mark])
  )
}

/** What of the headers nobody may read in an answer that repeats them. */
export function secretHeaders(headers: HookRequest['headers']): string[] {
  return (
    Object.entries(headers)
      .filter(([name, value]) => !isOurs(name, value))
      // A scheme may come first: `Bearer`.
      .flatMap(([name, value]) =>
        name === 'authorization' ? [value, value.split(' ').at(-1) ?? ''] : [value]
      )
  )
}

/** Operators cannot set headers of these names. */
function isOurs(name: string, value: string): boolean {
  if (name === 'content-type') return value === 'application/json'
  return name.startsWith('webhook-') || name.startsWith('x-cuewire-')
}

/** Shorter parts are words, not tokens. */
const shortestToken = { inPath: 12, inQuery: 8 }

/**
 * An address as callers see it: user, query and fragment may contain a token and are `…`, and so is the path
 * unless the caller may set the address.
 */
export function redactedAddress(address: string, showsPath: boolean): string {
  const url = parsedUrl(address)
  if (!url) return mark
  const { origin, pathname, search, hash, username, password } = url
  const hasTail = search !== '' || hash !== ''
  if (!hasTail && username === '' && password === '' && (showsPath || pathname === '/')) return address
  if (!showsPath) return `${origin}/${mark}`
  return hasTail ? `${origin}${pathname}?${mark}` : origin + pathname
}

const beginsAsAddress = /^[a-z][a-z\d+.-]*:\/\//i
/** The same for Postgres. */
export const addressPattern = '^[A-Za-z][A-Za-z0-9+.-]*://'

/** An address as callers see it who may not set it; a path is unchanged. */
export function redactedLocation(location: string): string {
  return beginsAsAddress.test(location) ? redactedAddress(location, false) : location
}

/** The parts of an address that may be tokens, as texts that an answer may repeat. */
export function tokensIn(address: string): string[] {
  const url = parsedUrl(address)
  if (!url) return []
  const { pathname, search, searchParams } = url
  const ofPath = [pathname + search, pathname, ...pathname.split('/')]
  return [
    ...ofPath.filter(({ length }) => length >= shortestToken.inPath),
    ...[...searchParams.values()].filter(({ length }) => length >= shortestToken.inQuery)
  ]
}

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
