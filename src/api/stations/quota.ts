import type { Reply } from '../../http/route.ts'
import { readFreeBytes } from '../../library/storage/local.ts'
import { computeCapacity, formatSize, isStorageFull, usedPercent } from '../../library/storage/size.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { storageLocationReferences } from '../admin/storage-locations.ts'
import { type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { boolean, exactObject, namedSchema, nullableInt64, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

const path = '/api/station/:station_id/quota'
const tag = 'Stations'
const access = 'view station management'
const size = { ...string, examples: ['1.5 GB'] }
const bytes = { ...string, examples: ['1610612736'] }

const stationQuotaSchema = namedSchema(
  'StationQuota',
  'The storage that a station uses and may use.',
  exactObject({
    used: size,
    used_bytes: bytes,
    used_percent: { type: 'integer' },
    available: { ...size, description: 'What fits in all: the quota or the volume; empty: unknown.' },
    available_bytes: { ...bytes, description: 'Empty: unknown.' },
    quota: { ...size, description: 'Empty: none.' },
    quota_bytes: { ...bytes, description: 'Empty: none.' },
    is_full: boolean,
    num_files: { ...nullableInt64, description: 'The number of songs; null for recordings.' }
  })
)

type ContentType = (typeof storageLocationReferences)[number][1]

interface Usage {
  readonly used: string
  readonly free: string | null
  readonly quota: string
  readonly hasLocation: boolean
  readonly songs: number
}

/** Renders the use of a storage of the station in the path. */
async function renderQuota(request: ApiRequest, services: ApiServices, type: ContentType): Promise<Reply> {
  const { id } = getRequestStation(request)
  const { reads: sql, config } = services
  const column = storageLocationReferences.find(reference => reference[1] === type)?.[0]
  if (column === undefined) throw new ApiError('not-found')
  // Without a storage location the files are in DATA_DIR, which nobody measures; the sizes of the songs are known.
  const [usage] = await sql<Usage[]>`
    select coalesce(l.used_bytes, case when ${type} = 'station_media' then m.bytes else 0 end)::text as used,
      l.free_bytes::text as free, coalesce(l.storage_quota_bytes, 0)::text as quota, l.id is not null as "hasLocation",
      m.songs
    from stations s left join storage_locations l on l.id = s.${sql(column)} cross join lateral (
      select coalesce(sum(size_bytes), 0)::numeric as bytes, count(*)::int as songs from media
      where station_id = s.id and remote_playlist_id is null) m
    where s.id = ${id}`
  if (!usage) throw new ApiError('not-found')
  const [used, quota] = [BigInt(usage.used), BigInt(usage.quota)]
  const ownFree = usage.hasLocation ? null : await readFreeBytes(config.DATA_DIR)
  const free = usage.free === null ? ownFree : BigInt(usage.free)
  const available = computeCapacity(quota, used, free)
  return jsonReply({
    used: formatSize(used),
    used_bytes: String(used),
    used_percent: usedPercent(used, available),
    available: available === null ? '' : formatSize(available),
    available_bytes: available === null ? '' : String(available),
    quota: quota === 0n ? '' : formatSize(quota),
    quota_bytes: quota === 0n ? '' : String(quota),
    is_full: isStorageFull(used, available),
    num_files: { station_media: usage.songs, station_recordings: null, station_podcasts: 0 }[type]
  })
}

const media = apiRoute('GET', path, access, {
  id: 'getStationQuota',
  tag,
  summary: 'The use of the media storage',
  response: stationQuotaSchema,
  handle: (request, services) => renderQuota(request, services, 'station_media')
})

const ofType = apiRoute('GET', `${path}/:type`, access, {
  id: 'getStationQuotaOfType',
  tag,
  summary: `The use of a storage: ${storageLocationReferences.map(([, type]) => type).join(', ')}`,
  response: stationQuotaSchema,
  handle(request, services) {
    const found = storageLocationReferences.find(([, type]) => type === request.params['type'])
    if (!found) throw new ApiError('not-found')
    return renderQuota(request, services, found[1])
  }
})

export const quotaRoutes = [media, ofType]
