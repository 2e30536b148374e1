import type { RequestListener } from 'node:http'

import { newestPlay, uniqueIdOf } from './installation.ts'

type Json = Readonly<Record<string, unknown>>

export const apiUrlKey = `${'c3'.repeat(8)}:${'7a'.repeat(16)}`

const playsPerStation = 1_100

const station = (id: number): Json => ({
  id,
  name: `Station ${id}`,
  short_name: `station_${id}`,
  is_enabled: true,
  frontend_type: 'icecast',
  frontend_config: { port: 8_000, max_listeners: null, banned_countries: [] },
  backend_type: 'liquidsoap',
  backend_config: { autodj_queue_length: 5, audio_processing_method: 'none', share_encoders: false },
  branding_config: { offline_text: null, public_custom_css: null },
  enable_on_demand: false,
  timezone: 'UTC',
  enable_public_page: true,
  api_history_items: 5,
  media_storage_location: { id },
  recordings_storage_location: 11,
  podcasts_storage_location: 12
})

const location = (id: number, type: string): Json => ({
  id,
  type,
  adapter: 'local',
  path: `/var/azuracast/stations/station_${id}/${type}`,
  storageQuotaBytes: '1000',
  s3CredentialKey: null
})

/** Plays of both stations alternate. The newest are first. */
const plays = (stationId: number): Json[] =>
  Array.from({ length: playsPerStation }, (_, index) => {
    const number = playsPerStation - index
    const id = number * 2 - (stationId === 1 ? 1 : 0)
    return {
      sh_id: id,
      played_at: newestPlay + id * 100,
      duration: 90,
      playlist: 'Rotation',
      streamer: '',
      is_request: id % 7 === 0,
      listeners_start: 4,
      listeners_end: 7,
      delta_total: 3,
      is_visible: true,
      song: { text: 'Ann - Aria', artist: 'Ann', title: 'Aria', album: 'Songs' }
    }
  })

const ofStations: Readonly<Record<string, (stationId: number) => Json[]>> = {
  playlists: id => [
    {
      id,
      name: 'Rotation',
      type: 'default',
      source: 'songs',
      order: 'sequential',
      is_enabled: true,
      weight: 3,
      backend_options: [''],
      schedule_items: [{ id: id + 20, start_time: 800, end_time: 900, days: [1, 2], loop_once: false }]
    }
  ],
  streamers: id => [
    { id, streamer_username: 'wren', display_name: 'Wren', is_active: true, schedule_items: [] }
  ],
  files: id =>
    [1, 2].map(number => ({
      id: id * 10 + number,
      unique_id: uniqueIdOf(id * 10 + number),
      path: `Song ${number}.mp3`,
      artist: 'Ann',
      title: `Aria ${number}`,
      length: 90,
      mtime: newestPlay,
      uploaded_at: newestPlay,
      playlists: [{ id, name: 'Rotation' }],
      custom_fields: { mood: 'calm' },
      extra_metadata: { cue_in: 2 }
    })),
  mounts: id => [
    {
      id,
      name: '/radio.mp3',
      is_default: true,
      enable_autodj: true,
      autodj_format: 'mp3',
      autodj_bitrate: 96,
      is_visible_on_public_pages: true
    }
  ],
  hls_streams: () => [],
  remotes: () => [],
  'sftp-users': id => [{ id, username: `user-${id}`, publicKeys: '' }],
  webhooks: id => [
    {
      id,
      type: 'generic',
      is_enabled: true,
      triggers: ['live_connect'],
      config: { webhook_url: 'https://hooks.example.com/' }
    }
  ],
  history: plays
}

const ofInstallation: Readonly<Record<string, Json[]>> = {
  stations: [station(1), station(2)],
  storage_locations: [
    location(1, 'station_media'),
    location(2, 'station_media'),
    location(11, 'station_recordings'),
    location(12, 'station_podcasts')
  ],
  custom_fields: [{ id: 1, name: 'Mood', short_name: 'mood' }],
  roles: [
    {
      id: 1,
      name: 'Hosts',
      permissions: { global: [], station: [{ id: 2, permissions: ['manage station media'] }] }
    }
  ],
  users: [{ id: 1, email: 'host@example.com', name: 'Host', roles: [{ id: 1, name: 'Hosts' }] }]
}

/** Answers like AzuraCast's API, once with 503. */
export function openAzuracastApi(): RequestListener {
  let hasFailed = false
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://azuracast')
    const send = (status: number, body: unknown) =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    if (request.headers['x-api-key'] !== apiUrlKey) {
      send(403, { code: 403 })
      return
    }
    if (!hasFailed) {
      hasFailed = true
      send(503, {})
      return
    }
    if (pathname === '/api/admin/settings') {
      send(200, { app_unique_identifier: 'of the api', base_url: 'https://radio.example.com' })
      return
    }
    const order = /^\/api\/station\/(\d)\/playlist\/\d\/order$/.exec(pathname)
    if (order) {
      const id = Number(order[1])
      send(200, [{ media: { id: id * 10 + 2 } }, { media: { id: id * 10 + 1 } }])
      return
    }
    const [, stationId, name = ''] = /^\/api\/(?:admin|station\/(\d))\/([\w-]+)$/.exec(pathname) ?? []
    const rows = stationId === undefined ? ofInstallation[name] : ofStations[name]?.(Number(stationId))
    if (!rows) {
      send(404, {})
      return
    }
    const size = Number(searchParams.get('rowCount'))
    const page = Number(searchParams.get('page'))
    send(200, {
      page,
      per_page: size,
      total: rows.length,
      total_pages: Math.ceil(rows.length / size),
      rows: rows.slice((page - 1) * size, page * size)
    })
  }
}
