import { mp3 } from '../../support/audio-bytes.ts'
import type { Send } from './client.ts'
import type { Json, Operation } from './document.ts'
import type { Received } from './judge.ts'

/** What the requests of later operations need: ids by kind, paths, keys. */
export type Known = Record<string, string | number>

export interface StepContext {
  readonly known: Known
  readonly send: Send
  /** The path that the request was or will be sent to. */
  readonly path: string
}

/** How an operation is called, where its document does not say it. */
export interface Step {
  /** Operations with a lower number are called first; see `orderOf`. */
  readonly order?: number
  /** Values of path parameters that are not found by kind. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** The body; a function receives that of the document. */
  readonly body?: (known: Known, documented: Json) => Json
  /** Whether the caller is the person that the program made, and not the key of the command. */
  readonly isPersonal?: boolean
  /** Whether that person must have signed in: Cuewire does not accept a key there. */
  readonly needsSession?: boolean
  /** Runs before the request. */
  readonly before?: (context: StepContext) => Promise<void>
  /** Stores what later operations need. */
  readonly after?: (known: Known, received: Received) => void
  /** The kind of the record that the operation makes: the key of its id in `Known`. */
  readonly kind?: string
  /**
   * How the effect of a write is checked. By default, what was sent is read back, and a deleted record is gone.
   * `unchecked`: no answer of the API shows it.
   */
  readonly effect?: Effect | 'unchecked'
}

/** Describes what is missing of the effect; undefined if all is there. */
type Effect = (context: StepContext) => Promise<string | undefined>

const audio = (title: string) => mp3({ TIT2: title, TPE1: 'Coverage' }, 200)

function upload(content: Buffer, name: string, type: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) form.set(key, value)
  form.set('file', new Blob([new Uint8Array(content)], { type }), name)
  return form
}

const picture = () => upload(onePixel, 'cover.png', 'image/png')
const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)

/** The value at a path of the answer to a GET. */
async function get(send: Send, path: string): Promise<Json> {
  const { json } = await send('GET', path)
  return json
}

const expectThat = (isTrue: boolean, problem: string) => (isTrue ? undefined : problem)

/** The field of a record turns to its opposite, or to a value. */
const flips = (
  field: string,
  path: (known: Known) => string
): { before: NonNullable<Step['before']>; effect: Effect } => ({
  before: async ({ known, send }) => {
    known['before'] = String((await get(send, path(known)))?.[field])
  },
  effect: async ({ known, send }) => {
    const now = String((await get(send, path(known)))?.[field])
    return expectThat(now !== known['before'] && now !== 'undefined', `${field} is still ${now}`)
  }
})

const hasRecord: Effect = async ({ send, path }) =>
  expectThat((await get(send, path))?.hasRecord === true, 'hasRecord is not true afterward')
const hasNoRecord: Effect = async ({ send, path }) =>
  expectThat((await get(send, path))?.hasRecord === false, 'hasRecord is not false afterward')

const returnsImage: Effect = async ({ send, path }) => {
  const { status, type } = await send('GET', path)
  return expectThat(status === 200 && type.startsWith('image/'), `GET returns ${status} ${type}`)
}

const station = (known: Known) => `/station/${known['station']}`
const file = (known: Known) => `${station(known)}/file/${known['file']}`
const playlist = (known: Known) => `${station(known)}/playlist/${known['playlist']}`

/** A record that is created under `list` and found under `list + one`. */
const creates = (kind: string, body?: Step['body']): Step => ({
  kind,
  ...(body === undefined ? {} : { body }),
  after: (known, { json }) => {
    if (json?.id !== undefined) known[kind] = json.id
  }
})

/** An object without some of its keys. */
const without = (record: Json, ...keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))

const change = (fields: Json) => (_: Known, documented: Json) => ({ ...documented, ...fields })

const scheduleItem = {
  start_time: 900,
  end_time: 1100,
  start_date: null,
  end_date: null,
  // Every day, so that the schedule is not empty, whatever day it is.
  days: [1, 2, 3, 4, 5, 6, 7],
  loop_once: false
}

