import {
  customField,
  hlsStream,
  playlist,
  remote,
  sftpUser,
  storageLocation,
  streamer,
  webhook
} from './records.ts'
import type { Shape } from './shape.ts'
import type { Body } from './table.ts'
import { notFlag, notListOfText, notNamedValues, notText, notWhole, notWord } from './wrong.ts'

/**
 * A type of record that is created, read, changed and deleted. `{n}` is replaced by the number of a record.
 */
export interface ResourceCase {
  readonly name: string
  readonly collection: string
  readonly single: string
  readonly record: Shape
  readonly minimal: Body
  /** Values of a minimal record in addition to what was sent. */
  readonly defaults: Body
  /** Every field that can be set, nearly all with another value than the default. */
  readonly full: Body
  /** Values of a full record that differ from what was sent. */
  readonly shows: Body
  /** Changes of a full record: the sent fields and, if they differ, the resulting values. */
  readonly changes: readonly (readonly [put: Body, shows?: Body])[]
  /** Fields that a body may contain and that are ignored. */
  readonly ignored: Body
  /** Values of a wrong type, by field. */
  readonly wrong: Readonly<Record<string, readonly unknown[]>>
  /**
   * Values of the right type that are refused with 400: field, error codes, and the changes of the minimal
   * body.
   */
  readonly refused: readonly (readonly [field: string, codes: string, parts: Body])[]
}

const firstSshKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f'
const otherSshKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn+AgYKD'

const morning = {
  start_time: 900,
  end_time: 1730,
  start_date: '2026-01-01',
  end_date: '2026-12-31',
  days: [1, 3, 5],
  loop_once: false
}
const night = { start_time: 2200, end_time: 100, start_date: '', end_date: '', days: [], loop_once: true }

