import type { FollowOptions, NowPlaying } from '../client/interface.ts'

/** The address of the server that sent a file of a page, including a path in front of it. */
export function serverUrl(file: string): URL {
  const url = new URL('.', file)
  url.pathname = url.pathname.replace(/assets\/$/, '')
  return url
}

/**
 * The address of a cover, with the key of a private station. Returns an empty text for addresses of other
 * servers, which elements do not contact.
 */
export function artUrl(
  address: string,
  { server, apiKey }: Pick<FollowOptions, 'server' | 'apiKey'>,
  { station }: Pick<NowPlaying, 'station'>
): string {
  if (!URL.canParse(address)) return ''
  const url = new URL(address)
  const origins = [String(server ?? ''), station.public_player_url].flatMap(each =>
    URL.canParse(each) ? [new URL(each).origin] : []
  )
  if (!origins.includes(url.origin)) return ''
  // The default cover has another path, and needs no key.
  if (apiKey && url.pathname.includes('/api/station/')) url.searchParams.set('api_key', apiKey)
  return url.href
}
