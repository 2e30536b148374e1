import type { Sql } from '../../src/stores/db/sql.ts'
import { mp3 } from '../support/audio-bytes.ts'
import type { JsonBody } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'
import type { DocumentedOperation, Received } from './response-judge.ts'

/** Ids of records and other values of paths, by the part of the path before them or by a name. */
export type Known = Record<string, string | number>

export interface StepRequest {
  readonly params?: Readonly<Record<string, string | number | undefined>>
  readonly query?: string
  readonly body?: JsonBody
  readonly type?: string
  /** The default is the administrator's key. */
  readonly as?: 'person' | 'other' | 'playout' | 'nobody'
  readonly headers?: Readonly<Record<string, string>>
}

interface Step {
  /** Steps are in this order; those of one number in that of the document. */
  readonly order?: number
  readonly request?: (known: Known, sql: Sql) => StepRequest | Promise<StepRequest>
  /** Records what later steps need. */
  readonly after?: (known: Known, received: Received, sql: Sql) => void | Promise<void>
}

/** Their answers do not end, or need a browser with a passkey. */
const unanswered: Readonly<Record<string, string>> = {
  connect: 'a WebSocket',
  listenToEvents: 'does not end',
  listenToEventsByPost: 'does not end',
  listenToLines: 'does not end',
  addPasskey: 'needs an authenticator',
  signInWithPasskey: 'needs an authenticator'
}

/** Refused even though everything was seeded, with the reason. */
export const refused: Readonly<Record<string, string>> = {
  downloadBroadcast: 'the broadcast has no recording',
  getLinkedSong: 'only songs of remote storage have links',
  getLog: 'processes log to their standard output',
  playoutCp: 'only songs of remote storage are copied',
  playoutCpByGet: 'only songs of remote storage are copied',
  playoutSavecache: 'the song has no cache key',
  cancelRequest: 'the playout has the song',
  revokeInvitation: 'it was accepted',
  deletePlaylistEntry: 'the playlist has the song because of its folder',
  deleteStationFile: 'the playout has the song',
  deleteBroadcast: 'it is the one on air',
  deleteRole: 'a user has it'
}

const keep =
  (name: string) =>
  (known: Known, { json }: Received) =>
    void (known[name] = json?.id ?? known[name])
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)
const png = { type: 'image/png', body: picture }
const audio = (title: string) => mp3({ TIT2: title, TPE1: 'Every operation' }, 80)
const audioFile = (title: string): StepRequest => ({ type: 'audio/mpeg', body: audio(title) })
const onPlayout =
  (request: StepRequest = {}) =>
  (known: Known): StepRequest => ({
    ...request,
    params: { station_id: known['playoutStation'] },
    as: 'playout'
  })
const onClock =
  (params: StepRequest['params'] = {}, body?: JsonBody) =>
  ({ clockStation }: Known): StepRequest => ({ params: { ...params, station_id: clockStation }, body })
const asPerson =
  (request: StepRequest = {}) =>
  (): StepRequest => ({ ...request, as: 'person' })

const uploadOf = ({ upload }: Known): StepRequest => ({
  params: { upload },
  headers: { 'Tus-Resumable': '1.0.0' }
})

const table = (): StepRequest => ({
  type: 'text/csv',
  body: Buffer.from('path,title\nevery/first.mp3,Changed\n')
})

