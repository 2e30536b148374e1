import { parseUrl } from '../platform/outbound/networks.ts'

const mark = '…'
/** Shorter secrets are not replaced: they occur in ordinary words. */
const shortestSecret = 4

/** Replaces secrets in a text by `…`, in every form in which requests contain or servers repeat them. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const forms = new Set(secrets.flatMap(formsOf).filter(form => form.length >= shortestSecret))
  // The longest first, because a form may be part of another.
  return [...forms]
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, mark), text)
}

function formsOf(secret: string): string[] {
  const forms = [secret, encodeURI(secret), encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  const url = /^https?:/i.test(secret) ? parseUrl(secret) : null
  if (!url) return forms
  // The secret part of a URL is its path.
  const { pathname, search } = url
  return [...forms, pathname + search, pathname, pathname.split('/').at(-1) ?? '']
}

/** Replaces the values of headers that may contain a secret by `…`. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isPublic(name, value) ? value : mark])
  )
}

/** The values of headers that may be secret, for an answer that repeats them. */
export function secretHeaderValues(headers: Readonly<Record<string, string>>): string[] {
  return (
    Object.entries(headers)
      .filter(([name, value]) => !isPublic(name, value))
      // The secret may follow a scheme such as `Bearer`.
      .flatMap(([name, value]) =>
        name === 'authorization' ? [value, value.split(' ').at(-1) ?? ''] : [value]
      )
  )
}

/** Operators cannot set headers of these names. */
function isPublic(name: string, value: string): boolean {
  if (name === 'content-type') return value === 'application/json'
  return name.startsWith('webhook-') || name.startsWith('x-cuewire-')
}

/**
 * Redacts an address: user, query and fragment may contain a token and become `…`, and so does the path
 * unless the caller may set the address.
 */
export function redactAddress(address: string, showsPath: boolean): string {
  const url = parseUrl(address)
  if (!url) return mark
  const { origin, pathname, search, hash, username, password } = url
  const hasTail = search !== '' || hash !== ''
  if (!hasTail && username === '' && password === '' && (showsPath || pathname === '/')) return address
  if (!showsPath) return `${origin}/${mark}`
  return hasTail ? `${origin}${pathname}?${mark}` : origin + pathname
}

/** Matches texts that are addresses. */
export const addressStart = /^[a-z][a-z\d+.-]*:\/\//i
/** The same for Postgres. */
export const urlSchemePattern = '^[A-Za-z][A-Za-z0-9+.-]*://'

/** Redacts an address for callers who may not set it; returns a file path as it is. */
export function redactLocation(location: string): string {
  return addressStart.test(location) ? redactAddress(location, false) : location
}

/** Shorter parts of an address are words, not tokens. */
const shortestToken = { inPath: 12, inQuery: 8 }

/** The parts of an address that may be tokens, in the forms in which an answer may repeat them. */
export function listAddressTokens(address: string): string[] {
  const url = parseUrl(address)
  if (!url) return []
  const { pathname, search, searchParams } = url
  const ofPath = [pathname + search, pathname, ...pathname.split('/')]
  return [
    ...ofPath.filter(({ length }) => length >= shortestToken.inPath),
    ...[...searchParams.values()].filter(({ length }) => length >= shortestToken.inQuery)
  ]
}
