import { azuracastBackend } from '../../../../model/station/now-playing.ts'
import { boolean, exactly, int64, nullableInt64, string } from '../../../core/schemas.ts'
import { computed, constant, replaceRecord, shown } from '../../declare-record.ts'
import { type DialectContext, type JsonBody, emptyToNull, renameMembers } from '../../record-dialect.ts'
import { nothing, nullableString } from '../../response-schema.ts'
import {
  backendSettings,
  brandingSettings,
  configSchema,
  frontendSettings,
  noBackendConfig,
  noBranding,
  noFrontendConfig,
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
export const station = replaceRecord<StationRow, ReadonlyMap<number, StationExtras>>({
  members: {
    id: shown(int64, ({ id }) => id),
    name: shown(string, ({ name }) => name),
    short_name: shown(string, row => row.short_name),
    is_enabled: shown(boolean, row => row.is_enabled),
    frontend_type: shown(string, ({ frontend }) => frontend),
    frontend_config: shown(config, () => noFrontendConfig),
    backend_type: shown(string, ({ backend }) => azuracastBackend(backend)),
    backend_config: shown(config, row => ({
      ...noBackendConfig,
      ...renderStationConfig(row, backendSettings)
    })),
    description: shown(nullableString, ({ description }) => emptyToNull(description)),
    url: shown(nullableString, ({ url }) => emptyToNull(url)),
    radio_base_dir: computed(string, row => `/var/azuracast/stations/${row.short_name}`),
    enable_requests: shown(boolean, row => row.enable_requests),
    request_delay: shown(int64, row => row.request_delay),
    request_threshold: shown(int64, row => row.request_threshold),
    enable_streamers: shown(boolean, row => row.enable_streamers),
    is_streamer_live: computed(boolean, ({ id }, { extras }) => extras.get(id)?.isLive ?? false),
    enable_public_page: shown(boolean, row => row.is_public),
    enable_public_api: shown(boolean, row => row.is_public),
    enable_hls: shown(boolean, row => row.hls_enabled),
    api_history_items: shown(int64, row => row.history_length),
    timezone: shown(string, ({ timezone }) => timezone),
    max_bitrate: shown(int64, row => row.max_bitrate),
    // What stations do not have.
    genre: constant(nothing, null),
    disconnect_deactivate_streamer: constant(int64, 0),
    enable_on_demand: constant(boolean, true),
    enable_on_demand_download: constant(boolean, true),
    max_mounts: constant(int64, 0),
    max_hls_streams: shown(int64, row => row.max_hls_streams),
    branding_config: shown(config, row => ({ ...noBranding, ...renderStationConfig(row, brandingSettings) })),
    fallback_path: computed(nullableString, ({ id }, { extras }) =>
      emptyToNull(extras.get(id)?.fallbackPath ?? '')
    ),
    media_storage_location: shown(nullableInt64, row => row.media_storage_location_id || null),
    recordings_storage_location: shown(nullableInt64, row => row.recordings_storage_location_id || null),
    podcasts_storage_location: shown(nullableInt64, row => row.podcasts_storage_location_id || null),
    links: computed(exactly({ self: string, manage: string, clone: string }), (row, { link, services }) => ({
      self: link(`admin/station/${row.id}`),
      manage: `${services.config.BASE_URL}/dashboard/${row.short_name}`,
      clone: link(`admin/station/${row.id}/clone`)
    }))
  },
  read: readExtras,
  constants: ({ enable_public_page: isPublic }) => ({
    enable_public_api: isPublic,
    frontend_config: noFrontendConfig,
    backend_config: noBackendConfig,
    branding_config: noBranding
  }),
  fields: {
    ...Object.fromEntries(Object.keys(names).map(name => [name, {}])),
    frontend_config: configSchema(frontendSettings),
    backend_config: configSchema(backendSettings),
    branding_config: configSchema(brandingSettings)
  },
  async parse(body, { sql, request }) {
    const parsed = parseStationBody(body)
    // A station that the clock plays stays so if it is sent back as it was read.
    if (parsed['backend'] !== azuracastBackend('clock')) return parsed
    const [clocked] = await sql`
      select from stations where id = ${Number(request.params['id']) || 0} and backend = 'clock'`
    return clocked ? { ...parsed, backend: 'clock' } : parsed
  }
})

/** Makes the documented body, in which settings are fields of the station. */
export const parseStationBody = ({
  frontend_config,
  backend_config,
  branding_config,
  ...body
}: JsonBody): JsonBody => ({
  ...renameMembers(body, names),
  ...parseStationConfig(frontend_config, frontendSettings),
  ...parseStationConfig(backend_config, backendSettings),
  ...parseStationConfig(branding_config, brandingSettings)
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