/** By operation id. Operations that are not listed need no more than the document. */
export const steps: Readonly<Record<string, Step>> = {
  // Records
  adminAddStation: creates('admin/station', (_, documented) => without(documented, 'radio_base_dir')),
  adminEditStation: {
    body: (_, documented) => ({
      ...without(documented, 'radio_base_dir', 'short_name'),
      name: 'Changed',
      request_delay: 7
    })
  },
  addCustomField: creates('custom_field', change({ auto_assign: null })),
  editCustomField: { body: change({ name: 'Changed field', auto_assign: 'isrc' }) },
  addRole: creates('role', ({ station: id }, documented) => ({
    ...documented,
    name: 'Coverage role',
    permissions: { global: ['view administration'], station: [{ id, permissions: ['view station reports'] }] }
  })),
  editRole: {
    body: ({ station: id }) => ({
      name: 'Changed role',
      permissions: { global: [], station: [{ id, permissions: ['manage station media'] }] }
    })
  },
  addUser: creates('user', ({ role }, documented) => ({ ...documented, roles: [role] })),
  deleteUser: { order: 96 },
  deleteRole: { order: 97 },
  editUser: {
    body: ({ role }, documented) => ({
      ...without(documented, 'auth_password', 'two_factor_secret'),
      name: 'Changed person',
      roles: [role]
    })
  },
  addStorageLocation: creates('storage_location', (known, documented) => ({
    ...documented,
    type: 'station_media',
    adapter: 'local',
    path: known['storagePath'],
    storageQuota: '50.0 GB'
  })),
  editStorageLocation: {
    body: known => ({
      type: 'station_media',
      adapter: 'local',
      path: known['storagePath'],
      storageQuota: '60.0 GB'
    })
  },
  adminCreateApiKey: {
    order: 15,
    body: ({ user }, documented) => ({ ...documented, user }),
    after: (known, { json }) => {
      if (json?.key === undefined) return
      known['personKey'] = json.key
      known['api-key'] = json.id ?? String(json.key).split(':')[0]
    },
    effect: async ({ known, send }) => {
      const { status } = await send('GET', '/stations', { key: String(known['personKey']) })
      return expectThat(status === 200, `a request with the key returns ${status}`)
    }
  },
  adminDeleteApiKey: {
    order: 95,
    params: { id: 'api-key' },
    effect: async ({ known, send }) => {
      const { status } = await send('GET', '/frontend/account/me', { key: String(known['personKey']) })
      return expectThat(status === 403, `a request with the key returns ${status}`)
    }
  },
  addLoginToken: {
    body: (_, documented) => ({
      ...documented,
      user: 'coverage@example.com',
      type: 'login',
      expires_minutes: 30
    }),
    after: (known, { json }) => {
      if (json?.record?.id !== undefined) known['login_token'] = json.record.id
    },
    effect: async ({ send, known }) =>
      expectThat(
        (await send('GET', `/admin/login_token/${known['login_token']}`)).status === 200,
        'not found'
      )
  },
  addPlaylist: creates(
    'playlist',
    change({
      name: 'Coverage list',
      type: 'default',
      source: 'songs',
      order: 'sequential',
      remote_url: null,
      remote_type: 'stream',
      play_per_songs: 0,
      play_per_minutes: 0,
      play_per_hour_minute: 0,
      backend_options: ['interrupt'],
      include_in_on_demand: true,
      schedule_items: [scheduleItem],
      podcasts: []
    })
  ),
  editPlaylist: {
    body: () => ({
      name: 'Changed list',
      description: 'Another one',
      weight: 6,
      include_in_requests: true,
      backend_options: [],
      schedule_items: []
    })
  },
  addMount: creates('mount', change({ name: '/coverage.mp3', relay_url: null, fallback_mount: null })),
  editMount: { body: () => ({ name: '/changed.mp3', display_name: 'Changed', autodj_bitrate: 96 }) },
  addHlsStream: creates('hls_stream', change({ name: 'coverage' })),
  editHlsStream: { body: () => ({ name: 'changed', format: 'aac_he', bitrate: 64 }) },
  addRelay: creates('remote', ({ remoteUrl }, documented) => ({
    ...documented,
    type: 'icecast',
    url: remoteUrl,
    mount: '/remote.mp3'
  })),
  editRelay: { body: () => ({ display_name: 'Changed relay', is_visible_on_public_pages: false }) },
  addSftpUser: creates('sftp-user', change({ publicKeys: null })),
  editSftpUser: { body: () => ({ username: 'changed', password: '' }) },
  addStreamer: creates('streamer', change({ reactivate_at: null, schedule_items: [scheduleItem] })),
  editStreamer: { body: () => ({ display_name: 'Changed DJ', comments: 'Changed', schedule_items: [] }) },
  addWebhook: creates('webhook', ({ hookUrl }, documented) => ({
    ...documented,
    name: 'Coverage hook',
    type: 'generic',
    triggers: ['song_changed'],
    config: { webhook_url: hookUrl }
  })),
  editWebhook: { body: () => ({ name: 'Changed hook', triggers: ['live_connect', 'live_disconnect'] }) },
  cloneWebhook: {
    effect: async ({ send, known }) => {
      const rows: Json[] = await get(send, `${station(known)}/webhooks`)
      return expectThat(rows.filter(({ type }) => type === 'generic').length > 1, 'there is no copy')
    }
  },
  putStationWebhookToggle: flips('is_enabled', known => `${station(known)}/webhook/${known['webhook']}`),
  putStationWebhookTest: {
    after: (known, { json }) => {
      if (typeof json?.logUrl === 'string') known['test-log'] = json.logUrl.split('/').at(-1)
    }
  },
  getWebhookTestLog: { order: 55, params: { path: 'test-log' } },

  // Media
  addFile: {
    body: () => ({ path: 'coverage/first.mp3', file: audio('First').toString('base64') }),
    after: (known, { json }) => {
      if (json?.id === undefined) return
      known['file'] = json.id
      known['media'] = json.unique_id ?? json.id
      known['song'] = json.song_id
    },
    effect: async ({ known, send }) =>
      expectThat((await get(send, file(known)))?.title === 'First', 'the title is not that of the tags')
  },
  postUploadFile: {
    order: 12,
    body: () => upload(audio('Second'), 'second.mp3', 'audio/mpeg', { currentDirectory: 'coverage' }),
    effect: async ({ known, send }) => {
      const rows: Json[] = await get(send, `${station(known)}/files`)
      const second = rows.find(({ path }) => path === 'coverage/second.mp3')
      if (second !== undefined) known['secondFile'] = second.id
      return expectThat(second !== undefined, 'the file is not in the list')
    }
  },
  editFile: {
    order: 13,
    body: ({ playlist: id }) => ({
      title: 'Changed title',
      genre: 'Changed genre',
      playlists: [id],
      custom_fields: { coverage_field: 'own value' },
      extra_metadata: { amplify: -1.5, cue_in: 0.5 }
    })
  },
  putStationFileBatchAction: {
    body: ({ playlist: id }) => ({
      do: 'playlist',
      currentDirectory: 'coverage',
      files: ['coverage/second.mp3'],
      dirs: [],
      playlists: [id]
    }),
    effect: async ({ known, send }) => {
      const record = await get(send, `${station(known)}/file/${known['secondFile']}`)
      const isThere = record?.playlists?.some(({ id }: Json) => id === known['playlist'])
      return expectThat(isThere === true, 'the file is not in the playlist')
    }
  },
  postStationFilesMkdir: {
    order: 12,
    body: () => ({ currentDirectory: '', name: 'made' }),
    effect: async ({ known, send }) => {
      const { rows } = (await get(send, `${station(known)}/files/directories`)) ?? {}
      return expectThat(rows?.some(({ name }: Json) => name === 'made') === true, 'the folder is not listed')
    }
  },
  postStationFilesRename: {
    order: 60,
    body: () => ({ file: 'coverage/second.mp3', newPath: 'coverage/renamed.mp3' }),
    effect: async ({ known, send }) => {
      const record = await get(send, `${station(known)}/file/${known['secondFile']}`)
      return expectThat(record?.path === 'coverage/renamed.mp3', `the path is ${record?.path}`)
    }
  },
  getStationFileList: { query: { currentDirectory: 'coverage' } },
  getStationFileDownload: { query: { file: 'coverage/first.mp3' } },
  getPlayFile: { params: { id: 'file' } },
  getPlayFileSongId: { params: { song_id: 'media' } },
  postMediaArt: { order: 15, body: picture, effect: returnsImage },
  getMediaArt: {},
  // Before the file is deleted.
  deleteMediaArt: {
    order: 84,
    effect: async ({ known, send }) => {
      const updated = (await get(send, file(known)))?.art_updated_at
      return expectThat(updated === 0, `art_updated_at is ${updated}`)
    }
  },
  postStationMediaWaveform: {
    order: 16,
    body: () => ({
      version: 2,
      channels: 1,
      sample_rate: 44_100,
      samples_per_pixel: 512,
      bits: 8,
      length: 4,
      data: [-4, 5, -6, 7, -8, 9, -1, 2]
    }),
    effect: async ({ send, path }) =>
      expectThat((await get(send, path))?.data?.length > 0, 'GET returns no waveform')
  },
  postStationBulkMediaUpload: {
    order: 62,
    body: () => upload(bulkRow('Bulk title'), 'media.csv', 'text/csv'),
    effect: async ({ known, send }) =>
      expectThat((await get(send, file(known)))?.title === 'Bulk title', 'the title was not changed')
  },
  postStationBulkMediaPreview: {
    order: 61,
    body: () => upload(bulkRow('Preview title'), 'media.csv', 'text/csv'),
    effect: async ({ known, send }) =>
      expectThat((await get(send, file(known)))?.title !== 'Preview title', 'the title was changed')
  },

  // Playlists
  putTogglePlaylist: flips('is_enabled', playlist),
  putReshufflePlaylist: { effect: 'unchecked' },
  getExportPlaylist: { params: { format: '=m3u' } },
  postStationPlaylistClone: {
    body: () => ({ name: 'Coverage copy', clone: ['schedule', 'media'] }),
    effect: async ({ known, send }) => {
      const rows: Json[] = await get(send, `${station(known)}/playlists`)
      const copy = rows.find(({ name }) => name === 'Coverage copy')
      if (copy !== undefined) known['copiedPlaylist'] = copy.id
      return expectThat(copy !== undefined, 'there is no copy')
    }
  },
  postStationPlaylistImport: {
    order: 31,
    body: () => {
      const form = new FormData()
      form.set('playlist_file', new Blob(['#EXTM3U\ncoverage/first.mp3\n']), 'list.m3u')
      return form
    },
    effect: async ({ known, send }) => {
      const record = await get(send, file(known))
      const isThere = record?.playlists?.some(({ id }: Json) => id === known['playlist'])
      return expectThat(isThere === true, 'the file is not in the playlist')
    }
  },
  getStationPlaylistOrder: {
    order: 32,
    after: (known, { json }) => {
      if (Array.isArray(json)) known['order'] = JSON.stringify(json.map(({ id }: Json) => id))
    }
  },
  putStationPlaylistOrder: {
    order: 33,
    body: ({ order = '[]' }) => {
      const ids: number[] = JSON.parse(String(order))
      return { order: Object.fromEntries(ids.toReversed().map((id, index) => [id, index + 1])) }
    },
    effect: async ({ known, send, path }) => {
      const rows: Json = await get(send, path)
      const ids: number[] = JSON.parse(String(known['order'] ?? '[]'))
      const now = Array.isArray(rows) ? rows.map(({ id }: Json) => id) : []
      return expectThat(now.join() === ids.toReversed().join(), `the order is ${now.join()}`)
    }
  },
  putStationPlaylistApplyTo: {
    order: 64,
    body: () => ({ directories: ['coverage'], copyPlaylist: false }),
    effect: async ({ known, send }) => {
      const { json } = await send('GET', `${station(known)}/files/list`, { query: { currentDirectory: '' } })
      const folder = json?.find?.(({ path }: Json) => path === 'coverage')
      const isThere = folder?.dir?.playlists?.some(({ id }: Json) => id === known['playlist'])
      return expectThat(isThere === true, 'the folder does not have the playlist')
    }
  },
  getStationPlaylistQueue: { order: 30 },
  deletePlaylistQueue: { order: 80, effect: 'unchecked' },
  deleteEmptyPlaylist: {
    order: 81,
    effect: async ({ known, send }) => {
      const record = await get(send, playlist(known))
      return expectThat(Number(record?.num_songs) === 0, `num_songs is ${record?.num_songs}`)
    }
  },

  // Requests, queue, history
  getRequestableSongs: {
    after: (known, { json }) => {
      const song = Array.isArray(json) ? json.at(-1) : undefined
      if (song !== undefined) known['request'] = song.request_id
    }
  },
  submitSongRequest: {
    order: 25,
    params: { request_id: 'request' },
    effect: async ({ known, send }) => {
      const rows: Json = await get(send, `${station(known)}/reports/requests`)
      const [row] = Array.isArray(rows) ? rows : []
      if (row !== undefined) known['requests'] = row.id
      return expectThat(row !== undefined, 'the request is not in the report')
    }
  },
  getStationRequestsReport: { order: 26 },
  deleteStationRequest: {
    order: 70,
    params: { request_id: 'requests' },
    effect: async ({ known, send }) => {
      const rows: Json = await get(send, `${station(known)}/reports/requests`)
      const ids = Array.isArray(rows) ? rows.map(({ id }: Json) => id) : []
      return expectThat(!ids.includes(known['requests']), 'the request is still there')
    }
  },
  postStationRequestsClear: {
    order: 71,
    effect: async ({ known, send }) => {
      const rows: Json = await get(send, `${station(known)}/reports/requests`)
      return expectThat(Array.isArray(rows) && rows.length === 0, 'there are still requests')
    }
  },
  // One after the other at once, because the queue changes.
  getQueue: {
    order: 21,
    after: (known, { json }) => {
      const last = Array.isArray(json) ? json.at(-1) : undefined
      if (last !== undefined)
        known['queue'] =
          String(last.links?.self ?? '')
            .split('/')
            .at(-1) ?? ''
    }
  },
  getQueueItem: { order: 22, params: { id: 'queue' } },
  deleteQueueItem: { order: 23, params: { id: 'queue' } },
  getStationOnDemand: {
    after: (known, { json }) => {
      const song = Array.isArray(json)
        ? json.find(({ track_id }: Json) => track_id === known['media'])
        : undefined
      if (song !== undefined) known['onDemand'] = song.track_id
    }
  },
  getStationOnDemandDownload: { order: 21, params: { media_id: 'onDemand' } },
  getStationSoundExchangeReport: { query: { start_date: '2020-01-01', end_date: '2020-01-31' } },

  // Station
  putStationProfileEdit: {
    body: () => ({ description: 'Changed by the coverage', url: 'https://example.com/changed' }),
    effect: async ({ send, path }) => {
      const description = (await get(send, path))?.description
      return expectThat(description === 'Changed by the coverage', `description is ${description}`)
    }
  },
  getStationLogs: {
    after: (known, { json }) => {
      if (Array.isArray(json) && json[0]?.key !== undefined) known['log'] = json[0].key
    }
  },
  getStationLog: { order: 21, params: { key: 'log' } },
  adminListLogs: {
    after: (known, { json }) => {
      if (json?.globalLogs?.[0]?.key !== undefined) known['globalLog'] = json.globalLogs[0].key
    }
  },
  adminViewLog: { order: 21, params: { key: 'globalLog' } },
  getQuotaOfType: { params: { type: '=station_media' } },
  postStationFallback: {
    order: 15,
    body: () => upload(audio('Fallback'), 'fallback.mp3', 'audio/mpeg'),
    effect: hasRecord
  },
  deleteStationFallback: { effect: hasNoRecord },
  postMountIntro: {
    order: 15,
    body: () => upload(audio('Intro'), 'intro.mp3', 'audio/mpeg'),
    effect: async ({ send, path }) => {
      const { status } = await send('GET', path)
      return expectThat(status === 200, `GET returns ${status}`)
    }
  },
  deleteMountIntro: {
    effect: async ({ send, path }) => {
      const { status } = await send('GET', path)
      return expectThat(status === 404, `GET returns ${status}`)
    }
  },
  postStreamerArt: { order: 15, body: picture, effect: returnsImage },
  deleteStreamerArt: {
    effect: async ({ known, send }) => {
      const hasArt = (await get(send, `${station(known)}/streamer/${known['streamer']}`))?.has_custom_art
      return expectThat(hasArt === false, `has_custom_art is ${hasArt}`)
    }
  },
  getStationCustomAsset: { params: { type: '=background' } },
  postStationCustomAsset: { order: 15, params: { type: '=background' }, body: picture, effect: hasRecord },
  deleteStationCustomAsset: { params: { type: '=background' }, effect: hasNoRecord },
  getAdminCustomAsset: { params: { type: '=background' } },
  postAdminCustomAsset: { order: 15, params: { type: '=background' }, body: picture, effect: hasRecord },
  deleteAdminCustomAsset: { params: { type: '=background' }, effect: hasNoRecord },
  postStationStreamerBroadcastsBatch: {
    order: 76,
    params: { id: 'seededStreamer' },
    body: ({ secondBroadcast = 0 }) => ({ do: 'delete', rows: [secondBroadcast] }),
    effect: async ({ known, send }) => {
      const rows: Json = await get(send, `${station(known)}/streamer/${known['seededStreamer']}/broadcasts`)
      const ids = Array.isArray(rows) ? rows.map(({ id }: Json) => id) : []
      return expectThat(!ids.includes(known['secondBroadcast']), 'the broadcast is still there')
    }
  },
  getStationStreamerBroadcasts: { params: { id: 'seededStreamer' } },
  getStationStreamerDownloadBroadcast: { params: { id: 'seededStreamer', broadcast_id: 'broadcast' } },
  getStationStreamerDeleteBroadcast: {
    order: 77,
    params: { id: 'seededStreamer', broadcast_id: 'broadcast' },
    effect: async ({ known, send }) => {
      const rows: Json = await get(send, `${station(known)}/streamer/${known['seededStreamer']}/broadcasts`)
      const ids = Array.isArray(rows) ? rows.map(({ id }: Json) => id) : []
      return expectThat(!ids.includes(known['broadcast']), 'the broadcast is still there')
    }
  },
  postStationNowPlayingUpdate: {
    params: { station_id: 'streamStation' },
    body: () => ({ title: 'Sent title', artist: 'Sent artist' }),
    effect: async ({ known, send }) => {
      const song = (await get(send, `/nowplaying/${known['streamStation']}`))?.now_playing?.song
      return expectThat(song?.title === 'Sent title', `the title is ${song?.title}`)
    }
  },
  doBackendServiceAction: { order: 78, params: { action: '=restart' }, effect: 'unchecked' },
  doFrontendServiceAction: { order: 78, params: { action: '=restart' }, effect: 'unchecked' },
  restartServices: { order: 79, effect: 'unchecked' },
  putStationLiquidsoapConfig: {
    body: () => ({ custom_config: '# changed by the coverage' }),
    effect: async ({ send, path }) => {
      const { contents } = (await get(send, path)) ?? {}
      return expectThat(contents?.custom_config === '# changed by the coverage', 'not read back')
    }
  },
  importStationLiquidsoapConfig: {
    body: () =>
      upload(
        Buffer.from('# startcustomconfig(custom_config)\n# imported\n# endcustomconfig(custom_config)\n'),
        'station.liq',
        'application/octet-stream'
      )
  },
  putAdminDebugTelnetCommand: { body: () => ({ command: 'help' }) },
  adminDebugClearQueue: { params: { queue: '=low_priority' } },
  adminDebugRunSyncTask: { params: { task: '=coverage' } },

  // Installation and account
  editSettings: {
    body: (_, documented) => ({
      instance_name: 'Coverage',
      history_keep_days: documented.history_keep_days ?? 0
    })
  },
  postAdminStationsClone: {
    body: () => ({
      name: 'Coverage clone',
      description: 'A copy',
      clone: ['playlists', 'mounts', 'streamers', 'webhooks']
    }),
    effect: async ({ known, send }) => {
      const rows: Json[] = await get(send, '/admin/stations')
      const copy = rows.find(({ name }) => name === 'Coverage clone')
      if (copy !== undefined) known['clonedStation'] = copy.id
      return expectThat(copy !== undefined, 'there is no copy')
    }
  },
  adminDeleteStation: { order: 99 },
  adminSendTestEmail: { body: () => ({ email: 'coverage@example.com' }), effect: 'unchecked' },
  postGeoLite: { body: () => ({ key: '' }) },
  restartService: { params: { service: '=nginx' }, body: () => undefined },
  getMe: { isPersonal: true },
  putMe: {
    isPersonal: true,
    body: () => ({ name: 'Changed me', locale: 'en_US', show_24_hour_time: true }),
    effect: async ({ known, send, path }) => {
      const { json } = await send('GET', path, { key: String(known['personKey']) })
      return expectThat(json?.name === 'Changed me', `the name is ${json?.name}`)
    }
  },
  getMyApiKeys: { isPersonal: true },
  addMyApiKey: {
    order: 16,
    needsSession: true,
    body: () => ({ comment: 'Coverage key' }),
    after: (known, { json }) => {
      if (json?.key === undefined) return
      known['ownKey'] = json.key
      known['ownKeyId'] = json.id ?? String(json.key).split(':')[0]
    },
    effect: async ({ known, send }) => {
      const { status } = await send('GET', '/frontend/account/me', { key: String(known['ownKey']) })
      return expectThat(status === 200, `a request with the key returns ${status}`)
    }
  },
  getMyApiKey: { isPersonal: true, params: { id: 'ownKeyId' } },
  deleteMyApiKey: {
    needsSession: true,
    params: { id: 'ownKeyId' },
    effect: async ({ known, send }) => {
      const { status } = await send('GET', '/frontend/account/me', { key: String(known['ownKey']) })
      return expectThat(status === 403, `a request with the key returns ${status}`)
    }
  },
  getMyTwoFactor: { isPersonal: true },
  putAccountTwoFactor: { isPersonal: true, effect: 'unchecked' },
  deleteMyTwoFactor: { isPersonal: true, effect: 'unchecked' },
  getAccountListPasskeys: { isPersonal: true },
  getAccountGetPasskey: { isPersonal: true, params: { id: 'passkey' } },
  deleteAccountPasskey: {
    needsSession: true,
    params: { id: 'passkey' },
    effect: async ({ known, send, path }) => {
      const { status } = await send('GET', path, { key: String(known['personKey']) })
      return expectThat(status === 404, `GET returns ${status}`)
    }
  },
  getAccountWebAuthnRegister: { needsSession: true },
  putAccountWebAuthnRegister: { needsSession: true, body: () => ({}) },
  changeMyPassword: {
    order: 94,
    needsSession: true,
    body: () => ({ current_password: 'a long enough password', new_password: 'another long password' }),
    effect: 'unchecked'
  },
  getDashboardCharts: { effect: 'unchecked' },
  getNotifications: {},
  getDashboardStations: {}
}

const bulkRow = (title: string) => Buffer.from(`path,title\ncoverage/first.mp3,${title}\n`)

/** Records are made first, then read, then changed, then deleted. */
export function orderOf({ id, method, path }: Operation): number {
  const own = steps[id]?.order
  if (own !== undefined) return own
  if (method === 'GET') return 20
  if (method === 'DELETE') return isRecord(path) ? 90 : 85
  return method === 'POST' && !path.includes('{id}') ? 10 : 50
}

const isRecord = (path: string) => path.endsWith('}')

/** What is made first, because other records refer to it. */
export const firstMade = [
  'addCustomField',
  'addRole',
  'addUser',
  'addPlaylist',
  'addFile',
  'addStreamer',
  'addMount'
]
