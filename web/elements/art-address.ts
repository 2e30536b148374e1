import type { FollowOptions, NowPlaying } from '../client/interface.ts'

/** Where stations' own pictures are. The built-in one is for everybody. */
const stationArt = '/api/station/'

/**
 * The address of a picture, as an element may ask for it: nothing but what is on the Cuewire server, under
 * whichever of its names, and with the key that the pictures of a private station need. Empty for anything
 * else.
 */
export function artAddress(
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
  if (apiKey && url.pathname.includes(stationArt)) url.searchParams.set('api_key', apiKey)
  return url.href
}
