import type { StationAudioSlot } from '../../library/uploads/station-audio.ts'
import { type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { boolean, exactObject, namedSchema, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { stationAudioRoutes } from '../library/audio-routes.ts'

const path = '/api/station/:station_id/fallback'
const tag = 'Broadcasting'
const access = 'manage station broadcasting'

const uploadedFileSchema = namedSchema(
  'UploadedFile',
  'Whether there is a file, and its address.',
  exactObject({
    hasRecord: boolean,
    url: { ...string, type: ['string', 'null'], description: 'Where to download it; null: there is none.' }
  })
)

/** The name of the fallback track of the station in the path; empty if there is none. */
async function readName(request: ApiRequest, { reads: sql }: ApiServices): Promise<string> {
  const [station] = await sql<{ name: string }[]>`
    select fallback_path as name from stations where id = ${getRequestStation(request).id}`
  return station?.name ?? ''
}

/** The fallback track of the station in the path. */
function fallbackOf(request: ApiRequest): StationAudioSlot {
  const { id } = getRequestStation(request)
  return {
    baseName: 'fallback',
    async replaceName(tx, name) {
      const [station] = await tx<
        { name: string }[]
      >`select fallback_path as name from stations where id = ${id}`
      await tx`update stations set fallback_path = ${name} where id = ${id}`
      return station?.name ?? ''
    }
  }
}

const read = apiRoute('GET', path, access, {
  id: 'getFallback',
  tag,
  summary: 'Whether the station has a fallback track, and its address',
  response: uploadedFileSchema,
  async handle(request, services) {
    const hasRecord = (await readName(request, services)) !== ''
    const url = `${services.config.BASE_URL}/api/station/${getRequestStation(request).id}/fallback/download`
    return jsonReply({ hasRecord, url: hasRecord ? url : null })
  }
})

const routes = stationAudioRoutes({
  path,
  tag,
  maxMebibytes: 100,
  write: access,
  download: {
    path: `${path}/download`,
    access,
    id: 'downloadFallback',
    summary: 'The fallback track'
  },
  set: { id: 'setFallback', summary: 'Set the track that Liquidsoap loops while it has nothing else' },
  remove: { id: 'deleteFallback', summary: 'Remove the fallback track' },
  readName,
  findSlot: fallbackOf,
  audit: async request => ({ record: 'Station', id: getRequestStation(request).id, field: 'fallback' }),
  missing: 'The station has no fallback track.'
})

export const fallbackTrackRoutes = [read, ...routes]
