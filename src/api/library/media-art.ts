import { markPlaylistParts } from '../../engine/queue/media.ts'
import type { Reply } from '../../http/route.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { withCorrectedCover } from '../../stores/db/library/corrections.ts'
import { createArtwork, insertArtwork } from '../../stores/db/library/media-rows.ts'
import { runStationAction } from '../core/actions.ts'
import { changed } from '../core/audit.ts'
import type { ApiRequest } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { hasMediaName, parseMediaName } from './media-name.ts'
import type { ReceivedPicture } from './picture-body.ts'
import { pictureRoutes } from './picture-routes.ts'

async function storeCover(
  request: ApiRequest,
  services: ApiServices,
  picture: ReceivedPicture | null,
  reply: Reply
): Promise<Reply> {
  const cover = picture && createArtwork(picture.bytes, picture.type)
  const name = parseMediaName(request.params['art'])
  return runStationAction(request, services, async change => {
    const { tx, station } = change
    if (cover) await insertArtwork(tx, [cover])
    const [media] = await tx<{ id: number; title: string }[]>`
      update media m set artwork_hash = ${cover?.hash ?? null}, ${withCorrectedCover(tx)}
      where ${hasMediaName(tx, { ...name, songId: '' })} and station_id = ${station.id} and remote_playlist_id is null
      returning id, title`
    if (!media) throw new ApiError('not-found')
    await markPlaylistParts(change, media.id)
    return {
      audit: [{ record: 'StationFile', id: media.id, name: media.title, changes: changed('art') }],
      reply
    }
  })
}

export const mediaArtRoutes = pictureRoutes({
  path: '/api/station/:station_id/art/:art',
  access: 'manage station media',
  tag: 'Files',
  maxBytes: 5 * 2 ** 20,
  set: {
    id: 'setFileArt',
    summary: 'Set the cover of a song by its id or unique id (JPEG, PNG, WebP or GIF, at most 5 MiB)'
  },
  remove: { id: 'deleteFileArt', summary: 'Remove the cover of a song by its id or unique id' },
  store: storeCover
})
