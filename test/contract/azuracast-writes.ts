import { expect } from 'vitest'

import { mp3 } from '../support/audio-bytes.ts'
import type { JsonBody } from '../support/program.ts'

/** What later steps refer to: ids, keys, paths. */
export type Known = Record<string, string | number>

type Json = Readonly<Record<string, unknown>>
export type Filled<Value> = Value | ((known: Known) => Value)

/** A write, and a read that shows it. */
export interface WriteStep {
  /** The operation, as in the tables of docs/azuracast.md. */
  readonly call: string
  /**
   * Values of parameters of its path. By default, what is known by the part of the path before: `{playlist}` after
   * `/playlist/`.
   */
  readonly params?: Readonly<Record<string, string>>
  readonly body?: Filled<Json | FormData | Buffer>
  /** What to remember of the answer: the name in `Known`, and the member. */
  readonly keeps?: Readonly<Record<string, string>>
  /** The same of what is read. */
  readonly finds?: (read: JsonBody) => Known
  /** Whether the request has the cookie of the person who signed in, in place of the key. */
  readonly isSession?: boolean
  /** The path that is read afterward, below `/api`, with names of `Known` in braces. */
  readonly read: string
  /** What is known by this name is the key of the read. */
  readonly readKey?: string
  /** A part of the answer: its status, content type and body. */
  readonly shows: Filled<{ readonly status: number; readonly type?: unknown; readonly body?: unknown }>
}

const shown = (body: unknown) => ({ status: 200, body })
const gone = { status: 404 }
const refused = { status: 403 }
const picture = { status: 200, type: expect.stringMatching(/^image\//) }
const withRow = (row: Json) => shown(expect.arrayContaining([expect.objectContaining(row)]))
const withoutRow = (row: Json) => shown(expect.not.arrayContaining([expect.objectContaining(row)]))

const at = '/station/{station_id}'
const inside = '/station/{station}'

interface RecordCase {
  /** The last part of the path before the id, and the name of the id in `Known`. */
  readonly kind: string
  readonly list: string
  readonly one: string
  readonly created: Filled<Json>
  /** What is shown of it, if that is not what was sent. */
  readonly createdShows?: Filled<Json>
  readonly changed: Filled<Json>
  readonly changedShows?: Filled<Json>
  /** Writes of the record before it is changed and deleted. */
  readonly between?: readonly WriteStep[]
}

export const fillIn = <Value>(value: Filled<Value>, known: Known): Value =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no filled value is a function
  typeof value === 'function' ? (value as (known: Known) => Value)(known) : value

/** A record is created, changed and deleted. */
function recordSteps(record: RecordCase): WriteStep[] {
  const { kind, list, one, created, changed, between = [] } = record
  const read = one.replace('{station_id}', '{station}').replace('{id}', `{${kind}}`)
  return [
    {
      call: `POST ${list}`,
      body: created,
      keeps: { [kind]: 'id' },
      read,
      shows: known => shown(fillIn(record.createdShows ?? created, known))
    },
    ...between,
    {
      call: `PUT ${one}`,
      params: { id: kind },
      body: changed,
      read,
      shows: known => shown(fillIn(record.changedShows ?? changed, known))
    },
    { call: `DELETE ${one}`, params: { id: kind }, read, shows: gone }
  ]
}

const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)
const audio = (title: string) => mp3({ TIT2: title, TPE1: 'Contract' })

function formOf(content: Uint8Array | string, name: string, fields: Readonly<Record<string, string>> = {}) {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) form.set(key, value)
  form.set('file', new File([typeof content === 'string' ? content : new Uint8Array(content)], name))
  return form
}

const scheduleItem = { start_time: 900, end_time: 1_100, start_date: null, end_date: null, days: [1, 3] }
const waveform = {
  version: 2,
  channels: 1,
  sample_rate: 44_100,
  samples_per_pixel: 512,
  bits: 8,
  length: 2,
  data: [-4, 5, -6, 7]
}

