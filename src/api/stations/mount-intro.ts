import { type StationAudioSlot, openStationFolder } from '../../library/uploads/station-audio.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { parsePathId } from '../core/parse.ts'
import { type ApiRequest, getRequestStation } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { stationAudioRoutes } from '../library/audio-routes.ts'

/*
 * The intro of a mount is played by Icecast to each listener who connects. `scripts/radio-setup.mjs` puts it where
 * Icecast reads it.
 */

const path = '/api/station/:station_id/mount/:id/intro'

/** Reads the name of the intro of the mount in the path; empty if it has none. Throws 404 for an unknown mount. */
async function readName(request: ApiRequest, { reads: sql }: ApiServices): Promise<string> {
  const [mount] = await sql<{ name: string }[]>`
    select intro_path as name from hls_streams
    where id = ${parsePathId(request.params['id'])} and station_id = ${getRequestStation(request).id}`
  if (!mount) throw new ApiError('not-found')
  return mount.name
}

/** The intro of the mount in the path. */
function introOf(request: ApiRequest): StationAudioSlot {
  const id = parsePathId(request.params['id'])
  return {
    baseName: `intro-${id}`,
    async replaceName(tx, name) {
      const [mount] = await tx<{ name: string }[]>`
        select intro_path as name from hls_streams where id = ${id} and station_id = ${getRequestStation(request).id} for update`
      if (!mount) throw new ApiError('not-found')
      await tx`update hls_streams set intro_path = ${name} where id = ${id}`
      return mount.name
    }
  }
}

export const mountIntroRoutes = stationAudioRoutes({
  path,
  tag: 'Mounts',
  maxMebibytes: 20,
  write: 'manage station mounts',
  download: {
    path,
    access: 'view station management',
    id: 'downloadMountIntro',
    summary: 'The intro of a mount'
  },
  set: {
    id: 'setMountIntro',
    summary: 'Set the audio that a new listener of a mount hears first, in its format'
  },
  remove: { id: 'deleteMountIntro', summary: 'Remove the intro of a mount' },
  readName,
  findSlot: introOf,
  async audit({ params }, tx) {
    const id = parsePathId(params['id'])
    const [mount] = await tx<{ name: string }[]>`select name from hls_streams where id = ${id}`
    return { record: 'HlsStream', id, name: mount?.name, field: 'intro' }
  },
  missing: 'The mount has no intro.'
})

/** Deletes a mount with its intro. Throws 404 for an unknown mount. */
export async function deleteMountWithIntro(
  request: ApiRequest,
  services: ApiServices,
  deleteRow: () => Promise<void>
): Promise<void> {
  const name = await readName(request, services)
  await deleteRow()
  if (name !== '') await (await openStationFolder(services, getRequestStation(request).id)).files.remove(name)
}
