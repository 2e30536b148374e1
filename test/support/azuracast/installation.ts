import { createHash } from 'node:crypto'

import type { DumpRows, DumpValue } from './dump.ts'

/** How large a generated installation is. */
export interface InstallationSizes {
  readonly stations: number
  /** Of all stations. */
  readonly songs: number
  readonly plays: number
  /** Days with listener counts: by the hour for the last 14, by the day before. */
  readonly days: number
  /** The days for which the installation keeps plays, by default 90; 0: forever. */
  readonly keptDays?: number
}

/** Unix seconds of the end of the newest play. */
export const newestPlay = 1_700_000_000

/** API keys as clients have them, by the user. */
export const apiKeys = {
  administrator: `${'a1'.repeat(8)}:${'5e'.repeat(16)}`,
  manager: `${'b2'.repeat(8)}:${'6f'.repeat(16)}`
} as const

/** `correct horse`, as PHP hashes it with `PASSWORD_ARGON2ID`. */
const argonHash =
  '$argon2id$v=19$m=65536,t=4,p=1$91cPkQnXp7bP6HJN409sbA$NCFFdOh5hABz4Aw8WmD1D62H/pgI8iVUJOUZQubArmo'

export const uniqueIdOf = (song: number): string =>
  createHash('md5').update(`song ${song}`).digest('hex').slice(0, 24)
export const mediaFolderOf = (station: number): string =>
  `/var/azuracast/stations/${shortNameOf(station)}/media`
const shortNameOf = (station: number): string => `station_${station}`

/** When a request was made that is not played yet. */
const aMinuteAgo = new Date(Date.now() - 60_000)

type Row = Readonly<Record<string, DumpValue>>

