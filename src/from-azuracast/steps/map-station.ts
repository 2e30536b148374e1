import { createHash } from 'node:crypto'

import { stations as stationResource } from '../../api/stations/stations.ts'
import { acceptRecord, clamp } from '../accept-record.ts'
import type { NewRow } from '../insert-rows.ts'
import type { Migration } from '../migration.ts'
import { type Reader, type SourceRow, textOf } from '../source.ts'
import type { StationIdentity } from './station-conflicts.ts'

const minutesPerDay = 1_440

/** A number of a config; the fallback if it is unset. */
function numberOr(value: unknown, fallback: number): number {
  const text = textOf(value)
  return text === '' || !Number.isFinite(Number(text)) ? fallback : Number(text)
}

const isSet = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== '' && value !== false && value !== 0 && value !== '0'

/** Converts a station to a row, which is disabled and has the storage locations of AzuraCast. Null if it is not accepted. */
export function mapStation(
  { secrets, report }: Migration,
  row: SourceRow,
  read: Reader,
  { name, shortName }: StationIdentity
): NewRow | null {
  const text = (column: string) => read.text(row, column) ?? ''
  const backend = read.json(row, 'backend_config')
  const frontend = read.json(row, 'frontend_config')
  const minutes = (column: string, fallback: number) =>
    clamp(numberOr(read.text(row, column), fallback), 0, minutesPerDay)
  const isPublic = read.flag(row, 'enable_public_page') || read.flag(row, 'enable_public_api')
  const crossfadeType = textOf(backend['crossfade_type'])
  const body = {
    name,
    short_name: shortName,
    description: text('description'),
    url: text('url'),
    timezone: text('timezone') || 'UTC',
    frontend: text('frontend_type'),
    backend: text('backend_type'),
    frontend_url: '',
    frontend_admin_password: textOf(frontend['admin_pw']),
    enable_streamers: read.flag(row, 'enable_streamers'),
    source_password: textOf(frontend['source_pw']),
    is_public: isPublic,
    is_enabled: false,
    hls_enabled: read.flag(row, 'enable_hls'),
    hls_is_default: isTrue(backend['hls_is_default']),
    queue_length: clamp(numberOr(backend['autodj_queue_length'], 3), 2, 25),
    history_length: clamp(read.number(row, 'api_history_items'), 0, 50),
    live_text: textOf(backend['live_broadcast_text']) || 'Live Broadcast',
    duplicate_prevention_time_range: clamp(
      numberOr(backend['duplicate_prevention_time_range'], 120),
      0,
      10_080
    ),
    crossfade_type: crossfadeType === '' ? 'normal' : crossfadeType,
    crossfade: clamp(numberOr(backend['crossfade'], 2), 0, 30),
    enable_auto_cue: isTrue(backend['enable_auto_cue']),
    enable_requests: read.flag(row, 'enable_requests'),
    request_delay: minutes('request_delay', 5),
    request_threshold: minutes('request_threshold', 15),
    max_bitrate: clamp(read.number(row, 'max_bitrate'), 0, 10_000),
    max_hls_streams: clamp(read.number(row, 'max_mounts'), 0, 1_000),
    media_storage_location_id: read.number(row, 'media_storage_location_id'),
    recordings_storage_location_id: read.number(row, 'recordings_storage_location_id'),
    podcasts_storage_location_id: read.number(row, 'podcasts_storage_location_id')
  }
  const accepted = acceptRecord(stationResource, body, secrets, problem =>
    report.leave('settings of stations that are not accepted', `${name}: ${problem}`)
  )
  if (!accepted) return null
  for (const setting of findUnusedSettings(row, read, backend, frontend))
    report.leave('settings of stations without an equivalent', `${name}: ${setting}`)
  const port = numberOr(frontend['port'], 0)
  if (port !== 0 && body.frontend !== 'remote')
    report.advise(`${name}: set frontend_url when its streaming server runs (it had port ${port}).`)
  const playoutKey = text('adapter_api_key')
  return {
    ...accepted,
    playout_key: playoutKey === '' ? '' : createHash('sha256').update(playoutKey).digest('hex')
  }
}

const isTrue = (value: unknown) => value === true || value === 1 || value === '1' || value === 'true'

/** Settings that differ from the default of AzuraCast and have no equivalent. */
function findUnusedSettings(
  row: SourceRow,
  read: Reader,
  backend: Readonly<Record<string, unknown>>,
  frontend: Readonly<Record<string, unknown>>
): string[] {
  const columns = ['genre', 'disconnect_deactivate_streamer', 'enable_on_demand', 'max_hls_streams'].filter(
    column => isSet(read.text(row, column))
  )
  if (Object.values(read.json(row, 'branding_config')).some(isSet)) columns.push('branding_config')
  const ofBackend = Object.keys(backend).filter(name => unusedBackend.test(name) && isSet(backend[name]))
  const ofFrontend = Object.keys(frontend).filter(name => unusedFrontend.test(name) && isSet(frontend[name]))
  return [
    ...columns,
    ...ofBackend.map(name => `backend_config.${name}`),
    ...ofFrontend.map(name => `frontend_config.${name}`)
  ]
}

const unusedBackend =
  /^(?:custom_config|use_manual_autodj$|record_streams$|audio_processing_method$|stereo_tool_license_key$|enable_replaygain_metadata$|write_playlists_to_liquidsoap$|share_encoders$|hls_enable_on_public_player$)/
const unusedFrontend =
  /^(?:custom_config|max_listeners|banned_ips|banned_user_agents|banned_countries|allowed_ips|sc_license_id|sc_user_id)$/