const playlists: ResourceCase = {
  name: 'playlist',
  collection: '/api/station/{station_id}/playlists',
  single: '/api/station/{station_id}/playlist/{id}',
  record: playlist,
  minimal: { name: 'Minimal {n}', source: 'songs', type: 'default', weight: 5 },
  defaults: {
    order: 'shuffle',
    remote_url: '',
    remote_type: 'stream',
    remote_buffer: 0,
    is_enabled: true,
    is_jingle: false,
    play_per_songs: 0,
    play_per_minutes: 0,
    play_per_hour_minute: 0,
    include_in_requests: true,
    include_in_on_demand: false,
    backend_options: '',
    avoid_duplicates: true,
    schedule_items: [],
    podcasts: []
  },
  full: {
    name: 'Full {n}',
    type: 'once_per_x_songs',
    source: 'songs',
    order: 'sequential',
    remote_url: 'https://relay.invalid/live',
    remote_type: 'playlist',
    remote_buffer: 30,
    is_enabled: false,
    is_jingle: true,
    play_per_songs: 5,
    play_per_minutes: 15,
    play_per_hour_minute: 30,
    weight: 7,
    include_in_requests: false,
    include_in_on_demand: true,
    backend_options: 'interrupt,merge',
    avoid_duplicates: false,
    schedule_items: [morning, night],
    podcasts: []
  },
  shows: {},
  changes: [
    [{ name: 'Changed {n}' }],
    [{ name: '  Trimmed {n} ' }, { name: 'Trimmed {n}' }],
    [{ type: 'once_per_hour' }],
    [{ order: 'random' }],
    [{ remote_url: '' }],
    [{ remote_type: 'other' }],
    [{ remote_buffer: 120 }],
    [{ is_enabled: true }],
    [{ is_jingle: 0 }, { is_jingle: false }],
    [{ play_per_songs: 32_767 }],
    [{ play_per_minutes: '360' }, { play_per_minutes: 360 }],
    [{ play_per_hour_minute: 59 }],
    [{ weight: 100 }],
    [{ weight: 0 }, { weight: 3 }],
    [{ include_in_requests: 'true' }, { include_in_requests: true }],
    [{ include_in_on_demand: 'false' }, { include_in_on_demand: false }],
    [
      { backend_options: ['prioritize', 'single_track', 'prioritize', ''] },
      { backend_options: 'prioritize,single_track' }
    ],
    [{ avoid_duplicates: 1 }, { avoid_duplicates: true }],
    [
      { schedule_items: [{ start_time: '0815', end_time: 900, days: '5,0,1,5' }, null, {}] },
      {
        schedule_items: [
          { start_time: 815, end_time: 900, start_date: '', end_date: '', days: [1, 5, 7], loop_once: false }
        ]
      }
    ],
    [{ podcasts: [null, '', []] }, {}]
  ],
  ignored: { id: 'abc', links: 5, num_songs: {}, nonsense: { a: 1 } },
  wrong: {
    name: notText,
    type: notWord,
    source: notWord,
    order: notWord,
    remote_url: notText,
    remote_type: notWord,
    remote_buffer: notWhole,
    is_enabled: notFlag,
    is_jingle: notFlag,
    play_per_songs: notWhole,
    play_per_minutes: notWhole,
    play_per_hour_minute: notWhole,
    weight: notWhole,
    include_in_requests: notFlag,
    include_in_on_demand: notFlag,
    backend_options: [{ a: 1 }, 5, true, 'nonsense', ['nonsense'], [5]],
    avoid_duplicates: notFlag,
    schedule_items: [
      5,
      'abc',
      true,
      [5],
      ['abc'],
      [{ ...morning, start_time: {} }],
      [{ ...morning, days: 1.5 }]
    ],
    podcasts: [5, 'abc', true, [1]]
  },
  refused: [
    ['name', 'blank required', { name: '   ' }],
    ['name', 'required', { name: null }],
    ['name', 'too_long', { name: 'x'.repeat(201) }],
    ['remote_url', 'required blank', { source: 'remote_url' }],
    ['remote_url', 'invalid_url', { source: 'remote_url', remote_url: 'not a url' }],
    ['remote_url', 'invalid_url unsafe_url', { source: 'remote_url', remote_url: 'ftp://relay.invalid/' }],
    ['remote_url', 'unsafe_url', { source: 'remote_url', remote_url: 'http://127.0.0.1:8000/live' }],
    ['remote_url', 'unsafe_url', { source: 'remote_url', remote_url: 'http://[::ffff:10.0.0.1]:8000/live' }],
    ['remote_buffer', 'out_of_range', { remote_buffer: 121 }],
    ['remote_buffer', 'out_of_range', { remote_buffer: -1 }],
    ['play_per_songs', 'out_of_range', { play_per_songs: 32_768 }],
    ['play_per_minutes', 'out_of_range', { play_per_minutes: -1 }],
    ['play_per_hour_minute', 'out_of_range', { play_per_hour_minute: 60 }],
    ['weight', 'out_of_range', { weight: 101 }],
    ['weight', 'out_of_range', { weight: -1 }],
    ['podcasts', 'not_found', { podcasts: [1] }],
    ['schedule_items.0.start_time', 'out_of_range', { schedule_items: [{ ...morning, start_time: 2400 }] }],
    [
      'schedule_items.1.end_time',
      'out_of_range',
      { schedule_items: [morning, { ...night, end_time: 1260 }] }
    ],
    [
      'schedule_items.0.start_date',
      'invalid_format out_of_range',
      { schedule_items: [{ ...morning, start_date: '2026-02-30' }] }
    ],
    [
      'schedule_items',
      'too_long limit_reached out_of_range',
      { schedule_items: Array.from({ length: 101 }, () => morning) }
    ]
  ]
}