/** Generates the rows of an installation. The same sizes give the same rows. */
export function generateInstallation(sizes: InstallationSizes): DumpRows {
  const perStation = Math.ceil(sizes.songs / sizes.stations)
  const stationOf = (song: number) => Math.floor((song - 1) / perStation) + 1
  return {
    settings: [
      {
        app_unique_identifier: `00000000-0000-4000-8000-${String(sizes.stations).padStart(12, '0')}`,
        base_url: 'radio.example.com',
        always_use_ssl: true,
        instance_name: 'Example Radio',
        public_theme: 'dark',
        homepage_redirect_url: 'https://www.example.com/',
        default_album_art_url: 'not an address',
        history_keep_days: sizes.keptDays ?? 90,
        analytics: 'none',
        prefer_browser_url: true,
        use_radio_proxy: true,
        enable_liquidsoap_editing: true,
        enable_all_webhooks: true,
        filter_local_user_urls: true,
        check_for_updates: true,
        mail_enabled: true,
        mail_smtp_host: 'mail.example.com',
        mail_smtp_port: 465,
        mail_sender_email: 'radio@example.com'
      }
    ],
    storage_location: range(sizes.stations * 3, id => ({
      id,
      type: ['station_media', 'station_recordings', 'station_podcasts'][(id - 1) % 3] ?? '',
      adapter: 'local',
      path: mediaFolderOf(Math.ceil(id / 3)).replace(
        'media',
        ['media', 'recordings', 'podcasts'][(id - 1) % 3] ?? ''
      ),
      storage_quota: 50_000_000_000
    })),
    station: range(sizes.stations, stationRow),
    users: [
      {
        id: 1,
        email: 'admin@example.com',
        name: 'Ada',
        auth_password: argonHash,
        locale: 'de_DE',
        show_24_hour_time: true,
        created_at: newestPlay - 86_400
      },
      { id: 2, email: 'manager@example.com', name: 'Max', auth_password: argonHash, created_at: newestPlay },
      {
        id: 3,
        email: 'old@example.com',
        auth_password: '$2y$10$abcdefghijklmnopqrstuv',
        two_factor_secret: 'x'
      }
    ],
    role: [
      { id: 1, name: 'Super Administrator' },
      { id: 2, name: 'Managers of station 1' }
    ],
    role_permissions: [
      { id: 1, role_id: 1, action_name: 'administer all' },
      { id: 2, role_id: 2, station_id: 1, action_name: 'view station management' },
      { id: 3, role_id: 2, station_id: 1, action_name: 'manage station media' },
      { id: 4, role_id: 2, action_name: 'manage coffee' }
    ],
    user_has_role: [
      { user_id: 1, role_id: 1 },
      { user_id: 2, role_id: 2 }
    ],
    api_keys: [
      keyRow(apiKeys.administrator, 1, 'Website'),
      keyRow(apiKeys.manager, 2, 'Uploader'),
      { id: 'short', user_id: 1, verifier: 'x', comment: 'Odd' }
    ],
    custom_field: [
      { id: 3, name: 'Mood', short_name: 'mood', auto_assign: 'mood' },
      { id: 5, name: 'Notes', short_name: 'notes' }
    ],
    station_media: range(sizes.songs, id => mediaRow(id, stationOf(id))),
    station_media_custom_field: range(Math.min(sizes.songs, 100), id => ({
      id,
      media_id: id,
      field_id: 3,
      field_value: `mood "${id}"`
    })),
    station_playlists: range(sizes.stations * 3, playlistRow),
    station_playlist_media: playlistSongs(sizes, stationOf),
    station_playlist_folders: [
      { id: 1, station_id: 1, playlist_id: 1, path: 'Various/New' },
      { id: 2, station_id: 1, playlist_id: 1, path: 'Album 3' },
      { id: 3, station_id: 1, playlist_id: 1, path: '' }
    ],
    station_schedules: [
      { id: 7, playlist_id: 2, start_time: 900, end_time: 1730, days: '1,2,3', loop_once: true },
      { id: 9, streamer_id: 1, start_time: 2200, end_time: 100, start_date: '2026-01-01', days: '' }
    ],
    station_mounts: range(sizes.stations * 2, id => ({
      id,
      station_id: Math.ceil(id / 2),
      name: id % 2 === 1 ? '/radio.mp3' : '/low.aac',
      display_name: id % 2 === 1 ? '' : 'Low',
      is_visible_on_public_pages: true,
      is_default: id % 2 === 1,
      enable_autodj: true,
      autodj_format: id % 2 === 1 ? 'mp3' : 'aac',
      autodj_bitrate: id % 2 === 1 ? 192 : 64,
      frontend_config: id === 1 ? '<mount>\n\t<burst-size>65536</burst-size>\n</mount>' : null,
      intro_path: id === 1 ? 'intro.mp3' : null
    })),
    station_hls_streams: range(sizes.stations, id => ({
      id,
      station_id: id,
      name: 'aac_hifi',
      format: 'aac',
      bitrate: 256
    })),
    station_remotes: [
      {
        id: 1,
        station_id: 1,
        type: 'icecast',
        url: 'http://relay.example.com:8000',
        mount: '/main.mp3',
        display_name: 'Oslo',
        admin_password: 'hackme',
        is_visible_on_public_pages: true
      },
      {
        id: 3,
        station_id: 1,
        type: 'azurarelay',
        relay_id: 4,
        url: 'http://relay.example.org',
        mount: '/radio.mp3',
        display_name: 'Far away',
        is_visible_on_public_pages: true
      },
      {
        id: 2,
        station_id: 1,
        type: 'shoutcast1',
        url: 'http://old.example.com:8010/',
        display_name: '',
        enable_autodj: true
      }
    ],
    relays: [
      {
        id: 4,
        base_url: 'http://relay.example.org',
        name: 'Far away',
        is_visible_on_public_pages: true,
        created_at: at(newestPlay),
        updated_at: at(newestPlay)
      }
    ],
    station_streamers: [
      {
        id: 1,
        station_id: 1,
        streamer_username: 'wren',
        streamer_password: argonHash,
        display_name: 'DJ Wren',
        comments: "It's late;\nring twice",
        is_active: true,
        enforce_schedule: true,
        art_updated_at: 5
      },
      { id: 2, station_id: 1, streamer_username: 'no:colon', streamer_password: argonHash, is_active: true }
    ],
    station_streamer_broadcasts: [
      {
        id: 4,
        station_id: 1,
        streamer_id: 1,
        timestamp_start: at(newestPlay - 7_200),
        timestamp_end: at(newestPlay - 3_600)
      },
      {
        id: 5,
        station_id: 1,
        streamer_id: 1,
        timestamp_start: at(newestPlay - 60),
        timestamp_end: null,
        recording_path: 'wren/stream.mp3'
      }
    ],
    sftp_user: [
      {
        id: 1,
        station_id: 1,
        username: 'uploader',
        password: argonHash,
        public_keys: '# laptop\nssh-ed25519 broken'
      },
      { id: 2, station_id: 1, username: 'not allowed', password: argonHash }
    ],
    station_webhooks: [
      {
        id: 1,
        station_id: 1,
        name: 'Site',
        type: 'generic',
        is_enabled: true,
        triggers: ['song_changed'],
        config: {
          webhook_url: 'https://hooks.example.com/radio',
          basic_auth_username: 'u',
          basic_auth_password: 'secret',
          timeout: 5
        }
      },
      { id: 2, station_id: 1, type: 'discord', is_enabled: true, triggers: [], config: { title: 'Now' } },
      { id: 3, station_id: 1, type: 'carrier_pigeon', is_enabled: true, triggers: [], config: {} }
    ],
    station_requests: [
      {
        id: 1,
        station_id: 1,
        track_id: 1,
        timestamp: at(newestPlay - 9_000),
        played_at: at(newestPlay - 8_000),
        ip: '203.0.113.7'
      },
      { id: 2, station_id: 1, track_id: 2, timestamp: aMinuteAgo, ip: '203.0.113.8' }
    ],
    station_queue: [
      queueRow(11, { is_played: true }),
      queueRow(12, { playlist_id: 1, media_id: 1 }),
      queueRow(13, { media_id: 2, request_id: 2 }),
      queueRow(14, { text: 'Stream - Only' })
    ],
    song_history: range(sizes.plays, id => playRow(id, sizes)),
    analytics: analyticsRows(sizes),
    podcast: [{ id: '00000000-0000-4000-9000-000000000001', storage_location_id: 3, title: 'Talk' }],
    audit_log: [
      { id: 1, timestamp: at(newestPlay), operation: 1, class: 'Station', identifier: 'x', changes: {} }
    ],
    app_migrations: [
      { version: 'App\\Entity\\Migration\\Version20260807193430', executed_at: at(newestPlay) }
    ]
  }
}

