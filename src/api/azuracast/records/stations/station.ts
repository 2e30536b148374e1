import { toAzuracastBackend } from '../../../../model/station/now-playing.ts'
import { boolean, exactObject, int64, nullableInt64, string } from '../../../core/schemas.ts'
import { computedMember, constantMember, declareReplacedRecord, shownMember } from '../../declare-record.ts'
import { type DialectContext, type JsonBody, emptyToNull, renameMembers } from '../../record-dialect.ts'
import { nullSchema, nullableString } from '../../response-schema.ts'
import {
  backendConfigNames,
  brandingConfigNames,
  stationConfigSchema,
  frontendConfigNames,
  defaultBackendConfig,
  defaultBrandingConfig,
  defaultFrontendConfig,
  parseStationConfig,
  renderStationConfig
} from './station-config.ts'

type StationRow = {
  readonly id: number
  readonly name: string
  readonly short_name: string
  readonly description: string
  readonly url: string
  readonly timezone: string
  readonly frontend: string
  readonly backend: string
  readonly is_enabled: boolean
  readonly is_public: boolean
  readonly enable_streamers: boolean
  readonly enable_requests: boolean
  readonly request_delay: number
  readonly request_threshold: number
  readonly hls_enabled: boolean
  readonly history_length: number
  readonly max_bitrate: number
  readonly max_hls_streams: number
  readonly media_storage_location_id: number
  readonly recordings_storage_location_id: number
  readonly podcasts_storage_location_id: number
}

/** AzuraCast's names of fields, and the documented ones. */
const names = {
  frontend_type: 'frontend',
  backend_type: 'backend',
  enable_public_page: 'is_public',
  enable_hls: 'hls_enabled',
  api_history_items: 'history_length',
  media_storage_location: 'media_storage_location_id',
  recordings_storage_location: 'recordings_storage_location_id',
  podcasts_storage_location: 'podcasts_storage_location_id'
}

const config = { type: 'object' }

/** The settings of a station as administrators see them. Those of its programs are in configs. */
export const stationDialect = declareReplacedRecord<StationRow, ReadonlyMap<number, StationExtras>>({
  members: {
    id: shownMember(int64, ({ id }) => id),
    name: shownMember(string, ({ name }) => name),
    short_name: shownMember(string, row => row.short_name),
    is_enabled: shownMember(boolean, row => row.is_enabled),
    frontend_type: shownMember(string, ({ frontend }) => frontend),
    frontend_config: shownMember(config, () => defaultFrontendConfig),
    backend_type: shownMember(string, ({ backend }) => toAzuracastBackend(backend)),
    backend_config: shownMember(config, row => ({
      ...defaultBackendConfig,
      ...renderStationConfig(row, backendConfigNames)
    })),
    description: shownMember(nullableString, ({ description }) => emptyToNull(description)),
    url: shownMember(nullableString, ({ url }) => emptyToNull(url)),
    radio_base_dir: computedMember(string, row => `/var/azuracast/stations/${row.short_name}`),
    enable_requests: shownMember(boolean, row => row.enable_requests),
    request_delay: shownMember(int64, row => row.request_delay),
    request_threshold: shownMember(int64, row => row.request_threshold),
    enable_streamers: shownMember(boolean, row => row.enable_streamers),
    is_streamer_live: computedMember(boolean, ({ id }, { extras }) => extras.get(id)?.isLive ?? false),
    enable_public_page: shownMember(boolean, row => row.is_public),
    enable_public_api: shownMember(boolean, row => row.is_public),
    enable_hls: shownMember(boolean, row => row.hls_enabled),
    api_history_items: shownMember(int64, row => row.history_length),
    timezone: shownMember(string, ({ timezone }) => timezone),
    max_bitrate: shownMember(int64, row => row.max_bitrate),
    // What stations do not have.
    genre: constantMember(nullSchema, null),
    disconnect_deactivate_streamer: constantMember(int64, 0),
    enable_on_demand: constantMember(boolean, true),
    enable_on_demand_download: constantMember(boolean, true),
    max_mounts: constantMember(int64, 0),
    max_hls_streams: shownMember(int64, row => row.max_hls_streams),
    branding_config: shownMember(config, row => ({
      ...defaultBrandingConfig,
      ...renderStationConfig(row, brandingConfigNames)
    })),
    fallback_path: computedMember(nullableString, ({ id }, { extras }) =>
      emptyToNull(extras.get(id)?.fallbackPath ?? '')
    ),
    media_storage_location: shownMember(nullableInt64, row => row.media_storage_location_id || null),
    recordings_storage_location: shownMember(
      nullableInt64,
      row => row.recordings_storage_location_id || null
    ),
    podcasts_storage_location: shownMember(nullableInt64, row => row.podcasts_storage_location_id || null),
    links: computedMember(
      exactObject({ self: string, manage: string, clone: string }),
      (row, { link, services }) => ({
        self: link(`admin/station/${row.id}`),
        manage: `${services.config.BASE_URL}/dashboard/${row.short_name}`,
        clone: link(`admin/station/${row.id}/clone`)
      })
    )
  },
  read: readExtras,
  constants: ({ enable_public_page: isPublic }) => ({
    enable_public_api: isPublic,
    frontend_config: defaultFrontendConfig,
    backend_config: defaultBackendConfig,
    branding_config: defaultBrandingConfig
  }),
  fields: {
    ...Object.fromEntries(Object.keys(names).map(name => [name, {}])),
    frontend_config: stationConfigSchema(frontendConfigNames),
    backend_config: stationConfigSchema(backendConfigNames),
    branding_config: stationConfigSchema(brandingConfigNames)
  },
  async parse(body, { sql, request }) {
    const parsed = flattenStationBody(body)
    // A station that the clock plays stays so if it is sent back as it was read.
    if (parsed['backend'] !== toAzuracastBackend('clock')) return parsed
    const [clocked] = await sql`
      select from stations where id = ${Number(request.params['id']) || 0} and backend = 'clock'`
    return clocked ? { ...parsed, backend: 'clock' } : parsed
  }
})

/** Makes the documented body, in which settings are fields of the station. */
export const flattenStationBody = ({
  frontend_config,
  backend_config,
  branding_config,
  ...body
}: JsonBody): JsonBody => ({
  ...renameMembers(body, names),
  ...parseStationConfig(frontend_config, frontendConfigNames),
  ...parseStationConfig(backend_config, backendConfigNames),
  ...parseStationConfig(branding_config, brandingConfigNames)
})

interface StationExtras {
  readonly id: number
  /** Whether a streamer is live. */
  readonly isLive: boolean
  readonly fallbackPath: string
}

async function readExtras(
  rows: readonly StationRow[],
  { sql }: DialectContext
): Promise<ReadonlyMap<number, StationExtras>> {
  const found = await sql<StationExtras[]>`
    select id, fallback_path as "fallbackPath",
      exists (select from broadcasts b where b.station_id = s.id and b.ended_at_ms is null) as "isLive"
    from stations s where id = any(${rows.map(({ id }) => id)}::bigint[])`
  return new Map(found.map(extras => [extras.id, extras]))
}
