import { markPartsShowingMedia } from '../../engine/queue/media-changes.ts'
import type { Reply } from '../../http/route.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { correctedCoverAssignment } from '../../stores/db/library/corrections.ts'
import { createCover, storeCovers } from '../../stores/db/library/media-rows.ts'
import { runStationAction } from '../core/actions.ts'
import { changedWithoutValues } from '../core/audit.ts'
import type { ApiRequest } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { hasMediaIdentifierFragment, parseMediaIdentifier } from './media-identifier.ts'
import type { ReceivedPicture } from './picture-body.ts'
import { pictureRoutes } from './picture-routes.ts'

async function storeCover(
  request: ApiRequest,
  services: ApiServices,
  picture: ReceivedPicture | null,
  reply: Reply
): Promise<Reply> {
  const cover = picture && createCover(picture.bytes, picture.type)
  const name = parseMediaIdentifier(request.params['art'])
  return runStationAction(request, services, async change => {
    const { tx, station } = change
    if (cover) await storeCovers(tx, [cover])
    const [media] = await tx<{ id: number; title: string }[]>`
      update media m set artwork_hash = ${cover?.hash ?? null}, ${correctedCoverAssignment(tx)}
      where ${hasMediaIdentifierFragment(tx, { ...name, songId: '' })} and station_id = ${station.id} and remote_playlist_id is null
      returning id, title`
    if (!media) throw new ApiError('not-found')
    await markPartsShowingMedia(change, media.id)
    return {
      audit: [
        { record: 'StationFile', id: media.id, name: media.title, changes: changedWithoutValues('art') }
      ],
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
