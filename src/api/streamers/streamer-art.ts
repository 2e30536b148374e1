import { createHash } from 'node:crypto'

import { beginForStation } from '../../db/begin-for-station.ts'
import type { Sql } from '../../db/sql.ts'
import { ApiError } from '../../runtime/errors.ts'
import { type ImageType, imageType, imageTypes } from '../../songs/image-type.ts'
import { recordAudit } from '../core/audit.ts'
import { parseId } from '../core/parse.ts'
import { actionResult, type ApiRequest, type ApiRoute, stationOf } from '../core/route.ts'
import { sendPicture, type Picture, pictureAnswer } from '../library/art.ts'

const maxBytes = 2 * 1024 * 1024
const path = '/api/station/:station_id/streamer/:id/art'
const access = 'manage station streamers'
const tag = 'Streamers'
const answer = { $ref: '#/components/schemas/ActionResult' }

const upload: ApiRoute = {
  method: 'POST',
  path,
  access,
  byteTypes: imageTypes,
  maxBodyBytes: maxBytes,
  operation: {
    id: 'setStreamerArt',
    tag,
    summary: 'Give a streamer a picture of at most 2 MiB; it shows from the next broadcast on',
    body: { type: 'string', format: 'binary' },
    answer
  },
  async handle(request, { sql }) {
    const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array()
    const type = imageType(bytes)
    if (type === null) {
      const message = 'The body is no picture: it must be a JPEG, PNG, WebP or GIF.'
      throw ApiError.ofFields([{ field: '', code: 'invalid_format', message }])
    }
    await keepPicture(sql, request, { bytes, type })
    return actionResult('Record updated successfully.')
  }
}

const remove: ApiRoute = {
  method: 'DELETE',
  path,
  access,
  operation: { id: 'deleteStreamerArt', tag, summary: 'Take the picture of a streamer away', answer },
  async handle(request, { sql }) {
    await keepPicture(sql, request, null)
    return actionResult('Record deleted successfully.')
  }
}

/** Found under any version; only the address with the one that the streamer has may be kept. */
const read: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/streamer/:id/:art.jpg',
  access: 'public',
  operation: {
    id: 'getStreamerArt',
    tag,
    summary: 'The picture of a streamer: art-<version>.jpg',
    redirectsTo: 'To the built-in picture, where there is none.',
    ...pictureAnswer
  },
  handle: (request, services) =>
    sendPicture(request, services, async (sql, stationId) => {
      const { id = '', art = '' } = request.params
      const named = /^art(?:-(\w+))?$/.exec(art)
      if (!named || !/^[1-9]\d{0,14}$/.test(id)) return null
      const [found] = await sql<Picture[]>`
        select artwork as bytes, artwork_type as "contentType",
          left(artwork_hash, 8) = ${named[1] ?? ''} as "isVersioned"
        from streamers where id = ${Number(id)} and station_id = ${stationId} and artwork is not null`
      return found ?? null
    })
}

/** Replaces the picture of the streamer that the path names; null takes it away. Throws 404. */
async function keepPicture(
  sql: Sql,
  request: ApiRequest,
  picture: { readonly bytes: Uint8Array; readonly type: ImageType } | null
): Promise<void> {
  const id = parseId(request.params['id'])
  const hash = picture && createHash('sha256').update(picture.bytes).digest('hex')
  await beginForStation(sql, stationOf(request).id, async tx => {
    const { count } = await tx`
      update streamers set artwork = ${picture?.bytes ?? null}, artwork_type = ${picture?.type ?? null},
        artwork_hash = ${hash}
      where id = ${id} and station_id = ${stationOf(request).id}`
    if (count === 0) throw new ApiError('not-found')
    await recordAudit(tx, request, { record: 'Streamer', id, fields: ['artwork'] })
  })
}

export const streamerArtRoutes = [upload, remove, read]
