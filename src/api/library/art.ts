import { readFileSync } from 'node:fs'

import type { Sql } from '../../db/sql.ts'
import { programFile } from '../../runtime/program-files.ts'
import { imageTypes } from '../../songs/image-type.ts'
import { genericArtPath } from '../../station/now-playing.ts'
import { maySeeStation } from '../auth/access.ts'
import type { ApiRequest, ApiRoute, Reply } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'

const generic = readFileSync(programFile('assets/generic_song.jpg'))

const image = (contentType: string, maxAgeSeconds: number) => ({
  'Content-Type': contentType,
  'Cache-Control': `public, max-age=${maxAgeSeconds}`
})

/** What the documentation says of routes that answer a picture. */
export const pictureAnswer = {
  answer: { type: 'string', format: 'binary' },
  contentTypes: imageTypes
}

/** A picture, and whether its address names this very one: then it may be kept. */
export interface Picture {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly isVersioned: boolean
}

/**
 * Answers a picture of the station that the path names, or sends to the built-in one, which is never a 404:
 * where `find` gives none, and where the caller may not know of the station, whom `find` is not asked for.
 */
export async function answerPicture(
  { params, apiKey, address }: ApiRequest,
  { publicReads: sql, live, config, keys }: ApiServices,
  find: (sql: Sql, stationId: number) => Promise<Picture | null>
): Promise<Reply> {
  const station = live.get(params['station_id'] ?? '')
  const isPublic = station?.profile.isPublic ?? false
  const key = isPublic ? null : await keys.listener(apiKey, address)
  const isVisible = station && maySeeStation(key, { id: station.stationId, isPublic })
  const found = isVisible ? await find(sql, station.stationId) : null
  if (!found) return { status: 302, headers: { Location: config.BASE_URL + genericArtPath } }
  const headers = image(found.contentType, found.isVersioned ? 31_536_000 : 300)
  return {
    body: found.bytes,
    headers: isPublic ? headers : { ...headers, 'Cache-Control': 'private, no-store' }
  }
}

const genericSong: ApiRoute = {
  method: 'GET',
  path: genericArtPath,
  access: 'public',
  operation: {
    id: 'getGenericArt',
    tag: 'Now playing',
    summary: 'The picture of songs without a cover',
    ...pictureAnswer
  },
  handle: () => ({ body: generic, headers: image('image/jpeg', 86_400) })
}

/**
 * A song's cover: `<unique id>`, `<unique id>.jpg` or `<unique id>-<version>.jpg`, found under any spelling
 * of the version. What has no cover, or is not known (players ask for `-1`), shows the built-in image; never
 * a 404. So does a private station's to a caller without a key.
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
    ...pictureAnswer
  },
  handle: (request, services) =>
    answerPicture(request, services, async (sql, stationId) => {
      const art = request.params['art'] ?? ''
      const [, uniqueId, version] = /^([0-9a-f]{24})(?:-(\w+))?(?:\.jpg)?$/.exec(art) ?? []
      if (uniqueId === undefined) return null
      const [found] = await sql<Omit<Picture, 'isVersioned'>[]>`
        select a.bytes, a.content_type as "contentType"
        from media m join artwork a on a.hash = m.artwork_hash
        where m.unique_id = ${uniqueId} and m.station_id = ${stationId}`
      return found ? { ...found, isVersioned: version !== undefined } : null
    })
}

export const artRoutes = [genericSong, cover]
