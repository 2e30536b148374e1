import { createHash } from 'node:crypto'

import type { Reply } from '../../http/route.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { runAction } from '../core/actions.ts'
import { changedWithoutValues } from '../core/audit.ts'
import { parsePathId } from '../core/parse.ts'
import { type ApiRequest, apiRoute, getRequestStation } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { serveStationPicture, type StoredPicture, pictureResponseDescription } from '../library/art.ts'
import type { ReceivedPicture } from '../library/picture-body.ts'
import { pictureRoutes } from '../library/picture-routes.ts'

const path = '/api/station/:station_id/streamer/:id/art'
const tag = 'Streamers'

const pictureRoute = (routePath: string, doc: { readonly id: string; readonly summary: string }) =>
  apiRoute('GET', routePath, 'public', {
    ...doc,
    tag,
    redirectsTo: 'To the built-in picture if there is none.',
    ...pictureResponseDescription,
    handle: (request, services) =>
      serveStationPicture(request, services, async (sql, stationId) => {
        const { id = '', art = 'art' } = request.params
        const [match, version = ''] = /^art(?:-(\w+))?$/.exec(art) ?? []
        if (match === undefined || !/^[1-9]\d{0,14}$/.test(id)) return null
        const [found] = await sql<StoredPicture[]>`
        select artwork as bytes, left(artwork_hash, 8) = ${version} as "isVersioned"
        from streamers where id = ${Number(id)} and station_id = ${stationId} and artwork is not null`
        return found ?? null
      })
  })

/** Any version is found; only the current one is cached for long. */
const read = pictureRoute('/api/station/:station_id/streamer/:id/:art.jpg', {
  id: 'getStreamerArt',
  summary: 'The picture of a streamer: art-<version>.jpg'
})
const readCurrent = pictureRoute(path, {
  id: 'getCurrentStreamerArt',
  summary: 'The current picture of a streamer'
})

/** Replaces the picture of the streamer in the path; null deletes it. Throws 404. */
async function storePicture(
  request: ApiRequest,
  services: ApiServices,
  picture: ReceivedPicture | null,
  reply: Reply
): Promise<Reply> {
  const id = parsePathId(request.params['id'])
  const { id: stationId } = getRequestStation(request)
  const hash = picture && createHash('sha256').update(picture.bytes).digest('hex')
  return runAction(request, services, async tx => {
    const [streamer] = await tx<{ name: string }[]>`
      update streamers set artwork = ${picture?.bytes ?? null}, artwork_type = ${picture?.type ?? null},
        artwork_hash = ${hash}
      where id = ${id} and station_id = ${stationId} returning streamer_username as name`
    if (!streamer) throw new ApiError('not-found')
    return {
      audit: [{ record: 'Streamer', id, name: streamer.name, changes: changedWithoutValues('artwork') }],
      reply
    }
  })
}

const changes = pictureRoutes({
  path,
  access: 'manage station streamers',
  tag,
  maxBytes: 2 * 2 ** 20,
  set: {
    id: 'setStreamerArt',
    summary: 'Set the picture of a streamer (at most 2 MiB), shown from the next broadcast'
  },
  remove: { id: 'deleteStreamerArt', summary: 'Delete the picture of a streamer' },
  store: storePicture
})

export const streamerArtRoutes = [...changes, read, readCurrent]