const hlsStreams: ResourceCase = {
  name: 'HLS stream',
  collection: '/api/station/{station_id}/hls_streams',
  single: '/api/station/{station_id}/hls_stream/{id}',
  record: hlsStream,
  minimal: { name: '/minimal-{n}.mp3' },
  defaults: {
    display_name: '/minimal-{n}.mp3 (128kbps MP3)',
    is_visible_on_public_pages: true,
    is_public: false,
    is_default: false,
    fallback_mount: '',
    relay_url: '',
    authhash: '',
    max_listener_duration: 0,
    enable_autodj: true,
    autodj_format: 'mp3',
    autodj_bitrate: 128,
    custom_listen_url: '',
    frontend_config: [],
    listeners_unique: 0,
    listeners_total: 0
  },
  full: {
    name: '/full-{n}.aac',
    display_name: 'Full {n}',
    is_visible_on_public_pages: false,
    is_default: false,
    is_public: true,
    fallback_mount: '/fallback.mp3',
    relay_url: 'https://relay.invalid:8000/live',
    authhash: 'abc',
    max_listener_duration: 3_600,
    enable_autodj: true,
    autodj_format: 'aac',
    autodj_bitrate: 96,
    custom_listen_url: 'https://cdn.invalid/full.aac',
    frontend_config: [{ key: 'charset', value: 'UTF-8' }]
  },
  shows: {},
  changes: [
    [{ name: 'changed-{n}.aac' }, { name: '/changed-{n}.aac' }],
    [{ display_name: 'Changed {n}' }],
    [{ is_visible_on_public_pages: true }],
    [{ is_public: false }],
    [{ is_default: true }],
    [{ is_default: false }],
    [{ fallback_mount: 'other.mp3' }, { fallback_mount: '/other.mp3' }],
    [{ fallback_mount: '' }],
    [{ relay_url: '' }],
    [{ authhash: '' }],
    [{ max_listener_duration: 2_147_483_647 }],
    [{ enable_autodj: false }],
    [{ autodj_format: 'opus' }],
    [{ autodj_bitrate: '320' }, { autodj_bitrate: 320 }],
    [{ custom_listen_url: '' }],
    [
      { frontend_config: { charset: 'latin1', depth: 2, on: true } },
      {
        frontend_config: [
          { key: 'charset', value: 'latin1' },
          { key: 'depth', value: 2 },
          { key: 'on', value: true }
        ]
      }
    ],
    [{ frontend_config: [null, '', [], {}] }, { frontend_config: [] }]
  ],
  ignored: { id: 'abc', links: 5, listeners_unique: 'many', listeners_total: 99, nonsense: { a: 1 } },
  wrong: {
    name: notText,
    display_name: notText,
    is_visible_on_public_pages: notFlag,
    is_default: notFlag,
    is_public: notFlag,
    fallback_mount: notText,
    relay_url: [...notText, 'not a url'],
    authhash: notText,
    max_listener_duration: notWhole,
    enable_autodj: notFlag,
    autodj_format: notWord,
    autodj_bitrate: notWhole,
    custom_listen_url: [...notText, 'not a url'],
    frontend_config: notNamedValues
  },
  refused: [
    ['name', 'required', { name: null }],
    ['name', 'required blank too_short invalid_format', { name: '' }],
    ['name', 'required blank too_short invalid_format', { name: '/' }],
    ['name', 'invalid_format', { name: '/two words' }],
    ['name', 'invalid_format', { name: '/a/../b' }],
    ['name', 'invalid_format', { name: '/a?b' }],
    ['name', 'too_long', { name: `/${'x'.repeat(100)}` }],
    ['display_name', 'too_long', { display_name: 'x'.repeat(256) }],
    ['fallback_mount', 'too_long', { fallback_mount: `/${'x'.repeat(100)}` }],
    ['relay_url', 'invalid_url unsafe_url', { relay_url: 'ftp://relay.invalid/' }],
    ['relay_url', 'unsafe_url', { relay_url: 'http://169.254.169.254/' }],
    ['authhash', 'too_long', { authhash: 'x'.repeat(256) }],
    ['max_listener_duration', 'out_of_range', { max_listener_duration: -1 }],
    ['max_listener_duration', 'out_of_range', { max_listener_duration: 2_147_483_648 }],
    ['autodj_bitrate', 'out_of_range', { autodj_bitrate: 10_001 }],
    [
      'frontend_config',
      'too_long limit_reached out_of_range',
      { frontend_config: Array.from({ length: 51 }, (_, index) => ({ key: `k${index}`, value: 'x' })) }
    ]
  ]
}

