import { createHash } from 'node:crypto'

import { stationsResource as stationResource } from '../../../api/stations/stations.ts'
import { toValidRow, clamp, openReportingClamp } from '../accept-record.ts'
import type { RowToInsert } from '../insert-rows.ts'
import type { MigrationReport } from '../migration-report.ts'
import type { AzuracastMigration } from '../migration.ts'
import { type RowReader, type SourceRow, scalarToText } from '../source.ts'
import type { StationNames } from './station-conflicts.ts'

const minutesPerDay = 1_440

/** A number of a config; the fallback if it is unset. */
function numberOr(value: unknown, fallback: number): number {
  const text = scalarToText(value)
  return text === '' || !Number.isFinite(Number(text)) ? fallback : Number(text)
}

/** Whether a setting differs from its default, which is nothing for most. */
const isSet = (value: unknown, fallback = ''): boolean =>
  !['', '0', 'false', 'none', fallback].includes(scalarToText(value)) ||
  (Array.isArray(value) && value.length > 0)

/**
 * Converts a station to a row, which is disabled and has the storage locations of AzuraCast. Null if it is not
 * accepted.
 */
export function mapStation(
  { secrets, report }: AzuracastMigration,
  row: SourceRow,
  read: RowReader,
  { name, shortName }: StationNames
): RowToInsert | null {
  const text = (column: string) => read.text(row, column) ?? ''
  const backend = read.json(row, 'backend_config')
  const frontend = read.json(row, 'frontend_config')
  const branding = read.json(row, 'branding_config')
  const onProblem = (problem: string) =>
    report.leave('settings of stations that are not accepted', `${name}: ${problem}`)
  const clampField = openReportingClamp(onProblem)
  const minutes = (column: string, fallback: number) =>
    clampField(column, numberOr(read.text(row, column), fallback), 0, minutesPerDay)
  const isPublic = read.flag(row, 'enable_public_page', true)
  if (!isPublic && read.flag(row, 'enable_public_api'))
    report.leave('stations without a public page, whose API required no key: now it requires one', name)
  const crossfadeType = scalarToText(backend['crossfade_type'])
  const body = {
    name,
    short_name: shortName,
    description: text('description'),
    url: text('url'),
    timezone: text('timezone') || 'UTC',
    frontend: text('frontend_type'),
    backend: text('backend_type'),
    frontend_url: '',
    frontend_admin_password: scalarToText(frontend['admin_pw']),
    enable_streamers: read.flag(row, 'enable_streamers'),
    source_password: scalarToText(frontend['source_pw']),
    is_public: isPublic,
    is_enabled: false,
    hls_enabled: read.flag(row, 'enable_hls'),
    hls_is_default: isTrue(backend['hls_is_default']),
    queue_length: clampField('autodj_queue_length', numberOr(backend['autodj_queue_length'], 3), 2, 25),
    history_length: clampField('api_history_items', numberOr(read.text(row, 'api_history_items'), 5), 0, 50),
    offline_text: scalarToText(branding['offline_text']) || 'Station Offline',
    live_text: scalarToText(backend['live_broadcast_text']) || 'Live Broadcast',
    duplicate_prevention_time_range: clampField(
      'duplicate_prevention_time_range',
      numberOr(backend['duplicate_prevention_time_range'], 120),
      0,
      10_080
    ),
    crossfade_type: crossfadeType === '' ? 'normal' : crossfadeType,
    crossfade: clampField('crossfade', numberOr(backend['crossfade'], 2), 0, 30),
    enable_auto_cue: isTrue(backend['enable_auto_cue']),
    enable_requests: read.flag(row, 'enable_requests'),
    request_delay: minutes('request_delay', 5),
    request_threshold: minutes('request_threshold', 15),
    max_bitrate: clampField('max_bitrate', read.number(row, 'max_bitrate'), 0, 10_000),
    max_hls_streams: mapStreamLimit(
      report,
      name,
      read.number(row, 'max_mounts'),
      read.number(row, 'max_hls_streams')
    ),
    media_storage_location_id: read.number(row, 'media_storage_location_id'),
    recordings_storage_location_id: read.number(row, 'recordings_storage_location_id'),
    podcasts_storage_location_id: read.number(row, 'podcasts_storage_location_id')
  }
  const accepted = toValidRow(stationResource, body, secrets, onProblem)
  if (!accepted) return null
  for (const setting of findUnusedSettings(row, read, { backend, frontend, branding }))
    report.leave('settings of stations without an equivalent', `${name}: ${setting}`)
  const port = numberOr(frontend['port'], 0)
  if (port !== 0 && body.frontend !== 'remote')
    report.advise(`${name}: set frontend_url when its streaming server runs (it had port ${port}).`)
  if (body.enable_streamers && body.backend === 'liquidsoap') {
    // AzuraCast derives a port that is not set.
    const streamerPort = numberOr(backend['dj_port'], (port || 7_990 + read.number(row, 'id') * 10) + 5)
    const mount = scalarToText(backend['dj_mount_point']) || '/'
    report.advise(
      `${name}: so that streamers connect as before, run its Liquidsoap with HARBOR_PORT=${streamerPort} HARBOR_MOUNT=${mount}`
    )
  }
  const playoutKey = text('adapter_api_key')
  return {
    ...accepted,
    playout_key: playoutKey === '' ? '' : createHash('sha256').update(playoutKey).digest('hex')
  }
}

