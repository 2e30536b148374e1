import { azuracastBackend } from '../../../../model/station/now-playing.ts'
import type { Sql } from '../../../../stores/db/sql.ts'
import { boolean, exactly, int64, nullableInt64, string } from '../../../core/schemas.ts'
import { nothing, nullableString, replaceSchema } from '../../answer-schema.ts'
import { type JsonBody, orNull, type RecordDialect, renameMembers } from '../../record-dialect.ts'
import {
  backendSettings,
  brandingSettings,
  configSchema,
  frontendSettings,
  noBackendConfig,
  noBranding,
  noFrontendConfig,
  parseConfig,
  renderConfig
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

/** AzuraCast's values of what stations do not have. */
const noEquivalent = {
  genre: null,
  disconnect_deactivate_streamer: 0,
  enable_on_demand: true,
  enable_on_demand_download: true,
  max_mounts: 0
}

/** The schemas of the members of a rendered station. */
const stationFields = {
  id: int64,
  name: string,
  short_name: string,
  is_enabled: boolean,
  frontend_type: string,
  frontend_config: { type: 'object' },
  backend_type: string,
  backend_config: { type: 'object' },
  description: nullableString,
  url: nullableString,
  radio_base_dir: string,
  enable_requests: boolean,
  request_delay: int64,
  request_threshold: int64,
  enable_streamers: boolean,
  is_streamer_live: boolean,
  enable_public_page: boolean,
  enable_public_api: boolean,
  enable_hls: boolean,
  api_history_items: int64,
  timezone: string,
  max_bitrate: int64,
  genre: nothing,
  disconnect_deactivate_streamer: int64,
  enable_on_demand: boolean,
  enable_on_demand_download: boolean,
  max_mounts: int64,
  max_hls_streams: int64,
  branding_config: { type: 'object' },
  fallback_path: nullableString,
  media_storage_location: nullableInt64,
  recordings_storage_location: nullableInt64,
  podcasts_storage_location: nullableInt64,
  links: exactly({ self: string, manage: string, clone: string })
}

/** The settings of a station as administrators see them. Those of its programs are in configs. */
export const station: RecordDialect<StationRow> = {
  answer: replaceSchema(stationFields),
  computed: ['is_streamer_live', 'fallback_path', 'radio_base_dir', 'links'],
  async render(rows, { sql, link, services }) {
    const facts = await readFacts(sql, rows)
    return rows.map(row => ({
      id: row.id,
      name: row.name,
      short_name: row.short_name,
      is_enabled: row.is_enabled,
      frontend_type: row.frontend,
      frontend_config: noFrontendConfig,
      backend_type: azuracastBackend(row.backend),
      backend_config: { ...noBackendConfig, ...renderConfig(row, backendSettings) },
      description: orNull(row.description),
      url: orNull(row.url),
      radio_base_dir: `/var/azuracast/stations/${row.short_name}`,
      enable_requests: row.enable_requests,
      request_delay: row.request_delay,
      request_threshold: row.request_threshold,
      enable_streamers: row.enable_streamers,
      is_streamer_live: facts.get(row.id)?.isLive ?? false,
      enable_public_page: row.is_public,
      enable_public_api: row.is_public,
      enable_hls: row.hls_enabled,
      api_history_items: row.history_length,
      timezone: row.timezone,
      max_bitrate: row.max_bitrate,
      ...noEquivalent,
      max_hls_streams: row.max_hls_streams,
      branding_config: { ...noBranding, ...renderConfig(row, brandingSettings) },
      fallback_path: orNull(facts.get(row.id)?.fallbackPath ?? ''),
      media_storage_location: row.media_storage_location_id || null,
      recordings_storage_location: row.recordings_storage_location_id || null,
      podcasts_storage_location: row.podcasts_storage_location_id || null,
      links: {
        self: link(`admin/station/${row.id}`),
        manage: `${services.config.BASE_URL}/dashboard/${row.short_name}`,
        clone: link(`admin/station/${row.id}/clone`)
      }
    }))
  },
  constants: ({ enable_public_page: isPublic }) => ({
    ...noEquivalent,
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
}

/** Makes the documented body, in which settings are fields of the station. */
export const parseStationBody = ({
  frontend_config,
  backend_config,
  branding_config,
  ...body
}: JsonBody): JsonBody => ({
  ...renameMembers(body, names),
  ...parseConfig(frontend_config, frontendSettings),
  ...parseConfig(backend_config, backendSettings),
  ...parseConfig(branding_config, brandingSettings)
})

interface StationFacts {
  readonly id: number
  /** Whether a streamer is live. */
  readonly isLive: boolean
  readonly fallbackPath: string
}

async function readFacts(sql: Sql, rows: readonly StationRow[]): Promise<ReadonlyMap<number, StationFacts>> {
  const found = await sql<StationFacts[]>`
    select id, fallback_path as "fallbackPath",
      exists (select from broadcasts b where b.station_id = s.id and b.ended_at_ms is null) as "isLive"
    from stations s where id = any(${rows.map(({ id }) => id)}::bigint[])`
  return new Map(found.map(facts => [facts.id, facts]))
}