const playlistSteps = recordSteps({
  kind: 'playlist',
  list: `${at}/playlists`,
  one: `${at}/playlist/{id}`,
  created: {
    name: 'Night',
    type: 'once_per_x_songs',
    order: 'sequential',
    play_per_songs: 4,
    backend_options: ['interrupt'],
    schedule_items: [scheduleItem]
  },
  createdShows: {
    name: 'Night',
    type: 'once_per_x_songs',
    order: 'sequential',
    play_per_songs: 4,
    backend_options: ['interrupt'],
    schedule_items: [expect.objectContaining(scheduleItem)]
  },
  changed: { name: 'Day', weight: 6, include_in_requests: false, backend_options: [], schedule_items: [] },
  changedShows: { name: 'Day', weight: 6, include_in_requests: false, schedule_items: [] },
  between: [
    {
      call: `PUT ${at}/playlist/{id}/toggle`,
      read: `${inside}/playlist/{playlist}`,
      shows: shown({ is_enabled: false })
    },
    {
      call: `POST ${at}/playlist/{id}/import`,
      body: () => {
        const form = new FormData()
        form.set('playlist_file', new File(['#EXTM3U\ncontract/b.mp3\ncontract/a.mp3\n'], 'list.m3u'))
        return form
      },
      read: `${inside}/playlist/{playlist}`,
      shows: shown({ num_songs: 2 })
    },
    {
      call: `PUT ${at}/playlist/{id}/order`,
      body: ({ fileA = 0, fileB = 0 }) => ({ order: { [fileA]: 1, [fileB]: 2 } }),
      read: `${inside}/playlist/{playlist}/order`,
      shows: ({ fileA, fileB }) =>
        shown([expect.objectContaining({ id: fileA }), expect.objectContaining({ id: fileB })])
    },
    {
      call: `POST ${at}/playlist/{id}/clone`,
      body: { name: 'Night, again', clone: ['schedule', 'media'] },
      read: `${inside}/playlists`,
      shows: withRow({ name: 'Night, again', num_songs: 2 })
    },
    {
      call: `DELETE ${at}/playlist/{id}/empty`,
      read: `${inside}/playlist/{playlist}`,
      shows: shown({ num_songs: 0 })
    },
    {
      call: `PUT ${at}/playlist/{id}/apply-to`,
      body: { directories: ['contract'], copyPlaylist: false },
      read: `${inside}/playlist/{playlist}`,
      shows: shown({ num_songs: 2 })
    }
  ]
})