const sftpUsers: ResourceCase = {
  name: 'SFTP user',
  collection: '/api/station/{station_id}/sftp-users',
  single: '/api/station/{station_id}/sftp-user/{id}',
  record: sftpUser,
  minimal: { username: 'minimal-{n}', publicKeys: firstSshKey },
  defaults: { password: '' },
  full: {
    username: 'full.{n}',
    password: 'secret-word-{n}',
    publicKeys: `# laptop\n${firstSshKey} me@laptop\n${otherSshKey}`
  },
  shows: { password: '' },
  changes: [
    [{ username: 'changed~{n}' }],
    [{ password: 'secret-word-other-{n}' }, {}],
    [{ password: '' }, {}],
    [{ publicKeys: otherSshKey }],
    [{ publicKeys: '' }]
  ],
  ignored: { id: 'abc', links: 5, nonsense: { a: 1 } },
  wrong: { username: notText, password: notText, publicKeys: notText },
  refused: [
    ['username', 'required', { username: null }],
    ['username', 'required blank too_short invalid_format', { username: '' }],
    ['username', 'invalid_format', { username: 'two words' }],
    ['username', 'invalid_format', { username: 'müller' }],
    ['username', 'too_long invalid_format', { username: 'x'.repeat(33) }],
    ['password', 'too_long', { password: 'x'.repeat(256) }],
    ['publicKeys', 'invalid_public_key', { publicKeys: 'ssh-ed25519 AAAA' }],
    ['publicKeys', 'invalid_public_key', { publicKeys: firstSshKey.replace('ssh-ed25519', 'ssh-rsa') }],
    ['publicKeys', 'too_long', { publicKeys: `${firstSshKey}\n#${'x'.repeat(16_384)}` }]
  ]
}

const remotes: ResourceCase = {
  name: 'remote',
  collection: '/api/station/{station_id}/remotes',
  single: '/api/station/{station_id}/remote/{id}',
  record: remote,
  minimal: { name: 'Minimal {n}', url: 'http://relay.invalid/{n}.mp3' },
  defaults: {
    type: '',
    admin_password: '',
    is_visible: true,
    bitrate: 0,
    format: '',
    listeners_unique: 0,
    listeners_total: 0
  },
  full: {
    name: 'Full {n}',
    url: 'https://relay.invalid:8000/live.mp3?sid={n}',
    type: 'shoutcast2',
    admin_password: 'secret-word-{n}',
    is_visible: false,
    bitrate: 192,
    format: 'opus'
  },
  shows: { admin_password: '' },
  changes: [
    [{ name: '  Trimmed {n} ' }, { name: 'Trimmed {n}' }],
    [{ url: ' http://other.invalid/ ' }, { url: 'http://other.invalid/' }],
    [{ type: 'icecast' }],
    [{ type: '' }],
    [{ admin_password: 'secret-word-other-{n}' }, {}],
    [{ admin_password: '' }, {}],
    [{ admin_password: null }, {}],
    [{ is_visible: 1 }, { is_visible: true }],
    [{ bitrate: '320' }, { bitrate: 320 }],
    [{ format: '' }]
  ],
  ignored: { id: 'abc', listeners_total: 5, listeners_unique: 'x', nonsense: { a: 1 } },
  wrong: {
    name: notText,
    url: notText,
    type: notWord,
    admin_password: notText,
    is_visible: notFlag,
    bitrate: notWhole,
    format: notWord
  },
  refused: [
    ['name', 'blank required', { name: '  ' }],
    ['name', 'too_long', { name: 'x'.repeat(101) }],
    ['url', 'required', { url: null }],
    ['url', 'blank', { url: '' }],
    ['url', 'invalid_url', { url: 'relay.invalid/live' }],
    ['url', 'invalid_url', { url: 'http://admin:pw@relay.invalid/live' }],
    ['url', 'too_long', { url: `http://relay.invalid/${'x'.repeat(255)}` }],
    ['url', 'unsafe_url', { type: 'icecast', url: 'http://127.0.0.1:8000/live' }],
    ['url', 'unsafe_url', { type: 'shoutcast2', url: 'http://169.254.169.254/live' }],
    ['admin_password', 'too_long', { admin_password: 'x'.repeat(256) }],
    ['bitrate', 'out_of_range', { bitrate: 10_001 }],
    ['bitrate', 'out_of_range', { bitrate: -1 }]
  ]
}

