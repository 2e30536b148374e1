import { isJsonBody, type JsonBody } from '../../record-dialect.ts'

/** Settings of AzuraCast's `backend_config` that stations have, with their documented names. */
export const backendConfigNames = {
  autodj_queue_length: 'queue_length',
  crossfade_type: 'crossfade_type',
  crossfade: 'crossfade',
  duplicate_prevention_time_range: 'duplicate_prevention_time_range',
  enable_auto_cue: 'enable_auto_cue',
  hls_is_default: 'hls_is_default',
  live_broadcast_text: 'live_text'
} as const

/** The same of `frontend_config`. They are secret, so that they are set and never shown. */
export const frontendConfigNames = {
  source_pw: 'source_password',
  admin_pw: 'frontend_admin_password'
} as const

export const brandingConfigNames = { offline_text: 'offline_text' } as const

type Settings = Readonly<Record<string, string>>

/** Renders the settings of a config that a station has. */
export const renderStationConfig = <Row extends object>(row: Row, settings: Settings) =>
  Object.fromEntries(Object.entries(settings).map(([name, own]) => [name, Reflect.get(row, own)]))

/** Parses the settings of a config that a station has. */
export function parseStationConfig(config: unknown, settings: Settings): JsonBody {
  if (!isJsonBody(config)) return {}
  const known = Object.entries(settings).filter(([name]) => name in config)
  return Object.fromEntries(known.map(([name, own]) => [own, config[name]]))
}

/** The schema of a config in a body. */
export const stationConfigSchema = (settings: Settings) => ({
  type: 'object',
  properties: Object.fromEntries(Object.keys(settings).map(name => [name, {}]))
})

/** AzuraCast's defaults of what stations do not have. */
export const defaultBackendConfig = {
  charset: 'UTF-8',
  crossfade_smart_high: -15,
  crossfade_smart_medium: -32,
  crossfade_smart_margin: 8,
  dj_port: null,
  telnet_port: null,
  record_streams: false,
  record_streams_format: 'mp3',
  record_streams_bitrate: 128,
  use_manual_autodj: false,
  dj_mount_point: '/',
  dj_buffer: 5,
  audio_processing_method: 'none',
  post_processing_include_live: false,
  stereo_tool_license_key: null,
  stereo_tool_configuration_path: null,
  master_me_preset: null,
  master_me_loudness_target: -16,
  enable_replaygain_metadata: false,
  performance_mode: 'disabled',
  hls_segment_length: 4,
  hls_segments_in_playlist: 5,
  hls_segments_overhead: 2,
  hls_enable_on_public_player: false,
  write_playlists_to_liquidsoap: false,
  share_encoders: false,
  custom_config_top: null,
  custom_config_pre_playlists: null,
  custom_config_pre_live: null,
  custom_config_pre_fade: null,
  custom_config: null,
  custom_config_bottom: null
}

export const defaultFrontendConfig = {
  custom_config: null,
  source_pw: '',
  admin_pw: '',
  relay_pw: '',
  streamer_pw: '',
  port: null,
  max_listeners: null,
  banned_ips: null,
  banned_user_agents: null,
  banned_countries: null,
  allowed_ips: null,
  sc_license_id: null,
  sc_user_id: null
}

export const defaultBrandingConfig = {
  default_album_art_url: null,
  public_custom_css: null,
  public_custom_js: null
}