function chunk(): StepRequest {
  const fields = {
    flowChunkNumber: '1',
    flowTotalChunks: '1',
    flowCurrentChunkSize: String(audio('Third').length),
    flowTotalSize: String(audio('Third').length),
    flowIdentifier: 'third',
    flowFilename: 'third.mp3',
    currentDirectory: 'every'
  }
  const parts = Object.entries(fields).map(
    ([name, value]) => `--every\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  )
  const file =
    '--every\r\nContent-Disposition: form-data; name="file"; filename="third.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n'
  return {
    type: 'multipart/form-data; boundary=every',
    body: Buffer.concat([
      Buffer.from(parts.join('') + file),
      audio('Third'),
      Buffer.from('\r\n--every--\r\n')
    ])
  }
}

/** The last item of the queue, which no playout has taken. */
async function queueItem({ station_id: id = 0 }: Known, sql: Sql): Promise<StepRequest> {
  const [item] = await sql<{ id: number }[]>`select max(id)::int as id from queue where station_id = ${id}`
  return { params: { id: item?.id }, body: { position: 1 } }
}

async function play({ station_id: id = 0 }: Known, sql: Sql): Promise<StepRequest> {
  const [row] = await sql<{ id: number }[]>`
    select max(id)::int as id from song_history where station_id = ${id} and media_id is not null`
  return { params: { id: row?.id } }
}

/** Waits until a web hook has a delivery that can be repeated. */
async function delivered({ webhook = 0 }: Known, sql: Sql): Promise<StepRequest> {
  await waitFor(
    async () => {
      const found = await sql`
        select from webhook_deliveries where webhook_id = ${webhook} and state = 'delivered' limit 1`
      return found.length > 0
    },
    { deadlineMs: 10_000, what: 'a delivery of the web hook' }
  )
  return { body: { since: 1_783_468_800 } }
}

async function songRequest({ station_id: id = 0 }: Known, sql: Sql): Promise<StepRequest> {
  const [row] = await sql<{ id: number }[]>`select max(id)::int as id from requests where station_id = ${id}`
  return { params: { id: row?.id } }
}

/** The session that the operation has opened. */
async function otherSession({ email = '' }: Known, sql: Sql): Promise<StepRequest> {
  const [row] = await sql<{ id: number }[]>`
    select max(s.id)::int as id from sessions s join users u on u.id = s.user_id where u.email = ${email}`
  return { as: 'person', params: { id: row?.id } }
}

async function entry({ playlist = 0 }: Known, sql: Sql): Promise<StepRequest> {
  const [row] = await sql<{ id: number }[]>`
    select max(id)::int as id from playlist_entries where playlist_id = ${playlist}`
  return { params: { entry_id: row?.id } }
}

async function playlistOrder({ playlist = 0 }: Known, sql: Sql): Promise<StepRequest> {
  const rows = await sql<{ id: number }[]>`
    select media_id::int as id from playlist_entries where playlist_id = ${playlist} order by position`
  return { body: { order: rows.map(({ id }) => id) } }
}

export const steps: Readonly<Record<string, Step>> = {
  createCustomField: {
    order: 1,
    request: () => ({ body: { name: 'Mood', short_name: 'mood' } }),
    after: keep('custom_field')
  },
  createStationFile: {
    order: 2,
    request: () => ({ body: { path: 'every/first.mp3', file: audio('First').toString('base64') } }),
    after: async (known, { json }, sql) => {
      known['media'] = json?.id
      known['file'] = json?.id
      // Its two seconds would be repeated all day where a schedule is simulated.
      await sql`update media set duration_ms = 1800000 where id = ${Number(json?.id)}`
      await sql`insert into media_custom_fields (media_id, field_id, value)
        select ${Number(json?.id)}, ${known['custom_field'] ?? 0}, 'calm' on conflict do nothing`
    }
  },
  createPlaylist: {
    order: 2,
    request: () => ({
      body: {
        name: 'Every operation',
        source: 'songs',
        order: 'sequential',
        include_in_requests: true,
        include_in_on_demand: true,
        schedule_items: [{ start_time: 0, end_time: 2359, days: [1, 2, 3, 4, 5, 6, 7], loop_once: false }]
      }
    }),
    after: keep('playlist')
  },
  createStreamer: {
    order: 2,
    request: () => ({
      body: {
        streamer_username: 'every',
        streamer_password: 'a long enough password',
        display_name: 'DJ Every',
        schedule_items: [{ start_time: 800, end_time: 1000, days: [1, 2, 3, 4, 5, 6, 7] }]
      }
    }),
    after: keep('streamer')
  },
  createSftpUser: {
    order: 2,
    request: known => ({ body: { username: `every-${known['tag']}`, password: 'correct horse battery' } }),
    after: keep('sftp-user')
  },
  createStationMount: { order: 2, request: () => ({ body: { name: '/every.mp3' } }), after: keep('mount') },
  createHlsStream: { order: 2, request: () => ({ body: { name: '/hls/every' } }), after: keep('hls_stream') },
  createRemote: {
    order: 2,
    request: () => ({ body: { name: 'Oslo', display_name: 'Oslo', url: 'http://127.0.0.1:9/oslo.mp3' } }),
    after: keep('remote')
  },
  createWebhook: {
    order: 2,
    request: ({ hookUrl }) => ({
      body: {
        name: 'Every',
        type: 'generic',
        triggers: ['song_changed'],
        config: [{ key: 'webhook_url', value: hookUrl }]
      }
    }),
    after: keep('webhook')
  },
  createStorageLocation: {
    order: 2,
    request: ({ storageFolder, tag }) => ({
      body: { type: 'station_recordings', adapter: 'local', path: `${storageFolder}/recordings-${tag}` }
    }),
    after: keep('storage_location')
  },
  createStation: {
    order: 2,
    request: ({ tag }) => ({ body: { name: 'Every other', short_name: `other_${tag}`, backend: 'none' } }),
    after: keep('station')
  },
  createApiKey: {
    order: 2,
    request: () => ({ body: { name: 'Every', permissions: ['view administration'] } }),
    after: (known, { json }) => void (known['apiKey'] = json?.api_key?.identifier)
  },
  createArticle: {
    order: 2,
    after: (known, { json }) => void (known['article'] = json?.article?.article_id)
  },
  createNotification: {
    order: 2,
    after: (known, { json }) => void (known['notification'] = json?.notification?.notification_id)
  },
  createRole: {
    order: 2,
    request: ({ tag }) => ({
      body: { name: `Every ${tag}`, permissions: { global: ['view administration'], station: [] } }
    }),
    after: keep('role')
  },
  createUser: {
    order: 3,
    request: ({ tag, role }) => ({
      body: {
        email: `other-${tag}@example.com`,
        name: 'Other',
        new_password: 'a long enough password',
        auth_password: 'a long enough password',
        roles: [role]
      }
    }),
    after: keep('user')
  },
  createUserApiKey: {
    order: 4,
    request: ({ user }) => ({ body: { user, name: 'Every' } }),
    after: keep('api-key')
  },
  createInvitation: {
    order: 4,
    request: ({ tag, role }) => ({
      body: { email: `invited-${tag}@example.com`, name: 'Invited', roles: [role] }
    }),
    after: (known, { json }) => {
      known['invitation'] = json?.invitation?.id
      known['token'] =
        String(json?.link)
          .split('/')
          .at(-1)
          ?.replace(/^.*[#=]/, '') ?? ''
    }
  },
  createListenToken: { order: 4 },
  createMyApiKey: { order: 4, request: asPerson(), after: keep('myKey') },
  createFolder: { order: 4, request: () => ({ body: { currentDirectory: 'every', name: 'Jazz' } }) },
  createUpload: {
    order: 4,
    request: () => ({
      type: 'application/offset+octet-stream',
      headers: {
        'Tus-Resumable': '1.0.0',
        'Upload-Length': String(audio('Second').length),
        'Upload-Metadata': `path ${Buffer.from('every/second.mp3').toString('base64')}`
      },
      body: Buffer.alloc(0)
    }),
    after: (known, { location }) => void (known['upload'] = location.split('/').at(-1) ?? '')
  },
  addToQueue: { order: 5, request: ({ media }) => ({ body: { media_id: media } }) },
  reportListeners: { order: 5, request: () => ({ body: { total: 3, unique: 2 } }) },
  reportListenersOfStations: {
    order: 5,
    request: ({ station }) => ({ body: { stations: [{ station, total: 1 }] } })
  },
  registerRelay: {
    order: 5,
    request: () => ({
      body: {
        base_url: 'https://relay.example.com',
        name: 'Oslo',
        is_visible_on_public_pages: true,
        nowplaying: []
      }
    })
  },

  // The playout takes and plays a song, and a streamer goes live.
  playoutNextsong: {
    order: 6,
    request: onPlayout({ body: {} }),
    after: (known, { json }) => void Object.assign(known, { sqId: json?.sq_id ?? '', uri: json?.uri ?? '' })
  },
  playoutFeedback: { order: 7, request: known => onPlayout({ body: { sq_id: known['sqId'] } })(known) },
  playoutDjon: { order: 8, request: onPlayout({ body: { user: 'every' } }) },
  playoutAuth: {
    order: 8,
    request: onPlayout({ body: { user: 'every', password: 'a long enough password' } })
  },
  playoutAuthByGet: { request: onPlayout({ query: 'user=every&password=wrong' }) },
  playoutDjonByGet: { request: onPlayout({ query: 'user=every' }) },
  playoutDjoff: { order: 50, request: onPlayout({ body: { user: 'every' } }) },
  playoutDjoffByGet: { order: 50, request: onPlayout({ query: 'user=every' }) },
  playoutNextsongByGet: { order: 51, request: onPlayout() },
  playoutFeedbackByGet: { order: 51, request: onPlayout({ query: 'artist=Any&title=Song' }) },
  playoutCp: { order: 51, request: known => onPlayout({ body: { uri: `media:${known['media']}` } })(known) },
  playoutCpByGet: { order: 51, request: known => onPlayout({ query: `uri=media:${known['media']}` })(known) },
  playoutCommands: { order: 51, request: onPlayout({ body: { seen: '', wait: '0' } }) },
  playoutCommandsByGet: { order: 51, request: onPlayout({ query: 'wait=0' }) },
  playoutSavecache: { order: 51, request: onPlayout() },
  getLinkedSong: { request: ({ media }) => ({ params: { id: media } }) },

  setFileArt: { order: 9, request: ({ media }) => ({ ...png, params: { art: media } }) },
  setStreamerArt: { order: 9, request: () => png },
  setCustomAsset: {
    order: 9,
    request: () => ({ ...png, params: { asset_type: 'background' } }),
    after: (known, { json }) => void (known['assetUrl'] = json?.url ?? '')
  },
  setMountIntro: { order: 9, request: () => audioFile('Intro') },
  setFallback: { order: 9, request: () => audioFile('Fallback') },
  testWebhook: { order: 9 },
  addPlaylistEntry: { order: 9, request: ({ media }) => ({ body: { media_id: media } }) },
  applyPlaylistToFolders: {
    order: 9,
    request: () => ({ body: { directories: ['every'], copyPlaylist: false } })
  },
  importPlaylist: { order: 9, request: () => ({ body: ['every/first.mp3', 'nothing.mp3'] }) },

  getArt: { request: ({ media }) => ({ params: { art: media } }) },
  getStreamerArt: { request: ({ streamer }) => ({ params: { id: streamer, art: 'any' } }) },
  exportPlaylist: { request: () => ({ params: { format: 'm3u' } }) },
  downloadFile: { request: () => ({ query: 'file=every/first.mp3' }) },
  findChunk: {
    request: () => ({
      query:
        'flowChunkNumber=1&flowTotalChunks=2&flowIdentifier=every&flowChunkSize=10&flowCurrentChunkSize=10&flowTotalSize=20&flowFilename=a.mp3'
    })
  },
  getStationQuotaOfType: { request: () => ({ params: { type: 'station_media' } }) },
  getStationLog: { request: () => ({ params: { key: 'changes' } }) },
  getCustomAsset: {
    request: () => ({ params: { asset_type: 'background' } }),
    after: (known, { json }) => void (known['assetUrl'] = json?.url ?? '')
  },
  getUploadedPicture: {
    request: ({ assetUrl }) => ({ params: { asset: String(assetUrl).split('/').at(-1) } })
  },
  getBackgroundStyles: {
    request: ({ assetUrl }) => ({ params: { asset: String(assetUrl).split('/').at(-1)?.split('.')[0] } })
  },
  getMe: { request: asPerson() },
  getMyPermissions: { request: asPerson() },
  getMyTwoFactor: { request: asPerson() },
  listMyApiKeys: { request: asPerson() },
  listSessions: { request: asPerson() },
  listPasskeys: { request: asPerson() },
  getPasskey: { request: asPerson() },
  offerPasskey: { request: asPerson() },
  getMyApiKey: { request: ({ myKey }) => ({ as: 'person', params: { id: myKey } }) },
  getDashboardCharts: { request: asPerson() },
  listDashboardStations: {},

  deleteNotifications: { order: 62, request: () => ({ body: { all: true } }) },
  changePassword: {
    order: 73,
    request: asPerson({
      body: { current_password: 'correct horse battery', new_password: 'another long password' }
    })
  },
  editMe: { request: asPerson({ body: { name: 'Every' } }) },
  revokeMyApiKey: { request: ({ myKey }) => ({ as: 'person', params: { id: myKey } }) },
  signIn: { request: ({ email }) => ({ as: 'nobody', body: { email, password: 'correct horse battery' } }) },
  deletePasskey: { request: asPerson() },

  // The other station has no playout, so that the engine controls it.
  restartServices: { request: onClock() },
  reloadServices: { request: onClock() },
  controlBackend: { request: onClock({ action: 'restart' }) },
  controlFrontend: { request: () => ({ params: { action: 'restart' } }) },
  skipSong: { request: onClock({}, {}) },
  updateNowPlaying: {
    request: ({ station }) => ({ params: { station_id: station }, body: { title: 'Sent' } })
  },
  updateNowPlayingByGet: {
    request: ({ station }) => ({ params: { station_id: station }, query: 'title=Sent' })
  },

  getUpload: { order: 31, request: uploadOf },
  sendUpload: {
    request: ({ upload }) => ({
      params: { upload },
      type: 'application/offset+octet-stream',
      headers: { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0' },
      body: audio('Second')
    })
  },
  deleteUpload: { request: ({ upload }) => ({ params: { upload }, headers: { 'Tus-Resumable': '1.0.0' } }) },
  sendChunk: { request: chunk },
  uploadFileTable: { request: table },
  previewFileTable: { request: table },
  setLiquidsoapConfig: { request: () => ({ body: {} }) },
  openInvitation: { order: 31, request: ({ token }) => ({ as: 'nobody', body: { token } }) },
  offerPasskeyToJoin: {
    order: 31,
    request: ({ token, tag }) => ({
      as: 'nobody',
      body: { token, email: `invited-${tag}@example.com`, name: 'Invited' }
    })
  },
  acceptInvitation: {
    order: 32,
    request: ({ token, tag }) => ({
      as: 'nobody',
      body: {
        token,
        email: `invited-${tag}@example.com`,
        name: 'Invited',
        password: 'a long enough password'
      }
    })
  },
  getWebhookTestLog: { request: ({ webhook }) => ({ params: { path: `webhook_test_${webhook}` } }) },
  getWebhookTestLogByDocumentedPath: {
    request: ({ webhook }) => ({ params: { id: webhook, path: `webhook_test_${webhook}` } })
  },
  getQueueItem: { request: queueItem },
  moveQueueItem: { request: queueItem },
  deleteQueueItem: { order: 55, request: queueItem },
  checkSftpLogin: {
    request: ({ tag }) => ({ body: { username: `every-${tag}`, password: 'correct horse battery' } })
  },
  editStation: { request: () => ({ body: { name: 'Every renamed' } }) },
  editProfile: { request: () => ({ body: { name: 'Every renamed' } }) },
  editStationFile: { request: () => ({ body: { title: 'Changed again' } }) },
  editPlaylist: { request: () => ({ body: { name: 'Changed' } }) },
  editStationMount: { request: () => ({ body: { display_name: 'Changed' } }) },
  editHlsStream: { request: () => ({ body: { display_name: 'Changed' } }) },
  editRemote: { request: () => ({ body: { is_visible: false } }) },
  editStorageLocation: { request: () => ({ body: { storageQuota: '1 GB' } }) },
  editSftpUser: { request: () => ({ body: { password: 'another long password' } }) },
  editStreamer: { request: () => ({ body: { comments: 'Changed' } }) },
  editWebhook: { request: () => ({ body: { name: 'Changed' } }) },
  editUser: { request: () => ({ body: { name: 'Changed' } }) },
  editRole: { request: ({ tag }) => ({ body: { name: `Changed ${tag}` } }) },
  editCustomField: { request: () => ({ body: { name: 'Changed' } }) },
  editSettingsBranding: { request: () => ({ body: { public_theme: 'dark' } }) },
  editSettings: { request: () => ({ body: { history_keep_days: 60 } }) },
  renameFile: { request: () => ({ body: { file: 'every/first.mp3', newPath: 'every/renamed.mp3' } }) },
  changeFiles: { request: () => ({ body: { do: 'queue', files: ['every/renamed.mp3'], dirs: [] } }) },
  reorderPlaylist: { request: playlistOrder },
  cloneStation: { request: ({ tag }) => ({ body: { name: `Copy ${tag}`, clone: ['playlists', 'mounts'] } }) },
  clonePlaylist: { request: () => ({ body: { name: 'Copy', clone: ['media'] } }) },
  redeliverWebhook: { order: 25, request: delivered },
  setWaveform: {
    order: 9,
    request: ({ media }) => ({
      params: { media },
      body: {
        version: 2,
        channels: 1,
        sample_rate: 8_000,
        samples_per_pixel: 80,
        bits: 8,
        length: 2,
        data: [-1, 1, -0.5, 0.5]
      }
    })
  },
  revokeApiKey: { request: ({ apiKey }) => ({ params: { key: apiKey } }) },
  deleteCustomAsset: { request: () => ({ params: { asset_type: 'background' } }) },
  deleteFileArt: { request: ({ media }) => ({ params: { art: media } }) },
  requestSong: { order: 10, request: ({ media }) => ({ params: { media_id: media }, as: 'nobody' }) },
  downloadOnDemandSong: { request: ({ media }) => ({ params: { media_id: media } }) },
  playFile: { request: ({ media }) => ({ params: { id: media } }) },
  getNotification: { request: ({ notification }) => ({ params: { notification_id: notification } }) },
  markNotification: {
    request: ({ notification }) => ({ params: { notification_id: notification }, body: { is_read: true } })
  },
  deleteNotification: { request: ({ notification }) => ({ params: { notification_id: notification } }) },
  getArticle: { request: ({ article }) => ({ params: { article_id: article } }) },
  editArticle: {
    request: ({ article }) => ({ params: { article_id: article }, body: { title: 'Changed' } })
  },
  deleteArticle: { request: ({ article }) => ({ params: { article_id: article } }) },

  replacePlayoutKey: { order: 59 },
  getPlayReasons: { request: play },
  deleteMountIntro: { order: 55 },
  deleteStreamerArt: { order: 55 },
  deleteAudience: { request: () => ({ query: 'all=true' }) },
  cancelRequest: { order: 52, request: songRequest },
  clearRequests: { order: 53 },
  emptyPlaylist: { order: 57 },
  clearPlaylistQueue: { order: 55 },
  deletePlaylistEntry: { order: 55, request: entry },
  removeFolderOfPlaylist: { order: 55, request: ({ folder }) => ({ params: { folder_id: folder } }) },

  listFoldersOfPlaylist: { after: (known, { json }) => void (known['folder'] = json?.[0]?.id ?? 1) },
  listWebhookDeliveries: { after: (known, { json }) => void (known['delivery'] = json?.[0]?.id ?? 1) },
  deleteRole: { order: 61 },
  revokeInvitation: { order: 56 },
  signOut: { order: 71, request: () => ({ as: 'other' }) },
  endSession: { order: 72, request: otherSession },
  signOutEverywhere: { order: 74, request: asPerson() },
  simulateSchedule: { request: () => ({ query: 'days=1' }) },
  simulateUnsavedSchedule: { order: 21, request: () => ({ body: { playlists: [], days: 1, from: '' } }) },
  previewQueue: { request: () => ({ query: 'count=5' }) }
}

/** Returns the steps for the operations of a document, in order. */
export function orderSteps(operations: readonly DocumentedOperation[]): DocumentedOperation[] {
  const rank = ({ id, method }: DocumentedOperation) =>
    steps[id]?.order ?? { POST: 30, PUT: 40, PATCH: 30, DELETE: 60 }[method] ?? 20
  return operations.filter(({ id }) => !(id in unanswered)).toSorted((a, b) => rank(a) - rank(b))
}

/** Fills the parameters of a path: the value of a parameter is known by the part of the path before it. */
export function fillPath(path: string, known: Known, params: StepRequest['params'] = {}): string {
  const parts = path.split('/')
  return parts
    .map((part, index) =>
      part.replace(/\{(\w+)\}/, (_, name: string) => {
        const shown = name === 'station_id' ? (known['stationName'] ?? known[name]) : known[name]
        const value = params[name] ?? shown ?? known[parts[index - 1] ?? ''] ?? 1
        return encodeURIComponent(String(value))
      })
    )
    .join('/')
}