const at = (seconds: number) => new Date(seconds * 1_000)

function* range(count: number, make: (id: number) => Row): Generator<Row> {
  for (let id = 1; id <= count; id++) yield make(id)
}

function keyRow(key: string, userId: number, comment: string): Row {
  const [id = '', secret = ''] = key.split(':')
  return { id, user_id: userId, verifier: createHash('sha512').update(secret).digest('hex'), comment }
}

function stationRow(id: number): Row {
  return {
    id,
    name: `Station ${id} – Bücher & Töne`,
    short_name: shortNameOf(id),
    frontend_type: 'icecast',
    frontend_config: {
      port: 8_000 + id * 10,
      source_pw: 'source',
      admin_pw: 'admin',
      relay_pw: 'r',
      streamer_pw: 's',
      max_listeners: 250
    },
    backend_type: 'liquidsoap',
    backend_config: {
      autodj_queue_length: 4,
      crossfade: 3.5,
      crossfade_type: 'smart',
      duplicate_prevention_time_range: 90,
      live_broadcast_text: 'On air now',
      charset: 'UTF-8',
      dj_buffer: 5,
      hls_segment_length: 6,
      hls_is_default: true,
      custom_config: id === 1 ? 'radio = amplify(1.1, radio)' : null
    },
    adapter_api_key: `playout-key-${id}`,
    description: `It's station "${id}"\nwith two lines \\ and a backslash`,
    url: 'https://station.example.com/',
    genre: 'Jazz',
    radio_base_dir: `/var/azuracast/stations/${shortNameOf(id)}`,
    enable_requests: true,
    request_delay: 7,
    request_threshold: 30,
    enable_streamers: true,
    enable_on_demand: id % 3 !== 0,
    enable_public_page: id % 5 !== 0,
    enable_public_api: id % 5 !== 0,
    is_enabled: true,
    enable_hls: true,
    api_history_items: 8,
    branding_config: { offline_text: 'Back soon', public_custom_css: id === 1 ? 'a {}' : null },
    timezone: 'Europe/Berlin',
    max_bitrate: 320,
    max_mounts: 4,
    max_hls_streams: 2,
    media_storage_location_id: id * 3 - 2,
    recordings_storage_location_id: id * 3 - 1,
    podcasts_storage_location_id: id * 3
  }
}

/** AzuraCast derives the text of a song, and its id, from artist, album and title. */
function songOf(id: number): Row {
  const text = `Artist ${id % 900} - Album ${id % 50} - Title ${id}`
  const song_id = createHash('md5').update(text.replaceAll(/[ -]/g, '').toLowerCase()).digest('hex')
  return { song_id, text }
}

function mediaRow(id: number, station: number): Row {
  return {
    id,
    ...songOf(id),
    artist: `Artist ${id % 900}`,
    title: `Title ${id}`,
    album: `Album ${id % 50}`,
    genre: 'Jazz',
    isrc: 'USRC17607839',
    lyrics: id % 100 === 1 ? 'La\nla "la"' : null,
    length: 180.5 + (id % 60),
    path: `Album ${id % 50}/Title ${id} (${station}).mp3`,
    mtime: newestPlay - 1_000_000,
    uploaded_at: newestPlay - 2_000_000,
    unique_id: uniqueIdOf(id),
    storage_location_id: station * 3 - 2,
    extra_metadata: id % 3 === 0 ? { cue_in: 1.5, cue_out: 170, fade_in: null, amplify: -2.5 } : null
  }
}

