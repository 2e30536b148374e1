import { readFileSync } from 'node:fs'

import { genericArtPath } from '../station/now-playing.ts'
import { mayListenTo } from './access.ts'
import type { ApiRoute } from './route.ts'

const generic = readFileSync(new URL('../../assets/generic_song.jpg', import.meta.url))

const image = (contentType: string, maxAgeSeconds: number) => ({
  'Content-Type': contentType,
  'Cache-Control': `public, max-age=${maxAgeSeconds}`,
  // Covers come out of files anybody may have made: never let a browser guess.
  'X-Content-Type-Options': 'nosniff'
})

const picture = {
  answer: { type: 'string', format: 'binary' },
  contentTypes: ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
}

const genericSong: ApiRoute = {
  method: 'GET',
  path: genericArtPath,
  access: 'public',
  operation: {
    id: 'getGenericArt',
    tag: 'Now playing',
    summary: 'The picture of songs without a cover',
    ...picture
  },
  handle: () => ({ body: generic, headers: image('image/jpeg', 86_400) })
}

/**
 * A song's cover: `<unique id>`, `<unique id>.jpg` or `<unique id>-<version>.jpg`, found under any spelling of the
 * version. What has no cover, or is not known (players ask for `-1`), shows the built-in image; never a 404. So does a
 * private station's to a caller without a key.
 */
const cover: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/art/:art',
  access: 'public',
  operation: {
    id: 'getArt',
    tag: 'Now playing',
    summary: "A song's cover",
    redirectsTo: 'To the built-in picture, where there is no cover.',
    ...picture
  },
  async handle({ params, apiKey, address }, { reads: sql, live, config, keys }) {
    const [, uniqueId, version] = /^([0-9a-f]{24})(?:-(\w+))?(?:\.jpg)?$/.exec(params['art'] ?? '') ?? []
    const station = live.get(params['station_id'] ?? '')
    const isPublic = station?.profile.isPublic ?? false
    const key = isPublic ? null : await keys.listener(apiKey, address)
    const isVisible = station && (isPublic || (key && mayListenTo(key, station.stationId)))
    const [found] =
      uniqueId && station && isVisible
        ? await sql<{ bytes: Uint8Array; contentType: string }[]>`
            select a.bytes, a.content_type as "contentType"
            from media m join artwork a on a.hash = m.artwork_hash
            where m.unique_id = ${uniqueId} and m.station_id = ${station.stationId}`
        : []
    if (!found) return { status: 302, headers: { Location: config.BASE_URL + genericArtPath } }
    const headers = image(found.contentType, version ? 31_536_000 : 300)
    return {
      body: found.bytes,
      headers: isPublic ? headers : { ...headers, 'Cache-Control': 'private, no-store' }
    }
  }
}

export const artRoutes = [genericSong, cover]
