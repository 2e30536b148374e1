import type { Shape } from './shape.ts'

/** The exact keys and types of every record of the API, written manually from its specification. */

/** Byte counts and sizes are text, empty if unknown. */
const maybeDigits: Shape = { text: /^\d*$/ }
const maybeSize: Shape = { text: /^(\d+\.\d [KMGTPEZY]?B)?$/ }
const url: Shape = { text: /^https?:\/\// }
const maybeUrl: Shape = { text: /^(https?:\/\/.*)?$/ }
const namedValues: Shape = { list: { keys: { key: 'string', value: 'scalar' } } }
const streamFormat: Shape = { oneOf: ['mp3', 'ogg', 'aac', 'opus', 'flac', ''] }

const scheduleItem: Shape = {
  keys: {
    id: 'integer',
    start_time: 'integer',
    end_time: 'integer',
    start_date: { text: /^(\d{4}-\d\d-\d\d)?$/ },
    end_date: { text: /^(\d{4}-\d\d-\d\d)?$/ },
    days: { list: 'integer' },
    loop_once: 'boolean'
  }
}

export const playlist: Shape = {
  keys: {
    id: 'integer',
    name: 'string',
    type: { oneOf: ['default', 'once_per_x_songs', 'once_per_x_minutes', 'once_per_hour', 'custom'] },
    source: { oneOf: ['songs', 'remote_url'] },
    order: { oneOf: ['shuffle', 'random', 'sequential'] },
    remote_url: 'string',
    remote_type: { oneOf: ['stream', 'playlist', 'other'] },
    remote_buffer: 'integer',
    is_enabled: 'boolean',
    is_jingle: 'boolean',
    play_per_songs: 'integer',
    play_per_minutes: 'integer',
    play_per_hour_minute: 'integer',
    weight: 'integer',
    include_in_requests: 'boolean',
    include_in_on_demand: 'boolean',
    backend_options: 'string',
    avoid_duplicates: 'boolean',
    schedule_items: { list: scheduleItem },
    podcasts: { list: 'any' }
  }
}

export const hlsStream: Shape = {
  keys: {
    id: 'integer',
    name: { text: /^\/[^/]/ },
    display_name: 'string',
    is_visible_on_public_pages: 'boolean',
    is_default: 'boolean',
    is_public: 'boolean',
    fallback_mount: { text: /^(\/.*)?$/ },
    relay_url: maybeUrl,
    authhash: 'string',
    max_listener_duration: 'integer',
    enable_autodj: 'boolean',
    autodj_format: { oneOf: ['mp3', 'ogg', 'aac', 'opus', 'flac'] },
    autodj_bitrate: 'integer',
    custom_listen_url: maybeUrl,
    frontend_config: namedValues,
    listeners_unique: 'integer',
    listeners_total: 'integer'
  }
}

export const remote: Shape = {
  keys: {
    id: 'integer',
    name: 'string',
    url,
    type: { oneOf: ['icecast', 'shoutcast2', ''] },
    admin_password: { oneOf: [''] },
    is_visible: 'boolean',
    bitrate: 'integer',
    format: streamFormat,
    listeners_unique: 'integer',
    listeners_total: 'integer'
  }
}

export const poll: Shape = {
  keys: {
    remote_id: { orNull: 'integer' },
    type: { oneOf: ['icecast', 'shoutcast2'] },
    url,
    answered_at: { orNull: 'integer' },
    failing_since: { orNull: 'integer' },
    problem: 'string'
  }
}

export const sftpUser: Shape = {
  keys: { id: 'integer', username: 'string', password: { oneOf: [''] }, publicKeys: 'string' }
}

export const streamer: Shape = {
  keys: {
    id: 'integer',
    streamer_username: { text: /^[^,:]+$/ },
    streamer_password: { oneOf: [''] },
    display_name: 'string',
    comments: 'string',
    is_active: 'boolean',
    enforce_schedule: 'boolean',
    schedule_items: { list: scheduleItem }
  }
}

export const broadcast: Shape = {
  keys: {
    id: 'integer',
    streamer: { orNull: 'integer' },
    username: 'string',
    streamer_name: 'string',
    timestamp_start: 'integer',
    timestamp_end: { orNull: 'integer' }
  }
}

export const storageLocation: Shape = {
  keys: {
    links: { mapOf: url },
    id: 'integer',
    type: { oneOf: ['backup', 'station_media', 'station_recordings', 'station_podcasts'] },
    adapter: { oneOf: ['local', 's3', 'dropbox', 'sftp'] },
    path: 'string',
    s3CredentialKey: 'string',
    s3CredentialSecret: { oneOf: [''] },
    s3Region: 'string',
    s3Version: 'string',
    s3Bucket: 'string',
    s3Endpoint: maybeUrl,
    dropboxAppKey: 'string',
    dropboxAppSecret: { oneOf: [''] },
    dropboxAuthToken: { oneOf: [''] },
    sftpHost: 'string',
    sftpUsername: 'string',
    sftpPassword: { oneOf: [''] },
    sftpPort: 'integer',
    sftpPrivateKey: { oneOf: [''] },
    sftpPrivateKeyPassPhrase: { oneOf: [''] },
    storageQuota: maybeSize,
    storageQuotaBytes: maybeDigits,
    storageUsed: maybeSize,
    storageUsedBytes: maybeDigits,
    storageAvailable: maybeSize,
    storageAvailableBytes: maybeDigits,
    storageUsedPercent: { text: /^(\d|[1-9]\d|100)$/ },
    isFull: { oneOf: ['true', 'false'] },
    uri: 'string',
    stations: { list: 'string' }
  }
}

export const customField: Shape = {
  keys: { id: 'integer', name: 'string', short_name: 'string', auto_assign: 'string' }
}

const songKeys = {
  text: 'string',
  artist: 'string',
  title: 'string',
  album: 'string',
  genre: 'string',
  isrc: 'string',
  lyrics: 'string',
  id: { text: /^[0-9a-f]{32}$/ },
  art: url,
  custom_fields: { list: 'string' }
} as const satisfies Record<string, Shape>

const song: Shape = { keys: songKeys }

export const queueItem: Shape = {
  keys: {
    cued_at: 'integer',
    played_at: 'integer',
    duration: 'integer',
    playlist: 'string',
    is_request: 'boolean',
    song,
    links: { mapOf: url },
    sent_to_autodj: 'boolean',
    is_played: 'boolean',
    autodj_custom_uri: 'string',
    log: { list: 'any' }
  }
}

export const requestableSong: Shape = {
  keys: {
    request_id: { text: /^[1-9]\d*$/ },
    request_url: { text: /^\/api\/station\/[1-9]\d*\/request\/[1-9]\d*$/ },
    song
  }
}

export const songRequest: Shape = {
  keys: {
    id: 'integer',
    timestamp: 'integer',
    due_at: 'integer',
    skip_delay: 'boolean',
    state: { oneOf: ['pending', 'queued', 'aired', 'cancelled', 'expired'] },
    played_at: 'integer',
    media_id: 'integer',
    song,
    ip: 'string'
  }
}

export const webhook: Shape = {
  keys: {
    id: 'integer',
    name: 'string',
    type: {
      oneOf: [
        'generic',
        'email',
        'discord',
        'telegram',
        'groupme',
        'mastodon',
        'bluesky',
        'tunein',
        'radiode',
        'radioreg',
        'getmeradio',
        'google_analytics_v4',
        'matomo_analytics',
        'twitter',
        'google_analytics'
      ]
    },
    is_enabled: 'boolean',
    triggers: {
      list: {
        oneOf: [
          'song_changed',
          'song_changed_live',
          'listener_gained',
          'listener_lost',
          'live_connect',
          'live_disconnect',
          'station_offline',
          'station_online'
        ]
      }
    },
    config: namedValues,
    metadata: namedValues
  }
}

export const webhookDelivery: Shape = {
  keys: {
    id: 'integer',
    message_id: { text: /^evt_[a-z2-7]{26}$/ },
    happened_at: 'integer',
    triggers: { list: 'string' },
    state: {
      oneOf: ['pending', 'delivered', 'failed', 'merged', 'superseded', 'expired', 'cancelled']
    },
    attempts: 'integer',
    attempted_at: 'integer',
    duration_ms: 'integer',
    status: 'integer',
    error: 'string',
    url: 'string',
    response: 'string',
    next_attempt: 'integer'
  }
}

/** The response of an update, a delete or another action, with its message. */
export const action = (message: string): Shape => ({
  keys: {
    success: { oneOf: [true] },
    message: { oneOf: [message] },
    formatted_message: { oneOf: [message] }
  }
})

const listeners: Shape = { keys: { total: 'integer', unique: 'integer', current: 'integer' } }
const source = {
  id: 'integer',
  name: 'string',
  url,
  bitrate: 'integer',
  format: streamFormat,
  listeners
} as const

export const stationSummary: Shape = {
  keys: {
    id: 'integer',
    name: 'string',
    shortcode: { text: /^(?!\d*$)[\w.-]+$/ },
    description: 'string',
    frontend: { oneOf: ['icecast', 'shoutcast2', 'rsas', 'remote'] },
    backend: { oneOf: ['clock', 'liquidsoap', 'none'] },
    timezone: 'string',
    listen_url: maybeUrl,
    url: maybeUrl,
    public_player_url: url,
    playlist_pls_url: url,
    playlist_m3u_url: url,
    is_public: 'boolean',
    mounts: { list: { keys: { ...source, path: 'string', is_default: 'boolean' } } },
    remotes: { list: { keys: source } },
    hls_enabled: 'boolean',
    hls_is_default: 'boolean',
    hls_url: maybeUrl,
    hls_listeners: 'integer'
  }
}

/** The now-playing document; parameters are the differences between its two renderings. */
function nowPlayingWith(live: Readonly<Record<string, Shape>>, songShape: Shape, cache: Shape): Shape {
  const played = {
    sh_id: 'integer',
    played_at: 'integer',
    duration: 'integer',
    playlist: 'string',
    streamer: 'string',
    is_request: 'boolean',
    song: songShape
  } as const
  return {
    keys: {
      station: stationSummary,
      listeners,
      live: { keys: { is_live: 'boolean', streamer_name: 'string', ...live } },
      now_playing: { keys: { ...played, elapsed: 'integer', remaining: 'integer' } },
      playing_next: {
        orNull: {
          keys: {
            cued_at: 'integer',
            played_at: 'integer',
            duration: 'integer',
            playlist: 'string',
            is_request: 'boolean',
            song: songShape
          }
        }
      },
      song_history: { list: { keys: played } },
      is_online: 'boolean',
      cache
    }
  }
}

export const nowPlaying = nowPlayingWith({ broadcast_start: maybeDigits, art: maybeUrl }, song, {
  oneOf: ['hit', 'database', 'station']
})

export const nowPlayingEvent = nowPlayingWith(
  { broadcast_start: { orNull: 'integer' }, art: { orNull: maybeUrl } },
  // A list without fields, or an object with them: both are valid.
  { keys: { ...songKeys, custom_fields: 'any' } },
  { oneOf: ['event'] }
)

const permissions: Shape = { list: 'string' }

export const apiKey: Shape = {
  keys: {
    id: 'integer',
    name: 'string',
    identifier: { text: /^[0-9a-f]{16}$/ },
    permissions,
    station_permissions: { list: { keys: { station: 'integer', permissions } } },
    expires_at: 'integer',
    last_used_at: 'integer',
    created_at: 'integer',
    revoked_at: 'integer'
  }
}

export const article: Shape = {
  keys: {
    article_id: 'string',
    title: 'string',
    body: 'string',
    type: 'string',
    is_published: 'boolean',
    created_at: 'integer',
    updated_at: 'integer'
  }
}

export const notification: Shape = {
  keys: {
    notification_id: 'string',
    title: 'string',
    body: 'string',
    type: { oneOf: ['info', 'success', 'warning', 'danger'] },
    source: 'string',
    is_read: 'boolean',
    created_at: 'integer',
    read_at: 'integer'
  }
}

/** A response of the account API: `status` and exactly these keys. */
export const success = (beside: Readonly<Record<string, Shape>> = {}): Shape => ({
  keys: { status: { oneOf: ['success'] }, ...beside }
})

export const fullKey: Shape = { text: /^[0-9a-f]{16}:[0-9a-f]{32}$/ }

const fieldErrors: Shape = {
  list: {
    keys: {
      field: 'string',
      code: {
        oneOf: [
          'required',
          'blank',
          'invalid_type',
          'invalid_format',
          'invalid_url',
          'unsafe_url',
          'too_short',
          'too_long',
          'out_of_range',
          'not_in_enum',
          'unknown_key',
          'not_allowed_for_type',
          'read_only',
          'limit_reached',
          'duplicate',
          'in_use',
          'not_found',
          'invalid_public_key'
        ]
      },
      message: { text: /./ }
    }
  }
}

const errorTypes = new Map([
  [400, ['ValidationException']],
  [403, ['NotLoggedInException', 'PermissionDeniedException']],
  [404, ['NotFoundException']],
  [405, ['HttpMethodNotAllowedException']],
  [409, ['ConflictException']],
  [413, ['PayloadTooLargeException']],
  [415, ['UnsupportedMediaTypeException']],
  [429, ['RateLimitExceededException']]
])

const errorTexts = new Map([
  [403, { oneOf: ['Access denied.'] }],
  [404, { oneOf: ['Record not found.'] }],
  [405, { oneOf: ['Method not allowed.'] }]
])

/** The error body for a status; below `/api/v1/main` it also has a `status`. */
export function errorBody(status: number, isAccountLevel: boolean): Shape {
  const errors: Shape = status === 400 || status === 409 ? { keys: { errors: fieldErrors } } : { keys: {} }
  return {
    keys: {
      ...(isAccountLevel ? { status: { oneOf: ['error'] } } : {}),
      code: { oneOf: [status] },
      type: { oneOf: errorTypes.get(status) ?? [] },
      message: errorTexts.get(status) ?? { text: /./ },
      formatted_message: { text: /^[^<>]+$/ },
      extra_data: errors,
      success: { oneOf: [false] }
    }
  }
}

/** A page of a list. */
export const envelope = (rows: Shape): Shape => ({
  keys: {
    page: 'integer',
    per_page: 'integer',
    total: 'integer',
    total_pages: 'integer',
    links: { keys: { first: 'string', previous: 'string', next: 'string', last: 'string' } },
    rows: { list: rows }
  }
})
