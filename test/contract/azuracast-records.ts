import {
  broadcast,
  customField,
  hlsStream,
  nowPlaying,
  nowPlayingEvent,
  playlist,
  queueItem,
  remote,
  requestableSong,
  sftpUser,
  songRequest,
  stationSummary,
  storageLocation,
  streamer,
  webhook
} from './records.ts'
import type { Shape } from './shape.ts'
import type { Row } from './table.ts'

/*
 * The keys and types of records as AzuraCast's code answers them, and in which documented record each of them is
 * contained. Written manually from answers of AzuraCast.
 */

const url: Shape = { text: /^https?:\/\// }
const maybeText: Shape = { orNull: 'string' }
const maybeInteger: Shape = { orNull: 'integer' }
const self: Shape = { keys: { self: url } }
const time: Shape = { text: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/ }
/** A map without members is a list. */
const phpMap: Shape = 'any'

const keysOf = (shape: Shape): Readonly<Record<string, Shape>> =>
  typeof shape === 'object' && 'keys' in shape ? shape.keys : {}

const scheduleItem: Shape = {
  keys: {
    id: 'integer',
    start_time: 'integer',
    end_time: 'integer',
    start_date: maybeText,
    end_date: maybeText,
    days: { list: 'integer' },
    loop_once: 'boolean'
  }
}

const azuracastPlaylist: Shape = {
  keys: {
    ...keysOf(playlist),
    station_id: 'integer',
    short_name: 'string',
    description: maybeText,
    remote_url: maybeText,
    remote_type: maybeText,
    backend_options: { list: 'string' },
    schedule_items: { list: scheduleItem },
    played_at: maybeText,
    queue_reset_at: maybeText,
    num_songs: 'integer',
    total_length: 'integer',
    // Sequential ones also have the link `order`.
    links: {
      atLeast: {
        self: url,
        toggle: url,
        clone: url,
        queue: url,
        import: url,
        reshuffle: url,
        applyto: url,
        empty: url,
        export: { keys: { pls: url, m3u: url } }
      }
    }
  }
}

const azuracastHlsStream: Shape = {
  keys: {
    id: 'integer',
    station_id: 'integer',
    name: { text: /^[^/]/ },
    format: maybeText,
    bitrate: 'integer',
    listeners: 'integer',
    links: self
  }
}

const azuracastRemote: Shape = {
  keys: {
    id: 'integer',
    station_id: 'integer',
    relay_id: maybeInteger,
    display_name: 'string',
    is_visible_on_public_pages: 'boolean',
    type: { oneOf: ['icecast', 'shoutcast1', 'shoutcast2', 'azurarelay'] },
    is_editable: 'boolean',
    enable_autodj: 'boolean',
    autodj_format: maybeText,
    autodj_bitrate: maybeInteger,
    custom_listen_url: maybeText,
    url,
    mount: maybeText,
    admin_password: { oneOf: [''] },
    source_port: maybeInteger,
    source_mount: maybeText,
    source_username: maybeText,
    source_password: maybeText,
    is_public: 'boolean',
    listeners_unique: 'integer',
    listeners_total: 'integer',
    links: self
  }
}

const azuracastStreamer: Shape = {
  keys: {
    ...keysOf(streamer),
    station_id: 'integer',
    comments: maybeText,
    schedule_items: { list: scheduleItem },
    reactivate_at: maybeInteger,
    art_updated_at: 'integer',
    has_custom_art: 'boolean',
    art: url,
    links: { keys: { self: url, broadcasts: url, broadcasts_batch: url, art: url } }
  }
}

const azuracastBroadcast: Shape = {
  keys: {
    id: 'integer',
    timestampStart: time,
    timestampEnd: { orNull: time },
    streamer: {
      orNull: { keys: { id: 'integer', streamer_username: 'string', display_name: 'string' } }
    },
    recording: 'any',
    links: { keys: { delete: url } }
  }
}

const azuracastWebhook: Shape = {
  keys: {
    ...keysOf(webhook),
    station_id: 'integer',
    name: maybeText,
    config: phpMap,
    metadata: { mapOf: 'scalar' },
    links: { keys: { self: url, clone: url, toggle: url, test: url } }
  }
}

const secretOrNull: Shape = { orNull: { oneOf: [''] } }

const azuracastStorageLocation: Shape = {
  keys: {
    ...keysOf(storageLocation),
    s3CredentialKey: maybeText,
    s3CredentialSecret: secretOrNull,
    s3Region: maybeText,
    s3Version: maybeText,
    s3Bucket: maybeText,
    s3Endpoint: maybeText,
    s3UsePathStyle: 'boolean',
    dropboxAppKey: maybeText,
    dropboxAppSecret: secretOrNull,
    dropboxAuthToken: secretOrNull,
    dropboxRefreshToken: maybeText,
    sftpHost: maybeText,
    sftpUsername: maybeText,
    sftpPassword: secretOrNull,
    sftpPort: maybeInteger,
    sftpPrivateKey: secretOrNull,
    sftpPrivateKeyPassPhrase: secretOrNull,
    storageQuota: maybeText,
    storageQuotaBytes: maybeText,
    storageAvailableBytes: maybeText,
    storageUsedPercent: 'integer',
    isFull: 'boolean'
  }
}

const customFields: Shape = { mapOf: maybeText }

const withCustomFields = (shape: Shape): Shape => ({
  keys: { ...keysOf(shape), custom_fields: customFields }
})

const songOf = (shape: Shape) => withCustomFields(keysOf(shape)['song'] ?? 'any')

const azuracastQueueItem: Shape = {
  keys: {
    ...keysOf(queueItem),
    song: songOf(queueItem),
    autodj_custom_uri: maybeText,
    log: { orNull: { list: 'any' } }
  }
}

const azuracastRequestableSong: Shape = {
  keys: { request_id: 'string', request_url: 'string', song: songOf(requestableSong) }
}

const azuracastSongRequest: Shape = {
  keys: {
    id: 'integer',
    timestamp: time,
    skip_delay: 'boolean',
    ip: 'string',
    played_at: { orNull: time },
    track: { atLeast: { id: 'integer', song_id: 'string', title: 'string', custom_fields: customFields } },
    links: phpMap
  }
}

const listeners: Shape = { keys: { total: 'integer', unique: 'integer', current: 'integer' } }
const source = {
  id: 'integer',
  name: 'string',
  url,
  bitrate: maybeInteger,
  format: maybeText,
  listeners
} as const

const azuracastStation: Shape = {
  keys: {
    ...keysOf(stationSummary),
    listen_url: { orNull: url },
    url: { orNull: url },
    requests_enabled: 'boolean',
    mounts: { list: { keys: { ...source, path: 'string', is_default: 'boolean' } } },
    remotes: { list: { keys: source } },
    hls_url: { orNull: url }
  }
}

function azuracastNowPlaying(cache: string): Shape {
  const { now_playing: playing = 'any', ...others } = keysOf(nowPlaying)
  const next = others['playing_next']
  const cued = typeof next === 'object' && 'orNull' in next ? keysOf(next.orNull) : {}
  const history = others['song_history']
  const played = typeof history === 'object' && 'list' in history ? keysOf(history.list) : {}
  const song = songOf(playing)
  return {
    keys: {
      ...others,
      station: azuracastStation,
      live: {
        keys: {
          is_live: 'boolean',
          streamer_name: 'string',
          broadcast_start: maybeInteger,
          art: { orNull: url }
        }
      },
      now_playing: { keys: { ...keysOf(playing), song } },
      playing_next: { orNull: { keys: { ...cued, song } } },
      song_history: { list: { keys: { ...played, song } } },
      cache: { oneOf: [cache] }
    }
  }
}

const config: Shape = { mapOf: 'any' }

const azuracastAdminStation: Shape = {
  keys: {
    id: 'integer',
    name: 'string',
    short_name: 'string',
    is_enabled: 'boolean',
    frontend_type: 'string',
    frontend_config: {
      atLeast: { source_pw: { oneOf: [''] }, admin_pw: { oneOf: [''] }, port: maybeInteger }
    },
    backend_type: { oneOf: ['liquidsoap', 'none'] },
    backend_config: {
      atLeast: { autodj_queue_length: 'integer', crossfade_type: 'string', charset: 'string' }
    },
    description: maybeText,
    url: maybeText,
    genre: maybeText,
    radio_base_dir: 'string',
    enable_requests: 'boolean',
    request_delay: maybeInteger,
    request_threshold: maybeInteger,
    disconnect_deactivate_streamer: maybeInteger,
    enable_streamers: 'boolean',
    is_streamer_live: 'boolean',
    enable_public_page: 'boolean',
    enable_public_api: 'boolean',
    enable_on_demand: 'boolean',
    enable_on_demand_download: 'boolean',
    enable_hls: 'boolean',
    api_history_items: 'integer',
    timezone: 'string',
    max_bitrate: 'integer',
    max_mounts: 'integer',
    max_hls_streams: 'integer',
    branding_config: config,
    fallback_path: maybeText,
    media_storage_location: maybeInteger,
    recordings_storage_location: maybeInteger,
    podcasts_storage_location: maybeInteger,
    links: { keys: { self: url, manage: url, clone: url } }
  }
}

const azuracastFile: Shape = {
  keys: {
    id: 'integer',
    unique_id: 'string',
    song_id: 'string',
    art: url,
    path: 'string',
    mtime: 'integer',
    uploaded_at: 'integer',
    art_updated_at: 'integer',
    size: 'integer',
    length: 'integer',
    length_text: { text: /^\d+:\d\d$/ },
    text: 'string',
    artist: maybeText,
    title: maybeText,
    album: maybeText,
    genre: maybeText,
    isrc: maybeText,
    lyrics: maybeText,
    custom_fields: { mapOf: 'string' },
    extra_metadata: { mapOf: 'any' },
    playlists: {
      list: {
        keys: { id: 'integer', name: 'string', short_name: 'string', folder: maybeText, count: 'integer' }
      }
    },
    links: { keys: { self: url, play: url, art: url, waveform: url, waveform_cache: url } }
  }
}

const azuracastPlay: Shape = {
  keys: {
    sh_id: 'integer',
    played_at: 'integer',
    duration: 'integer',
    playlist: 'string',
    streamer: 'string',
    is_request: 'boolean',
    song: songOf(queueItem),
    listeners_start: 'integer',
    listeners_end: 'integer',
    delta_total: 'integer',
    is_visible: 'boolean'
  }
}

/** The records that AzuraCast answers in place of documented ones. All others are the same. */
const shapes: ReadonlyMap<Shape, Shape> = new Map<Shape, Shape>([
  [playlist, azuracastPlaylist],
  [hlsStream, azuracastHlsStream],
  [remote, azuracastRemote],
  [sftpUser, { keys: { ...keysOf(sftpUser), publicKeys: maybeText, links: self } }],
  [streamer, azuracastStreamer],
  [broadcast, azuracastBroadcast],
  [webhook, azuracastWebhook],
  [storageLocation, azuracastStorageLocation],
  [customField, { keys: { ...keysOf(customField), auto_assign: maybeText, links: self } }],
  [queueItem, azuracastQueueItem],
  [requestableSong, azuracastRequestableSong],
  [songRequest, azuracastSongRequest],
  [stationSummary, azuracastStation],
  [nowPlaying, azuracastNowPlaying('hit')],
  [nowPlayingEvent, azuracastNowPlaying('event')]
])

/** The same for responses that the contract does not describe in full, by method and path. */
const responses: Readonly<Record<string, Shape>> = {
  'GET /api/admin/stations': { list: azuracastAdminStation },
  'POST /api/admin/stations': azuracastAdminStation,
  'GET /api/admin/station/{id}': azuracastAdminStation,
  'GET /api/station/{station_id}/files': { list: azuracastFile },
  'GET /api/station/{station_id}/history': { list: azuracastPlay }
}

/** The shape of a response in the dialect of AzuraCast; null if it is the same in both. */
export function azuracastResponse({ method, path, response }: Row): Shape | null {
  const own = responses[`${method} ${path}`] ?? shapes.get(response)
  if (own !== undefined) return own
  const element = typeof response === 'object' && 'list' in response ? shapes.get(response.list) : undefined
  return element === undefined ? null : { list: element }
}
