import type { FollowOptions, NowPlaying } from '../client/interface.ts'

/** The address of the server that sent a file of a page, including a path in front of it. */
export function serverUrlOfFile(file: string): URL {
  const url = new URL('.', file)
  url.pathname = url.pathname.replace(/assets\/$/, '')
  return url
}

type Access = Pick<FollowOptions, 'server' | 'apiKey' | 'token'>

/** The origins of a server: as it is addressed, and as it names itself. */
const originsOf = ({ server }: Access, { station }: Pick<NowPlaying, 'station'>) =>
  [String(server ?? ''), station.public_player_url].flatMap(each =>
    URL.canParse(each) ? [new URL(each).origin] : []
  )

/**
 * The address of a stream, with the listen token of a private station if its server is this one. An API key is
 * never added, since proxies and streaming servers log addresses.
 */
export function authorizedStreamUrl(
  address: string,
  access: Access,
  np: Pick<NowPlaying, 'station'>
): string {
  const token = tokenFor(access, np)
  if (token === '' || !URL.canParse(address)) return address
  const url = new URL(address)
  if (!originsOf(access, np).includes(url.origin) || !url.pathname.includes('/listen/')) return address
  url.searchParams.set('token', token)
  return url.href
}

/** The listen token that addresses of a station need; empty if they need none. */
const tokenFor = ({ token }: Access, { station }: Pick<NowPlaying, 'station'>) =>
  typeof token === 'string' && !station.is_public ? token : ''

/**
 * The address of a cover, with the key or listen token of a private station. Returns an empty text for addresses of
 * other servers, which elements do not contact.
 */
export function authorizedArtUrl(address: string, access: Access, np: Pick<NowPlaying, 'station'>): string {
  if (!URL.canParse(address)) return ''
  const url = new URL(address)
  if (!originsOf(access, np).includes(url.origin)) return ''
  const { apiKey } = access
  const token = tokenFor(access, np)
  // The default cover has another path, and needs no key.
  if (!url.pathname.includes('/api/station/')) return url.href
  if (token !== '') url.searchParams.set('token', token)
  else if (apiKey) url.searchParams.set('api_key', apiKey)
  return url.href
}
