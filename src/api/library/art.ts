import { readFileSync } from 'node:fs'

import type { Reply } from '../../http/route.ts'
import { detectImageType, imageTypes } from '../../model/songs/image-type.ts'
import { genericArtPath } from '../../model/station/now-playing.ts'
import { projectFileUrl } from '../../platform/process/program-files.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { toRequestCredential, openVisibilityFilter } from '../auth/public-request.ts'
import { type ApiRequest, apiRoute } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { readCustomAsset } from './custom-asset-rows.ts'

const genericCover = readFileSync(projectFileUrl('assets/generic_song.jpg'))

/**
 * Responds with a picture that somebody has uploaded, with the type that its bytes have, whatever was stored with it. A
 * browser that shows it by itself runs nothing in it. Null if it is no picture.
 */
export function pictureReply(bytes: Uint8Array, cacheControl: string): Reply | null {
  const type = detectImageType(bytes)
  const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
  return (
    type && {
      body: bytes,
      headers: { 'Content-Type': type, 'Cache-Control': cacheControl, 'Content-Security-Policy': policy }
    }
  )
}

const publicFor = (seconds: number) => `public, max-age=${seconds}`

/** The OpenAPI description of routes that return a picture. */
export const pictureResponseDescription = {
  response: { type: 'string', format: 'binary' },
  contentTypes: imageTypes
}

export interface StoredPicture {
  readonly bytes: Uint8Array
  /** The URL contains the version of this picture, so the response can be cached for a year. */
  readonly isVersioned: boolean
}

/**
 * Responds with a picture of the station in the path. Redirects to the built-in picture, never 404, if `find`
 * returns null or the caller has no access to the station; then `find` is not called.
 */
export async function serveStationPicture(
  request: ApiRequest,
  { publicReads: sql, live, config, keys, listenTokens }: ApiServices,
  find: (sql: Sql, stationId: number) => Promise<StoredPicture | null>
): Promise<Reply> {
  const station = live.find(request.params['station_id'] ?? '')
  const isPublic = station?.isPublic ?? false
  const isVisible = isPublic
    ? () => true
    : await openVisibilityFilter(toRequestCredential(request), { keys, listenTokens })
  const found = station && isVisible(station) ? await find(sql, station.stationId) : null
  const cacheControl = isPublic ? publicFor(found?.isVersioned ? 31_536_000 : 300) : 'private, no-store'
  const picture = found && pictureReply(found.bytes, cacheControl)
  return picture ?? { status: 302, headers: { Location: config.BASE_URL + genericArtPath } }
}

/** It may be replaced at any time. */
const maxAgeSeconds = 300

const genericSong = apiRoute('GET', genericArtPath, 'public', {
  id: 'getGenericArt',
  tag: 'Now playing',
  summary: 'The picture for songs without a cover',
  ...pictureResponseDescription,
  redirectsTo: 'To the picture of the settings, if they name one and none was uploaded.',
  async handle(_, { publicReads: sql, settings }) {
    const { default_album_art_url: url, assets } = await settings.read()
    const { album_art: hash } = assets
    const asset = hash === undefined ? null : await readCustomAsset(sql, hash).catch(() => null)
    const cacheControl = publicFor(maxAgeSeconds)
    const picture = asset && pictureReply(asset.bytes, cacheControl)
    if (picture) return picture
    if (url !== '') return { status: 302, headers: { Location: url, 'Cache-Control': cacheControl } }
    return { body: genericCover, headers: { 'Content-Type': 'image/jpeg', 'Cache-Control': cacheControl } }
  }
})

/**
 * The cover of a song, `<unique id>`, `<unique id>.jpg` or `<unique id>-<version>.jpg`. The id is that of a file of the
 * station, which may also be its number, or of a lookup (`src/library/covers`); the version is ignored. Returns the
 * built-in picture if the song is unknown (players request `-1`) or has no cover.
 */
const cover = apiRoute('GET', '/api/station/:station_id/art/:art', 'public', {
  id: 'getArt',
  tag: 'Now playing',
  summary: 'The cover of a song',
  redirectsTo: 'To the built-in picture if there is no cover.',
  ...pictureResponseDescription,
  handle: (request, services) =>
    serveStationPicture(request, services, async (sql, stationId) => {
      const art = request.params['art'] ?? ''
      const [, id = '-1', uniqueId = '', version] =
        /^(?:(0|[1-9]\d{0,14})|([0-9a-f]{24}))(?:-(\w+))?(?:\.jpg)?$/.exec(art) ?? []
      if (id === '-1' && uniqueId === '') return null
      const [found] = await sql<Omit<StoredPicture, 'isVersioned'>[]>`
        select a.bytes
        from (
          select artwork_hash from media
          where (unique_id = ${uniqueId} or id = ${Number(id)}) and station_id = ${stationId}
          union all
          select artwork_hash from cover_lookups where unique_id = ${uniqueId}
        ) found join artwork a on a.hash = found.artwork_hash`
      return found ? { ...found, isVersioned: uniqueId !== '' && version !== undefined } : null
    })
})

export const artRoutes = [genericSong, cover]