/** Mounts and HLS streams are one list here, so their limits are added; 0 means no limit. */
function mapStreamLimit(
  report: MigrationReport,
  name: string,
  maxMounts: number,
  maxHlsStreams: number
): number {
  if (maxMounts <= 0 && maxHlsStreams <= 0) return 0
  const limit = maxMounts > 0 && maxHlsStreams > 0 ? clamp(maxMounts + maxHlsStreams, 0, 1_000) : 0
  const ofSource = `max_mounts ${maxMounts}, max_hls_streams ${maxHlsStreams}`
  report.leave(
    'limits of mounts and of HLS streams, which are one limit here',
    `${name}: ${ofSource}: ${limit === 0 ? 'no limit' : `together ${limit}`}`
  )
  return limit
}

const isTrue = (value: unknown) => value === true || value === 1 || value === '1' || value === 'true'

/** Settings that differ from the default of AzuraCast and have no equivalent. */
function findUnusedSettings(
  row: SourceRow,
  read: RowReader,
  configs: Readonly<Record<keyof typeof unused, Readonly<Record<string, unknown>>>>
): string[] {
  const columns = ['genre', 'disconnect_deactivate_streamer'].filter(column => isSet(read.text(row, column)))
  const unusedNames = (part: keyof typeof unused) =>
    Object.keys(configs[part])
      .filter(name => unused[part].test(name) && isSet(configs[part][name], unusedDefaults[name]))
      .map(name => `${part}_config.${name}`)
  return [...columns, ...unusedNames('backend'), ...unusedNames('frontend'), ...unusedNames('branding')]
}

/** Settings without an equivalent, by the column that contains them. */
const unused = {
  backend:
    /^(?:custom_config|crossfade_smart_|hls_segment|use_manual_autodj$|record_streams$|audio_processing_method$|stereo_tool_license_key$|enable_replaygain_metadata$|write_playlists_to_liquidsoap$|share_encoders$|hls_enable_on_public_player$|charset$|dj_buffer$|performance_mode$)/,
  frontend:
    /^(?:custom_config|max_listeners|banned_ips|banned_user_agents|banned_countries|allowed_ips|sc_license_id|sc_user_id)$/,
  branding: /^(?:default_album_art_url|public_custom_css|public_custom_js)$/
} as const

/** Defaults of AzuraCast that are not nothing. */
const unusedDefaults: Readonly<Record<string, string>> = {
  charset: 'UTF-8',
  crossfade_smart_high: '-15',
  crossfade_smart_margin: '8',
  crossfade_smart_medium: '-32',
  dj_buffer: '5',
  hls_segment_length: '4',
  hls_segments_in_playlist: '5',
  hls_segments_overhead: '2',
  performance_mode: 'disabled'
}
