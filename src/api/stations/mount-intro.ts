import { ApiError } from '../../runtime/errors.ts'
import { type AudioSlot, openStationFolder, removeAudio, storeAudio } from '../../uploads/station-audio.ts'
import { recordAudit } from '../core/audit.ts'
import { parseId } from '../core/parse.ts'
import { actionReply, type ApiRequest, type ApiRoute, apiRoute, stationOf } from '../core/route.ts'
import { ref } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { sendStoredFile } from '../library/file-content.ts'
import { withReceivedFile } from '../library/received-file.ts'

/*
 * The intro of a mount is played by Icecast to each listener who connects. `scripts/radio-setup.mjs` puts it where Icecast
 * reads it.
 */

const path = '/api/station/:station_id/mount/:id/intro'
const tag = 'Mounts'
const write = 'manage station mounts'
const maxBytes = 20 * 1024 * 1024

/** Reads the name of the intro of the mount in the path; empty if it has none. Throws 404 for an unknown mount. */
async function readName(request: ApiRequest, { reads: sql }: ApiServices): Promise<string> {
  const [mount] = await sql<{ name: string }[]>`
    select intro_path as name from hls_streams
    where id = ${parseId(request.params['id'])} and station_id = ${stationOf(request).id}`
  if (!mount) throw new ApiError('not-found')
  return mount.name
}

/** The intro of the mount in the path. A change of it is in the audit log. */
function introOf(request: ApiRequest): AudioSlot {
  const id = parseId(request.params['id'])
  return {
    baseName: `intro-${id}`,
    async replaceName(tx, name) {
      const [mount] = await tx<{ name: string }[]>`
        select intro_path as name from hls_streams where id = ${id} and station_id = ${stationOf(request).id} for update`
      if (!mount) throw new ApiError('not-found')
      await tx`update hls_streams set intro_path = ${name} where id = ${id}`
      await recordAudit(tx, request, { record: 'HlsStream', id, fields: ['intro'] })
      return mount.name
    }
  }
}

const download = apiRoute('GET', path, 'view station management', {
  id: 'downloadMountIntro',
  tag,
  summary: 'The intro of a mount; ranges are possible',
  answer: { type: 'string', format: 'binary' },
  contentTypes: ['application/octet-stream'],
  errors: [404, 416],
  headers: ['range'],
  async handle(request, services) {
    const name = await readName(request, services)
    if (name === '') throw new ApiError('not-found', 'The mount has no intro.')
    return sendStoredFile(request, () => openStationFolder(services, stationOf(request).id), name, name)
  }
})

const upload = apiRoute('POST', path, write, {
  id: 'setMountIntro',
  tag,
  summary:
    'Set the audio that a new listener of a mount hears first, in its format (a form with `file`, or the bytes; at most 20 MiB)',
  answer: ref('ActionResult'),
  errors: [413, 507],
  isStreamed: true,
  headers: ['content-type'],
  async handle(request, services) {
    await readName(request, services)
    await withReceivedFile(request, services, maxBytes, file =>
      storeAudio(services, stationOf(request).id, introOf(request), file)
    )
    return actionReply('Record updated successfully.')
  }
})

const remove = apiRoute('DELETE', path, write, {
  id: 'deleteMountIntro',
  tag,
  summary: 'Remove the intro of a mount',
  answer: ref('ActionResult'),
  async handle(request, services) {
    await removeAudio(services, stationOf(request).id, introOf(request))
    return actionReply('Record deleted successfully.')
  }
})

/** The same route; the deletion of a mount also removes its intro. */
export function withoutIntro(route: ApiRoute): ApiRoute {
  if (route.method !== 'DELETE') return route
  return {
    ...route,
    handle: async (request, services) => {
      const name = await readName(request, services)
      const reply = await route.handle(request, services)
      if (name !== '') await (await openStationFolder(services, stationOf(request).id)).files.remove(name)
      return reply
    }
  }
}

export const mountIntroRoutes = [download, upload, remove]