const fileSteps = recordSteps({
  kind: 'file',
  list: `${at}/files`,
  one: `${at}/file/{id}`,
  created: () => ({ path: 'contract/first.mp3', file: audio('First').toString('base64') }),
  createdShows: { path: 'contract/first.mp3', title: 'First', artist: 'Contract' },
  changed: ({ rotation }) => ({ title: 'Changed', playlists: [rotation], extra_metadata: { cue_in: 0.5 } }),
  changedShows: ({ rotation }) => ({
    title: 'Changed',
    playlists: [expect.objectContaining({ id: rotation })],
    extra_metadata: expect.objectContaining({ cue_in: 0.5 })
  }),
  between: [
    {
      call: `POST ${at}/art/{media_id}`,
      params: { media_id: 'file' },
      body: onePixel,
      read: `${inside}/art/{file}`,
      shows: picture
    },
    {
      call: `DELETE ${at}/art/{media_id}`,
      params: { media_id: 'file' },
      read: `${inside}/file/{file}`,
      shows: shown({ art_updated_at: 0 })
    },
    {
      call: `POST ${at}/waveform/{media_id}`,
      params: { media_id: 'file' },
      body: waveform,
      read: `${inside}/waveform/{file}.json`,
      shows: shown({ data: waveform.data })
    },
    {
      call: `POST ${at}/files/mkdir`,
      body: { currentDirectory: '', name: 'made' },
      read: `${inside}/files/directories`,
      shows: shown({ rows: expect.arrayContaining([expect.objectContaining({ name: 'made' })]) })
    },
    {
      call: `POST ${at}/files/upload`,
      body: () => formOf(audio('Second'), 'second.mp3', { currentDirectory: 'contract' }),
      read: `${inside}/files/list?currentDirectory=contract`,
      shows: withRow({ path: 'contract/second.mp3' })
    },
    {
      call: `PUT ${at}/files/rename`,
      body: { file: 'contract/second.mp3', newPath: 'contract/renamed.mp3' },
      read: `${inside}/files/list?currentDirectory=contract`,
      shows: withRow({ path: 'contract/renamed.mp3' })
    },
    {
      call: `PUT ${at}/files/batch`,
      body: ({ rotation }) => ({
        do: 'playlist',
        currentDirectory: 'contract',
        files: ['contract/first.mp3'],
        dirs: [],
        playlists: [rotation]
      }),
      read: `${inside}/file/{file}`,
      shows: ({ rotation }) => shown({ playlists: [expect.objectContaining({ id: rotation })] })
    },
    {
      call: `POST ${at}/files/bulk/preview`,
      body: () => formOf('path,title\ncontract/first.mp3,Seen\n', 'songs.csv'),
      read: `${inside}/file/{file}`,
      shows: shown({ title: 'First' })
    },
    {
      call: `POST ${at}/files/bulk`,
      body: () => formOf('path,title\ncontract/first.mp3,Listed\n', 'songs.csv'),
      read: `${inside}/file/{file}`,
      shows: shown({ title: 'Listed' })
    }
  ]
})