const streamers: ResourceCase = {
  name: 'streamer',
  collection: '/api/station/{station_id}/streamers',
  single: '/api/station/{station_id}/streamer/{id}',
  record: streamer,
  minimal: { streamer_username: 'minimal-{n}' },
  defaults: {
    streamer_password: '',
    display_name: '',
    comments: '',
    is_active: true,
    enforce_schedule: false,
    schedule_items: []
  },
  full: {
    streamer_username: 'Full Voice {n}',
    streamer_password: 'secret-word-{n}',
    display_name: 'DJ Full',
    comments: 'On Mondays.\nBrings records.',
    is_active: false,
    enforce_schedule: true,
    schedule_items: [morning, night]
  },
  shows: { streamer_password: '' },
  changes: [
    [{ streamer_username: '  wren+{n}@radio ' }, { streamer_username: 'wren+{n}@radio' }],
    [{ streamer_username: 'sourcerer-{n}' }],
    [{ streamer_password: 'secret-word,with;marks-{n}' }, {}],
    [{ streamer_password: '' }, {}],
    [{ streamer_password: null }, {}],
    [{ display_name: ' DJ Müller \u{1F399} ' }, { display_name: 'DJ Müller \u{1F399}' }],
    [{ comments: '' }],
    [{ is_active: 1 }, { is_active: true }],
    [{ enforce_schedule: 'false' }, { enforce_schedule: false }],
    [{ schedule_items: [] }]
  ],
  ignored: { id: 'abc', artwork: 'x', artwork_hash: 'x', has_custom_art: true, nonsense: { a: 1 } },
  wrong: {
    streamer_username: notText,
    streamer_password: notText,
    display_name: notText,
    comments: notText,
    is_active: notFlag,
    enforce_schedule: notFlag,
    schedule_items: [5, 'abc', true, [5], [{ ...morning, start_time: {} }]]
  },
  refused: [
    ['streamer_username', 'required', { streamer_username: null }],
    ['streamer_username', 'blank', { streamer_username: '  ' }],
    ['streamer_username', 'too_long', { streamer_username: 'x'.repeat(51) }],
    ['streamer_username', 'invalid_format', { streamer_username: 'source' }],
    ['streamer_username', 'invalid_format', { streamer_username: ' SouRCe ' }],
    ['streamer_username', 'invalid_format', { streamer_username: 'wren:lark' }],
    ['streamer_username', 'invalid_format', { streamer_username: 'wren,lark' }],
    ['streamer_username', 'invalid_format', { streamer_username: 'wren\tlark' }],
    ['streamer_password', 'too_long', { streamer_password: 'x'.repeat(256) }],
    ['streamer_password', 'invalid_format', { streamer_password: 'with:colon' }],
    ['display_name', 'invalid_format', { display_name: 'DJ\nWren' }],
    ['schedule_items.0.end_time', 'out_of_range', { schedule_items: [{ ...morning, end_time: 1260 }] }]
  ]
}

const generic = [
  { key: 'webhook_url', value: 'https://hooks.invalid/{n}' },
  { key: 'timeout', value: 5 }
]
const configured = (config: Body, type = 'generic'): Body => ({ type, config })

