import { createHash } from 'node:crypto'

import { beginForStation } from '../../db/begin-for-station.ts'
import type { Sql } from '../../db/sql.ts'
import { ApiError } from '../../runtime/errors.ts'
import { type ImageType, detectImageType, imageTypes } from '../../songs/image-type.ts'
import { recordAudit } from '../core/audit.ts'
import { parseId, refuseBody } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute, stationOf } from '../core/route.ts'
import { servePicture, type Picture, pictureOperation } from '../library/art.ts'

const maxBytes = 2 * 1024 * 1024
const path = '/api/station/:station_id/streamer/:id/art'
const access = 'manage station streamers'
const tag = 'Streamers'
const answer = { $ref: '#/components/schemas/ActionResult' }

const upload = apiRoute('POST', path, access, {
  id: 'setStreamerArt',
  tag,
  summary: 'Set the picture of a streamer (at most 2 MiB), shown from the next broadcast',
  body: { type: 'string', format: 'binary' },
  answer,
  byteTypes: imageTypes,
  maxBodyBytes: maxBytes,
  async handle(request, { sql }) {
    const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array()
    const type = detectImageType(bytes)
    if (type === null) refuseBody('invalid_format', 'The body must be a JPEG, PNG, WebP or GIF picture.')
    await storePicture(sql, request, { bytes, type })
    return actionReply('Record updated successfully.')
  }
})

const remove = apiRoute('DELETE', path, access, {
  id: 'deleteStreamerArt',
  tag,
  summary: 'Delete the picture of a streamer',
  answer,
  async handle(request, { sql }) {
    await storePicture(sql, request, null)
    return actionReply('Record deleted successfully.')
  }
})

const pictureRoute = (routePath: string, doc: { readonly id: string; readonly summary: string }) =>
  apiRoute('GET', routePath, 'public', {
    ...doc,
    tag,
    redirectsTo: 'To the built-in picture if there is none.',
    ...pictureOperation,
    handle: (request, services) =>
      servePicture(request, services, async (sql, stationId) => {
        const { id = '', art = 'art' } = request.params
        const [match, version = ''] = /^art(?:-(\w+))?$/.exec(art) ?? []
        if (match === undefined || !/^[1-9]\d{0,14}$/.test(id)) return null
        const [found] = await sql<Picture[]>`
        select artwork as bytes, artwork_type as "contentType",
          left(artwork_hash, 8) = ${version} as "isVersioned"
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
  sql: Sql,
  request: ApiRequest,
  picture: { readonly bytes: Uint8Array; readonly type: ImageType } | null
): Promise<void> {
  const id = parseId(request.params['id'])
  const { id: stationId } = stationOf(request)
  const hash = picture && createHash('sha256').update(picture.bytes).digest('hex')
  await beginForStation(sql, stationId, async tx => {
    const { count } = await tx`
      update streamers set artwork = ${picture?.bytes ?? null}, artwork_type = ${picture?.type ?? null},
        artwork_hash = ${hash}
      where id = ${id} and station_id = ${stationId}`
    if (count === 0) throw new ApiError('not-found')
    await recordAudit(tx, request, { record: 'Streamer', id, fields: ['artwork'] })
  })
}

export const streamerArtRoutes = [upload, remove, read, readCurrent]