/** The steps of a group run in order. Groups do not depend on one another. */
export const writeGroups: Readonly<Record<string, readonly WriteStep[]>> = {
  'custom fields': recordSteps({
    kind: 'custom_field',
    list: '/admin/custom_fields',
    one: '/admin/custom_field/{id}',
    created: { name: 'Depth', short_name: 'contract_depth', auto_assign: null },
    changed: { name: 'Deeper', auto_assign: 'isrc' }
  }),
  roles: recordSteps({
    kind: 'role',
    list: '/admin/roles',
    one: '/admin/role/{id}',
    created: ({ station }) => ({
      name: 'Contract',
      permissions: {
        global: ['view administration'],
        station: [{ id: station, permissions: ['view station reports'] }]
      }
    }),
    changed: ({ station }) => ({
      name: 'Contract, changed',
      permissions: { global: [], station: [{ id: station, permissions: ['manage station media'] }] }
    })
  }),
  users: recordSteps({
    kind: 'user',
    list: '/admin/users',
    one: '/admin/user/{id}',
    created: {
      email: 'contract@example.com',
      name: 'Anna',
      new_password: 'a long enough password',
      roles: []
    },
    createdShows: { email: 'contract@example.com', name: 'Anna', roles: [] },
    changed: { name: 'Berta', locale: 'de_DE', show_24_hour_time: true },
    between: [
      {
        call: 'POST /admin/api-keys',
        body: ({ user }) => ({ user, comment: 'Of Anna' }),
        keeps: { userKey: 'key', 'api-key': 'id' },
        read: '/frontend/account/me',
        readKey: 'userKey',
        shows: shown({ email: 'contract@example.com' })
      },
      { call: 'DELETE /admin/api-key/{id}', read: '/frontend/account/me', readKey: 'userKey', shows: refused }
    ]
  }),
  'the own account': [
    {
      call: 'PUT /frontend/account/me',
      isSession: true,
      body: { name: 'Clara', locale: 'fr_FR' },
      read: '/frontend/account/me',
      readKey: 'session',
      shows: shown({ name: 'Clara', locale: 'fr_FR' })
    },
    {
      call: 'POST /frontend/account/api-keys',
      isSession: true,
      body: { comment: 'Mine' },
      keeps: { ownKey: 'key', 'api-key': 'id' },
      read: '/frontend/account/me',
      readKey: 'ownKey',
      shows: shown({ name: 'Clara' })
    },
    {
      call: 'DELETE /frontend/account/api-key/{id}',
      isSession: true,
      read: '/frontend/account/me',
      readKey: 'ownKey',
      shows: refused
    },
    {
      call: 'DELETE /frontend/account/passkey/{id}',
      isSession: true,
      read: '/frontend/account/passkey/{passkey}',
      readKey: 'session',
      shows: gone
    }
  ],
  'storage locations': recordSteps({
    kind: 'storage_location',
    list: '/admin/storage_locations',
    one: '/admin/storage_location/{id}',
    created: { type: 'station_media', adapter: 'local', path: '/srv/contract', storageQuota: '50.0 GB' },
    createdShows: { type: 'station_media', path: '/srv/contract', storageQuotaBytes: String(50 * 2 ** 30) },
    changed: { storageQuota: '60.0 GB' },
    changedShows: { storageQuotaBytes: String(60 * 2 ** 30) }
  }),
  settings: [
    {
      call: 'PUT /admin/settings',
      body: { history_keep_days: 36_500 },
      read: '/admin/settings',
      shows: shown({ history_keep_days: 36_500 })
    },
    {
      call: 'PUT /admin/settings',
      body: { history_keep_days: null },
      read: '/admin/settings',
      shows: shown({ history_keep_days: 0 })
    },
    {
      call: 'POST /admin/custom_assets/{type}',
      params: { type: 'asset' },
      body: onePixel,
      read: '/admin/custom_assets/{asset}',
      shows: shown({ hasRecord: true })
    },
    {
      call: 'DELETE /admin/custom_assets/{type}',
      params: { type: 'asset' },
      read: '/admin/custom_assets/{asset}',
      shows: shown({ hasRecord: false })
    }
  ],
  stations: recordSteps({
    kind: 'admin/station',
    list: '/admin/stations',
    one: '/admin/station/{id}',
    created: {
      name: 'Contract FM',
      short_name: 'contract_fm',
      description: 'By the sea',
      frontend_type: 'icecast',
      backend_type: 'liquidsoap',
      backend_config: { autodj_queue_length: 7, crossfade: 3.5 },
      branding_config: { offline_text: 'Back soon' },
      api_history_items: 9
    },
    createdShows: {
      name: 'Contract FM',
      short_name: 'contract_fm',
      description: 'By the sea',
      backend_config: expect.objectContaining({ autodj_queue_length: 7, crossfade: 3.5 }),
      branding_config: expect.objectContaining({ offline_text: 'Back soon' }),
      api_history_items: 9
    },
    changed: { name: 'Contract AM', request_delay: 7, enable_requests: true, enable_public_page: false },
    between: [
      {
        call: 'POST /admin/station/{id}/clone',
        params: { id: 'admin/station' },
        body: { name: 'Contract FM, copied', description: 'A copy', clone: ['playlists', 'mounts'] },
        read: '/admin/stations',
        shows: withRow({ name: 'Contract FM, copied', description: 'A copy' })
      },
      {
        call: `PUT ${at}/profile/edit`,
        params: { station_id: 'admin/station' },
        body: { description: 'In the hills' },
        read: '/admin/station/{admin/station}',
        shows: shown({ description: 'In the hills' })
      },
      {
        call: `POST ${at}/fallback`,
        params: { station_id: 'admin/station' },
        body: () => formOf(audio('Fallback'), 'fallback.mp3'),
        read: '/admin/station/{admin/station}',
        shows: shown({ fallback_path: 'fallback.mp3' })
      },
      {
        call: `DELETE ${at}/fallback`,
        params: { station_id: 'admin/station' },
        read: '/station/{admin/station}/fallback',
        shows: shown({ hasRecord: false })
      }
    ]
  }),
  playlists: playlistSteps,
  files: fileSteps,
  mounts: recordSteps({
    kind: 'mount',
    list: `${at}/mounts`,
    one: `${at}/mount/{id}`,
    created: { name: '/contract.mp3', autodj_bitrate: 96, relay_url: null, fallback_mount: '/radio.mp3' },
    changed: { name: '/changed.mp3', display_name: 'Changed', is_visible_on_public_pages: false },
    between: [
      {
        call: `POST ${at}/mount/{id}/intro`,
        body: () => formOf(audio('Intro'), 'intro.mp3'),
        read: `${inside}/mount/{mount}/intro`,
        shows: { status: 200, type: 'application/octet-stream' }
      },
      { call: `DELETE ${at}/mount/{id}/intro`, read: `${inside}/mount/{mount}/intro`, shows: gone }
    ]
  }),
  'HLS streams': recordSteps({
    kind: 'hls_stream',
    list: `${at}/hls_streams`,
    one: `${at}/hls_stream/{id}`,
    created: { name: 'contract', format: 'aac', bitrate: 96 },
    changed: { name: 'changed', bitrate: 64 }
  }),
  remotes: recordSteps({
    kind: 'remote',
    list: `${at}/remotes`,
    one: `${at}/remote/{id}`,
    created: {
      display_name: 'Oslo',
      type: 'icecast',
      url: 'https://relay.example.com:8443',
      mount: '/main.mp3'
    },
    changed: { display_name: 'Bergen', is_visible_on_public_pages: false }
  }),
  'SFTP users': recordSteps({
    kind: 'sftp-user',
    list: `${at}/sftp-users`,
    one: `${at}/sftp-user/{id}`,
    created: { username: 'contract-sftp', password: 'a long enough password', publicKeys: null },
    createdShows: { username: 'contract-sftp', password: '', publicKeys: null },
    changed: { username: 'contract-changed' }
  }),
  streamers: recordSteps({
    kind: 'streamer',
    list: `${at}/streamers`,
    one: `${at}/streamer/{id}`,
    created: { streamer_username: 'wren', streamer_password: 'a long enough password', comments: 'Late' },
    createdShows: { streamer_username: 'wren', comments: 'Late' },
    changed: { display_name: 'DJ Wren', comments: null, is_active: false },
    between: [
      {
        call: `POST ${at}/streamer/{id}/art`,
        body: () => formOf(onePixel, 'wren.png'),
        read: `${inside}/streamer/{streamer}/art`,
        shows: picture
      },
      {
        call: `DELETE ${at}/streamer/{id}/art`,
        read: `${inside}/streamer/{streamer}`,
        shows: shown({ has_custom_art: false })
      },
      {
        call: `DELETE ${at}/streamer/{id}/broadcast/{broadcast_id}`,
        params: { id: 'seededStreamer', broadcast_id: 'broadcast' },
        read: `${inside}/streamer/{seededStreamer}/broadcasts`,
        shows: ({ broadcast }) => withoutRow({ id: broadcast })
      },
      {
        call: `POST ${at}/streamer/{id}/broadcasts/batch`,
        params: { id: 'seededStreamer' },
        body: ({ otherBroadcast }) => ({ do: 'delete', rows: [otherBroadcast] }),
        read: `${inside}/streamer/{seededStreamer}/broadcasts`,
        shows: shown([])
      }
    ]
  }),
  'web hooks': recordSteps({
    kind: 'webhook',
    list: `${at}/webhooks`,
    one: `${at}/webhook/{id}`,
    created: {
      name: 'Chat',
      type: 'discord',
      triggers: ['song_changed'],
      config: { webhook_url: 'https://chat.example.com/hook', content: 'Now' }
    },
    createdShows: {
      name: 'Chat',
      type: 'discord',
      triggers: ['song_changed'],
      config: expect.objectContaining({ content: 'Now' })
    },
    changed: { name: 'Talk', triggers: ['live_connect', 'live_disconnect'] },
    between: [
      {
        call: `PUT ${at}/webhook/{id}/toggle`,
        read: `${inside}/webhook/{webhook}`,
        shows: shown({ is_enabled: false })
      },
      {
        call: `POST ${at}/webhook/{id}/clone`,
        read: `${inside}/webhooks`,
        shows: ({ webhook }) =>
          shown([
            expect.objectContaining({ id: webhook }),
            expect.objectContaining({ type: 'discord', triggers: ['song_changed'] })
          ])
      }
    ]
  }),
  'requests and the queue': [
    {
      call: `POST ${at}/request/{request_id}`,
      params: { request_id: 'requestable' },
      read: `${inside}/reports/requests`,
      finds: ([request]) => ({ pendingRequest: request.id }),
      shows: ({ requestable }) => shown([{ track: { id: Number(requestable) }, played_at: null }])
    },
    {
      call: `DELETE ${at}/reports/requests/{request_id}`,
      params: { request_id: 'pendingRequest' },
      read: `${inside}/reports/requests`,
      shows: ({ pendingRequest }) => withoutRow({ id: pendingRequest })
    },
    { call: `POST ${at}/reports/requests/clear`, read: `${inside}/reports/requests`, shows: shown([]) },
    {
      // The AutoDJ plans anew meanwhile.
      call: `GET ${at}/queue`,
      read: `${inside}/queue`,
      finds: ([next]) => ({ queue: next.links.self.split('/').at(-1) }),
      shows: shown(expect.any(Array))
    },
    { call: `DELETE ${at}/queue/{id}`, read: `${inside}/queue/{queue}`, shows: gone }
  ],
  'a stream that sends its titles': [
    {
      call: `POST ${at}/nowplaying/update`,
      params: { station_id: 'streamStation' },
      body: { title: 'Sent title', artist: 'Sent artist' },
      read: '/nowplaying/{streamStation}',
      shows: shown({
        now_playing: expect.objectContaining({ song: expect.objectContaining({ title: 'Sent title' }) })
      })
    }
  ]
}

