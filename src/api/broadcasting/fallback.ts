import { ApiError } from '../../runtime/errors.ts'
import { type AudioSlot, openStationFolder, removeAudio, storeAudio } from '../../uploads/station-audio.ts'
import { recordAudit } from '../core/audit.ts'
import { actionReply, type ApiRequest, apiRoute, json, stationOf } from '../core/route.ts'
import { boolean, exactly, ref, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { sendStoredFile } from '../library/file-content.ts'
import { withReceivedFile } from '../library/received-file.ts'

const path = '/api/station/:station_id/fallback'
const tag = 'Broadcasting'
const access = 'manage station broadcasting'
const maxBytes = 100 * 1024 * 1024

export const uploadedFileSchema = exactly({
  hasRecord: boolean,
  url: { ...string, type: ['string', 'null'], description: 'Where to download it; null: there is none.' }
})

/** The name of the fallback track of the station in the path; empty if there is none. */
async function readName(request: ApiRequest, { reads: sql }: ApiServices): Promise<string> {
  const [station] = await sql<{ name: string }[]>`
    select fallback_path as name from stations where id = ${stationOf(request).id}`
  return station?.name ?? ''
}

/** The fallback track of the station in the path. A change of it is in the audit log. */
function fallbackOf(request: ApiRequest): AudioSlot {
  const { id } = stationOf(request)
  return {
    baseName: 'fallback',
    async replaceName(tx, name) {
      const [station] = await tx<
        { name: string }[]
      >`select fallback_path as name from stations where id = ${id}`
      await tx`update stations set fallback_path = ${name} where id = ${id}`
      await recordAudit(tx, request, { record: 'Station', id, fields: ['fallback'] })
      return station?.name ?? ''
    }
  }
}

const read = apiRoute('GET', path, access, {
  id: 'getFallback',
  tag,
  summary: 'Whether the station has a fallback track, and its address',
  answer: ref('UploadedFile'),
  async handle(request, services) {
    const hasRecord = (await readName(request, services)) !== ''
    const url = `${services.config.BASE_URL}/api/station/${stationOf(request).id}/fallback/download`
    return json({ hasRecord, url: hasRecord ? url : null })
  }
})

const download = apiRoute('GET', `${path}/download`, access, {
  id: 'downloadFallback',
  tag,
  summary: 'The fallback track; ranges are possible',
  answer: { type: 'string', format: 'binary' },
  contentTypes: ['application/octet-stream'],
  errors: [404, 416],
  headers: ['range'],
  async handle(request, services) {
    const name = await readName(request, services)
    if (name === '') throw new ApiError('not-found')
    return sendStoredFile(request, () => openStationFolder(services, stationOf(request).id), name, name)
  }
})

const upload = apiRoute('POST', path, access, {
  id: 'setFallback',
  tag,
  summary:
    'Set the track that Liquidsoap loops while it has nothing else (a form with `file`, or the bytes; at most 100 MiB)',
  answer: ref('ActionResult'),
  errors: [413, 507],
  isStreamed: true,
  headers: ['content-type'],
  async handle(request, services) {
    await withReceivedFile(request, services, maxBytes, file =>
      storeAudio(services, stationOf(request).id, fallbackOf(request), file)
    )
    return actionReply('Record updated successfully.')
  }
})

const remove = apiRoute('DELETE', path, access, {
  id: 'deleteFallback',
  tag,
  summary: 'Remove the fallback track',
  answer: ref('ActionResult'),
  async handle(request, services) {
    await removeAudio(services, stationOf(request).id, fallbackOf(request))
    return actionReply('Record deleted successfully.')
  }
})

export const fallbackRoutes = [read, download, upload, remove]
