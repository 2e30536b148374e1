import { createArtwork, insertArtwork } from '../../db/media-rows.ts'
import { changeStation } from '../../playout/change-station.ts'
import { markPartsOf } from '../../playout/queue/media.ts'
import { ApiError } from '../../runtime/errors.ts'
import { detectImageType, imageTypes } from '../../songs/image-type.ts'
import { recordAudit } from '../core/audit.ts'
import { refuseBody } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute, stationOf } from '../core/route.ts'
import { ref } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { hasMediaName, parseMediaName } from './media-name.ts'

const maxBytes = 5 * 1024 * 1024
const path = '/api/station/:station_id/art/:art'
const access = 'manage station media'
const tag = 'Files'

const upload = apiRoute('POST', path, access, {
  id: 'setFileArt',
  tag,
  summary: 'Set the cover of a song by its id or unique id (JPEG, PNG, WebP or GIF, at most 5 MiB)',
  body: { type: 'string', format: 'binary' },
  answer: ref('ActionResult'),
  byteTypes: imageTypes,
  maxBodyBytes: maxBytes,
  async handle(request, services) {
    const bytes = request.body instanceof Uint8Array ? request.body : new Uint8Array()
    const type = detectImageType(bytes)
    if (type === null) refuseBody('invalid_format', 'The body must be a JPEG, PNG, WebP or GIF picture.')
    await storeCover(request, services, createArtwork(Buffer.from(bytes), type))
    return actionReply('Record updated successfully.')
  }
})

const remove = apiRoute('DELETE', path, access, {
  id: 'deleteFileArt',
  tag,
  summary: 'Remove the cover of a song by its id or unique id',
  answer: ref('ActionResult'),
  async handle(request, services) {
    await storeCover(request, services, null)
    return actionReply('Record deleted successfully.')
  }
})

async function storeCover(
  request: ApiRequest,
  services: ApiServices,
  cover: ReturnType<typeof createArtwork> | null
): Promise<void> {
  const name = parseMediaName(request.params['art'])
  await changeStation(services, stationOf(request).id, async change => {
    const { tx, station } = change
    if (cover) await insertArtwork(tx, [cover])
    const [media] = await tx<{ id: number }[]>`
      update media m set artwork_hash = ${cover?.hash ?? null}
      where ${hasMediaName(tx, { ...name, songId: '' })} and station_id = ${station.id} and remote_playlist_id is null
      returning id`
    if (!media) throw new ApiError('not-found')
    const { id } = media
    await markPartsOf(change, id)
    await recordAudit(tx, request, { record: 'StationFile', id, fields: ['art'] })
  })
}

export const mediaArtRoutes = [upload, remove]