/**
 * Writes that need a playout, a mail server or a session of their own: the test that shows their effect, and a part of
 * its text.
 */
export const writesTestedElsewhere: Readonly<Record<string, readonly [file: string, part: string]>> = {
  'PUT /admin/debug/clear-cache': ['installation', '/api/admin/debug/clear-cache'],
  'PUT /admin/debug/station/{station_id}/clearqueue': ['installation', 'urls.clearQueueUrl'],
  'PUT /admin/debug/station/{station_id}/nextsong': ['installation', 'urls.getNextSongUrl'],
  'PUT /admin/debug/station/{station_id}/nowplaying': ['installation', 'urls.getNowPlayingUrl'],
  'POST /admin/send-test-message': ['installation', '/api/admin/send-test-message'],
  'PUT /frontend/account/password': ['people', 'a password change ends the other sessions'],
  'POST /station/{station_id}/restart': ['station-services', "['restart', 'backend/restart']"],
  'POST /station/{station_id}/frontend/{action}': ['station-services', '/frontend/${action}'],
  'POST /station/{station_id}/backend/{action}': ['station-services', '/backend/${action}'],
  'DELETE /station/{station_id}/playlist/{id}/queue': ['station-files', "'DELETE', `/playlist/${id}/queue`"],
  'PUT /station/{station_id}/playlist/{id}/reshuffle': ['autodj', "'PUT', `${path}/reshuffle`"],
  'PUT /station/{station_id}/webhook/{id}/test': ['azuracast-dialect', '/webhook/${hook.id}/test']
}

/** Reads with the method of a write. */
export const readsByWriteMethod = ['PUT /frontend/dashboard/charts']