function playlistRow(id: number): Row {
  const kind = (id - 1) % 3
  return {
    id,
    station_id: Math.ceil(id / 3),
    name: ['Rotation', 'Mornings', 'Relay'][kind] ?? '',
    description: kind === 1 ? 'From nine' : null,
    type: kind === 1 ? 'once_per_x_songs' : 'default',
    source: kind === 2 ? 'remote_url' : 'songs',
    playback_order: kind === 1 ? 'sequential' : 'shuffle',
    remote_url: kind === 2 ? `https://relay.example.com/stream${id}.mp3` : null,
    remote_type: 'stream',
    remote_timeout: kind === 2 ? 10 : 0,
    is_enabled: kind !== 2,
    play_per_songs: kind === 1 ? 12 : 0,
    weight: 5,
    include_in_requests: true,
    include_in_on_demand: true,
    backend_options: kind === 1 ? 'interrupt,single_track' : '',
    avoid_duplicates: true
  }
}

/** The songs of all rotations, and then the last song of each station in `Mornings`, before the one ahead of it. */
function* playlistSongs({ songs }: InstallationSizes, stationOf: (song: number) => number): Generator<Row> {
  const entry = (id: number, media_id: number, place: number): Row => ({
    id,
    playlist_id: (stationOf(media_id) - 1) * 3 + place,
    media_id,
    weight: songs - media_id,
    folder_id: media_id === 3 && place === 1 ? 2 : null,
    is_queued: media_id % 2 === 0,
    last_played: media_id % 2 === 0 ? 0 : newestPlay - media_id
  })
  yield* range(songs, id => entry(id, id, 1))
  let id = songs
  for (let song = 1; song <= songs; song++) {
    const isLast = song === songs || stationOf(song + 1) !== stationOf(song)
    if (!isLast || song === 1 || stationOf(song - 1) !== stationOf(song)) continue
    for (const each of [song, song - 1]) yield entry((id += 1), each, 2)
  }
}

function queueRow(id: number, row: Row): Row {
  return {
    id,
    station_id: 1,
    song_id: 'x',
    timestamp_cued: at(newestPlay),
    timestamp_played: at(newestPlay + 60),
    duration: 181.5,
    is_visible: true,
    ...row
  }
}

const playSeconds = 200

/** A row of `song_history`: the stations take turns. */
export function playRow(id: number, { stations, songs, plays }: InstallationSizes): Row {
  const perStation = Math.ceil(songs / stations)
  const station = ((id - 1) % stations) + 1
  const mediaId = Math.min(songs, (station - 1) * perStation + ((id * 7_919) % perStation) + 1)
  const step = Math.floor((plays - id) / stations)
  const start = newestPlay - (step + 1) * playSeconds
  const isOpen = id > plays - stations
  const listeners = (id * 31) % 97
  return {
    id,
    station_id: station,
    playlist_id: station * 3 - 2,
    media_id: mediaId,
    streamer_id: station === 1 && id % 50 === 1 ? 1 : null,
    request_id: id % 40 === 1 ? 1 : null,
    ...songOf(mediaId),
    artist: `Artist ${mediaId % 900}`,
    title: `Title ${mediaId}`,
    album: `Album ${mediaId % 50}`,
    timestamp_start: at(start),
    timestamp_end: isOpen ? null : at(start + playSeconds),
    duration: playSeconds,
    listeners_start: listeners,
    listeners_end: isOpen ? null : listeners + 3,
    unique_listeners: listeners + 1,
    delta_total: isOpen ? 0 : 3,
    delta_positive: isOpen ? 0 : 5,
    delta_negative: isOpen ? 0 : 2,
    delta_points: [listeners, listeners + 5, listeners + 3],
    is_visible: id % 10 !== 0
  }
}

function* analyticsRows({ stations, days }: InstallationSizes): Generator<Row> {
  const hourSeconds = 3_600
  const today = Math.floor(newestPlay / 86_400) * 86_400
  let id = 0
  for (let day = days; day > 0; day--)
    for (const station of [null, ...Array.from({ length: stations }, (_, index) => index + 1)]) {
      const start = today - day * 86_400
      const counts = (number: number) => ({
        number_min: Math.floor(number),
        number_max: Math.ceil(number) + 9,
        number_avg: number + 4.4,
        number_unique: Math.ceil(number) + 2
      })
      id += 1
      yield { id, station_id: station, type: 'day', moment: at(start), ...counts(day > 14 ? day : 11.5) }
      if (day > 14) continue
      for (let hour = 0; hour < 24; hour++) {
        id += 1
        yield {
          id,
          station_id: station,
          type: 'hour',
          moment: at(start + hour * hourSeconds),
          ...counts(hour)
        }
      }
    }
}