const webhooks: ResourceCase = {
  name: 'web hook',
  collection: '/api/station/{station_id}/webhooks',
  single: '/api/station/{station_id}/webhook/{id}',
  record: webhook,
  minimal: { type: 'generic', name: 'Minimal {n}' },
  defaults: { is_enabled: true, triggers: [] },
  full: {
    name: 'Full {n}',
    type: 'generic',
    is_enabled: false,
    triggers: ['live_connect', 'live_disconnect'],
    config: [...generic, { key: 'basic_auth_password', value: 'secret-word-{n}' }]
  },
  shows: { config: generic },
  changes: [
    [{ name: 'Changed {n}' }],
    [{ name: '' }],
    [{ is_enabled: true }],
    [{ is_enabled: 'false' }, { is_enabled: false }],
    [{ triggers: ['station_online'] }],
    [{ triggers: [null, 'listener_gained', ''] }, { triggers: ['listener_gained'] }],
    [{ triggers: [] }],
    [
      { config: { webhook_url: 'https://hooks.invalid/other/{n}', timeout: 9, rate_limit: 60 } },
      {
        config: [
          { key: 'webhook_url', value: 'https://hooks.invalid/other/{n}' },
          { key: 'timeout', value: 9 },
          { key: 'rate_limit', value: 60 }
        ]
      }
    ]
  ],
  ignored: { id: 'abc', links: 5, metadata: 5, nonsense: { a: 1 } },
  wrong: {
    name: notText,
    type: notWord,
    is_enabled: notFlag,
    triggers: [...notListOfText, ['nonsense']],
    config: notNamedValues
  },
  refused: [
    ['name', 'too_long', { name: 'x'.repeat(101) }],
    ['type', 'required', { type: null }],
    ['triggers', 'not_allowed_for_type', { type: 'discord', triggers: ['listener_gained'] }],
    ['triggers', 'not_allowed_for_type', { type: 'tunein', triggers: ['live_connect'] }],
    ['config', 'required', configured({ timeout: 5 })],
    ['config', 'unknown_key', configured({ webhook_url: 'https://hooks.invalid/', nonsense: 1 })],
    ['config', 'invalid_url', configured({ webhook_url: 'not a url' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://127.0.0.1:9000/' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://2130706433/' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://0x7f.1/' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://[::1]:9000/' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://169.254.169.254/' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://100.64.0.1/' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://[fd00::1]/' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://[64:ff9b::7f00:1]/' })],
    ['config', 'unsafe_url invalid_url', configured({ webhook_url: 'ftp://example.com/' })],
    ['config', 'unsafe_url invalid_url', configured({ webhook_url: 'http://u:p@example.com/' })],
    ['config', 'unsafe_url', configured({ webhook_url: 'http://example.com:25/' })],
    ['config', 'out_of_range', configured({ webhook_url: 'https://hooks.invalid/', timeout: 31 })],
    ['config', 'out_of_range', configured({ webhook_url: 'https://hooks.invalid/', rate_limit: 86_401 })],
    ['config', 'invalid_format', configured({ webhook_url: 'https://hooks.invalid/', headers: 'no colon' })],
    ['config', 'required', configured({ to: 'dj@radio.invalid', subject: 'Now' }, 'email')],
    ['config', 'required', configured({ bot_token: 'secret-word', text: 'Now' }, 'telegram')],
    ['config', 'required', configured({ handle: 'radio.invalid' }, 'bluesky')],
    ['config', 'required', configured({ station_id: 's1', partner_id: 'p1' }, 'tunein')]
  ]
}

const customFields: ResourceCase = {
  name: 'custom field',
  collection: '/api/admin/custom_fields',
  single: '/api/admin/custom_field/{id}',
  record: customField,
  minimal: { name: 'Minimal Field {n}' },
  defaults: { short_name: 'minimal_field_{n}', auto_assign: '' },
  full: { name: 'Full {n}', short_name: 'Full.{n}', auto_assign: 'mood' },
  shows: {},
  changes: [
    [{ name: ' Changed {n} ' }, { name: 'Changed {n}' }],
    [{ short_name: 'changed-{n}' }],
    [{ auto_assign: 'my own tag' }],
    [{ auto_assign: '' }]
  ],
  ignored: { id: 'abc', links: 5, nonsense: { a: 1 } },
  wrong: { name: notText, short_name: notText, auto_assign: notText },
  refused: [
    ['name', 'required', { name: null }],
    ['name', 'required blank', { name: ' ' }],
    ['name', 'too_long', { name: 'x'.repeat(256) }],
    ['short_name', 'invalid_format', { short_name: 'two words' }],
    ['short_name', 'invalid_format', { short_name: 'färbung' }],
    ['short_name', 'invalid_format', { short_name: '__proto__' }],
    ['short_name', 'invalid_format', { short_name: 'constructor' }],
    ['short_name', 'too_long', { short_name: 'x'.repeat(101) }],
    ['auto_assign', 'too_long', { auto_assign: 'x'.repeat(101) }]
  ]
}

const unsetStorage = {
  s3CredentialKey: '',
  s3Region: '',
  s3Bucket: '',
  s3Endpoint: '',
  dropboxAppKey: '',
  sftpHost: '',
  sftpUsername: '',
  sftpPort: 0,
  storageQuota: '',
  storageQuotaBytes: '',
  stations: []
}

const storage = {
  collection: '/api/admin/storage_locations',
  single: '/api/admin/storage_location/{id}',
  record: storageLocation,
  ignored: {
    id: 'abc',
    links: 5,
    uri: 'elsewhere',
    stations: 5,
    storageUsed: {},
    storageUsedBytes: '5',
    storageAvailable: 5,
    storageAvailableBytes: [],
    storageUsedPercent: '101',
    isFull: 'true',
    nonsense: { a: 1 }
  },
  wrong: {
    type: notWord,
    adapter: notWord,
    path: notText,
    s3CredentialKey: notText,
    s3CredentialSecret: notText,
    s3Region: notText,
    s3Version: notText,
    s3Bucket: notText,
    s3Endpoint: notText,
    dropboxAppKey: notText,
    dropboxAppSecret: notText,
    dropboxAuthToken: notText,
    sftpHost: notText,
    sftpUsername: notText,
    sftpPassword: notText,
    sftpPort: notWhole,
    sftpPrivateKey: notText,
    sftpPrivateKeyPassPhrase: notText,
    storageQuota: [{ a: 1 }, true, ['x'], '-1', '5O GB', '1,5 GB'],
    storageQuotaBytes: [{ a: 1 }, true, ['x'], '-1', '5O GB', '1,5 GB']
  }
} as const

const localStorage: ResourceCase = {
  ...storage,
  name: 'storage location (local)',
  minimal: { type: 'station_media', adapter: 'local', path: '/srv/minimal-{n}' },
  defaults: { ...unsetStorage, s3Version: 'latest', uri: '/srv/minimal-{n}' },
  full: {
    type: 'station_recordings',
    adapter: 'local',
    path: '//srv/./x/../full-{n}/',
    storageQuota: '1.5gb'
  },
  shows: {
    path: '/srv/full-{n}',
    uri: '/srv/full-{n}',
    storageQuota: '1.5 GB',
    storageQuotaBytes: '1610612736'
  },
  changes: [
    [{ path: '/srv/changed-{n}' }, { path: '/srv/changed-{n}', uri: '/srv/changed-{n}' }],
    [{ type: 'station_recordings', adapter: 'local' }]
  ],
  refused: [
    ['type', 'required', { type: null }],
    ['adapter', 'required', { adapter: null }],
    ['path', 'too_long', { path: `/${'x'.repeat(255)}` }],
    ['s3Bucket', 'required blank', { adapter: 's3', s3CredentialKey: 'k', s3CredentialSecret: 's' }],
    ['s3CredentialSecret', 'required blank', { adapter: 's3', s3CredentialKey: 'k', s3Bucket: 'b' }],
    ['dropboxAuthToken', 'required blank', { adapter: 'dropbox' }],
    ['sftpHost', 'required blank', { adapter: 'sftp', sftpUsername: 'u', sftpPassword: 'p' }],
    ['sftpPassword', 'required blank', { adapter: 'sftp', sftpUsername: 'u', sftpHost: 'h.invalid' }]
  ]
}

const s3Storage: ResourceCase = {
  ...storage,
  name: 'storage location (s3)',
  minimal: {
    type: 'backup',
    adapter: 's3',
    path: 'minimal-{n}',
    s3Bucket: 'bucket',
    s3CredentialKey: 'AKIA{n}',
    s3CredentialSecret: 'secret-word-{n}'
  },
  defaults: {
    ...unsetStorage,
    s3Bucket: 'bucket',
    s3CredentialKey: 'AKIA{n}',
    s3CredentialSecret: '',
    s3Version: 'latest',
    uri: 's3://bucket/minimal-{n}'
  },
  full: {
    type: 'station_podcasts',
    adapter: 's3',
    path: '/full//{n}/',
    s3Bucket: 'bucket',
    s3CredentialKey: 'AKIA{n}',
    s3CredentialSecret: 'secret-word-{n}',
    s3Region: 'eu-west-1',
    s3Version: '2006-03-01',
    s3Endpoint: 'https://s3.invalid',
    storageQuotaBytes: '60000'
  },
  shows: {
    path: 'full/{n}',
    uri: 's3://bucket/full/{n}',
    s3CredentialSecret: '',
    storageQuota: '58.5 KB',
    storageUsedPercent: '0',
    storageAvailable: '58.5 KB',
    storageAvailableBytes: '60000',
    isFull: 'false'
  },
  changes: [
    [{ path: 'other/{n}' }, { path: 'other/{n}', uri: 's3://bucket/other/{n}' }],
    [{ s3Bucket: 'pail' }, { s3Bucket: 'pail', uri: 's3://pail/other/{n}' }],
    [{ s3CredentialKey: 'AKIB{n}' }],
    [{ s3CredentialSecret: 'secret-word-other-{n}' }, {}],
    [{ s3Region: '' }],
    [{ s3Version: 'latest' }],
    [{ s3Endpoint: '' }],
    [
      { storageQuota: '50 GB' },
      {
        storageQuota: '50.0 GB',
        storageQuotaBytes: '53687091200',
        storageAvailable: '50.0 GB',
        storageAvailableBytes: '53687091200'
      }
    ],
    [
      { storageQuotaBytes: '9007199254740993' },
      {
        storageQuota: '8.0 PB',
        storageQuotaBytes: '9007199254740993',
        storageAvailable: '8.0 PB',
        storageAvailableBytes: '9007199254740993'
      }
    ],
    [
      { storageQuota: '0' },
      { storageQuota: '', storageQuotaBytes: '', storageAvailable: '', storageAvailableBytes: '' }
    ]
  ],
  refused: [
    ['s3Bucket', 'required blank', { s3Bucket: '' }],
    ['s3CredentialKey', 'required blank', { s3CredentialKey: '' }],
    ['s3Endpoint', 'invalid_url unsafe_url', { s3Endpoint: 'ftp://s3.invalid' }],
    ['s3Endpoint', 'invalid_url', { s3Endpoint: 'not a url' }]
  ]
}

const dropboxStorage: ResourceCase = {
  ...storage,
  name: 'storage location (dropbox)',
  minimal: { type: 'backup', adapter: 'dropbox', path: 'minimal-{n}', dropboxAuthToken: 'secret-word-{n}' },
  defaults: { ...unsetStorage, s3Version: 'latest', dropboxAuthToken: '' },
  full: {
    type: 'backup',
    adapter: 'dropbox',
    path: 'full/{n}',
    dropboxAppKey: 'app{n}',
    dropboxAppSecret: 'secret-word-app-{n}',
    dropboxAuthToken: 'secret-word-token-{n}'
  },
  shows: { dropboxAppSecret: '', dropboxAuthToken: '', uri: 'dropbox://app{n}/full/{n}' },
  changes: [
    [{ dropboxAppSecret: 'secret-word-other-{n}' }, {}],
    [{ dropboxAuthToken: 'secret-word-other-{n}' }, {}],
    [{ dropboxAppKey: 'key{n}' }, { dropboxAppKey: 'key{n}', uri: 'dropbox://key{n}/full/{n}' }]
  ],
  refused: [['dropboxAuthToken', 'required blank', { dropboxAuthToken: '' }]]
}

const sftpStorage: ResourceCase = {
  ...storage,
  name: 'storage location (sftp)',
  minimal: {
    type: 'backup',
    adapter: 'sftp',
    path: '/minimal-{n}',
    sftpHost: 'files.invalid',
    sftpUsername: 'me',
    sftpPassword: 'secret-word-{n}'
  },
  defaults: {
    ...unsetStorage,
    s3Version: 'latest',
    sftpHost: 'files.invalid',
    sftpUsername: 'me',
    sftpPassword: '',
    uri: 'sftp://me@files.invalid/minimal-{n}'
  },
  full: {
    type: 'backup',
    adapter: 'sftp',
    path: '/full/{n}/',
    sftpHost: 'files.invalid',
    sftpUsername: 'me',
    sftpPort: 2022,
    sftpPassword: 'secret-word-{n}',
    sftpPrivateKey: 'secret-word-key-{n}',
    sftpPrivateKeyPassPhrase: 'secret-word-phrase-{n}'
  },
  shows: {
    path: '/full/{n}',
    sftpPassword: '',
    sftpPrivateKey: '',
    sftpPrivateKeyPassPhrase: '',
    uri: 'sftp://me@files.invalid:2022/full/{n}'
  },
  changes: [
    [{ sftpPort: 22 }, { sftpPort: 22, uri: 'sftp://me@files.invalid/full/{n}' }],
    [{ sftpUsername: 'you' }, { sftpUsername: 'you', uri: 'sftp://you@files.invalid/full/{n}' }],
    [{ sftpHost: 'nas.invalid' }, { sftpHost: 'nas.invalid', uri: 'sftp://you@nas.invalid/full/{n}' }],
    [{ sftpPassword: 'secret-word-other-{n}' }, {}],
    [{ sftpPrivateKey: null }, {}],
    [{ sftpPrivateKeyPassPhrase: null }, {}]
  ],
  refused: [
    ['sftpUsername', 'required blank', { sftpUsername: '' }],
    ['sftpHost', 'required blank', { sftpHost: null }]
  ]
}

export const resourceCases: readonly ResourceCase[] = [
  playlists,
  hlsStreams,
  remotes,
  sftpUsers,
  streamers,
  webhooks,
  customFields,
  localStorage,
  s3Storage,
  dropboxStorage,
  sftpStorage
]
