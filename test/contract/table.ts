import {
  action,
  apiKey,
  article,
  broadcast,
  customField,
  fullKey,
  hlsStream,
  notification,
  nowPlaying,
  nowPlayingEvent,
  playlist,
  poll,
  queueItem,
  remote,
  requestableSong,
  sftpUser,
  songRequest,
  stationSummary,
  storageLocation,
  streamer,
  success,
  webhook,
  webhookDelivery
} from './records.ts'
import type { Shape } from './shape.ts'

export type Body = Readonly<Record<string, unknown>>

/** One row of an endpoint table. In paths and bodies `{n}` is replaced by a new number in every request. */
export interface Row {
  readonly group: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The least permission that a key must have. */
  readonly permission: string
  readonly body?: Body
  /** The shape of the response with status 200. */
  readonly answer: Shape
}

const updated = action('Record updated successfully.')
const deleted = action('Record deleted successfully.')

const playlists: Row[] = [
  {
    group: 'playlists',
    method: 'GET',
    path: '/api/station/{station_id}/playlists',
    permission: 'view station management',
    answer: { list: playlist }
  },
  {
    group: 'playlists',
    method: 'POST',
    path: '/api/station/{station_id}/playlists',
    permission: 'manage station media',
    body: { name: 'Table {n}', source: 'songs', type: 'default', weight: 5 },
    answer: playlist
  },
  {
    group: 'playlists',
    method: 'GET',
    path: '/api/station/{station_id}/playlist/{id}',
    permission: 'view station management',
    answer: playlist
  },
  {
    group: 'playlists',
    method: 'PUT',
    path: '/api/station/{station_id}/playlist/{id}',
    permission: 'manage station media',
    body: { name: 'Table {n}' },
    answer: updated
  },
  {
    group: 'playlists',
    method: 'DELETE',
    path: '/api/station/{station_id}/playlist/{id}',
    permission: 'manage station media',
    answer: deleted
  }
]

const hlsStreams: Row[] = [
  {
    group: 'HLS streams',
    method: 'GET',
    path: '/api/station/{station_id}/hls_streams',
    permission: 'view station management',
    answer: { list: hlsStream }
  },
  {
    group: 'HLS streams',
    method: 'POST',
    path: '/api/station/{station_id}/hls_streams',
    permission: 'manage station mounts',
    body: { name: '/hls/table-{n}' },
    answer: hlsStream
  },
  {
    group: 'HLS streams',
    method: 'GET',
    path: '/api/station/{station_id}/hls_stream/{id}',
    permission: 'view station management',
    answer: hlsStream
  },
  {
    group: 'HLS streams',
    method: 'PUT',
    path: '/api/station/{station_id}/hls_stream/{id}',
    permission: 'manage station mounts',
    body: { display_name: 'Table {n}' },
    answer: updated
  },
  {
    group: 'HLS streams',
    method: 'DELETE',
    path: '/api/station/{station_id}/hls_stream/{id}',
    permission: 'manage station mounts',
    answer: deleted
  }
]

const sftpUsers: Row[] = [
  {
    group: 'SFTP users',
    method: 'GET',
    path: '/api/station/{station_id}/sftp-users',
    permission: 'manage station media',
    answer: { list: sftpUser }
  },
  {
    group: 'SFTP users',
    method: 'POST',
    path: '/api/station/{station_id}/sftp-users',
    permission: 'manage station media',
    body: { username: 'table-{n}', password: 'correct horse {n}' },
    answer: sftpUser
  },
  {
    group: 'SFTP users',
    method: 'GET',
    path: '/api/station/{station_id}/sftp-user/{id}',
    permission: 'manage station media',
    answer: sftpUser
  },
  {
    group: 'SFTP users',
    method: 'PUT',
    path: '/api/station/{station_id}/sftp-user/{id}',
    permission: 'manage station media',
    body: { username: 'table-{n}' },
    answer: updated
  },
  {
    group: 'SFTP users',
    method: 'DELETE',
    path: '/api/station/{station_id}/sftp-user/{id}',
    permission: 'manage station media',
    answer: deleted
  }
]

const queue: Row[] = [
  {
    group: 'queue',
    method: 'GET',
    path: '/api/station/{station_id}/queue',
    permission: 'view station management',
    answer: { list: queueItem }
  },
  {
    group: 'queue',
    method: 'GET',
    path: '/api/station/{station_id}/queue/{id}',
    permission: 'view station management',
    answer: queueItem
  },
  {
    group: 'queue',
    method: 'DELETE',
    path: '/api/station/{station_id}/queue/{id}',
    permission: 'manage station broadcasting',
    answer: deleted
  }
]

const webhooks: Row[] = [
  {
    group: 'web hooks',
    method: 'GET',
    path: '/api/station/{station_id}/webhooks',
    permission: 'manage station web hooks',
    answer: { list: webhook }
  },
  {
    group: 'web hooks',
    method: 'POST',
    path: '/api/station/{station_id}/webhooks',
    permission: 'manage station web hooks',
    body: { type: 'generic', name: 'Table {n}' },
    answer: webhook
  },
  {
    group: 'web hooks',
    method: 'GET',
    path: '/api/station/{station_id}/webhook/{id}',
    permission: 'manage station web hooks',
    answer: webhook
  },
  {
    group: 'web hooks',
    method: 'PUT',
    path: '/api/station/{station_id}/webhook/{id}',
    permission: 'manage station web hooks',
    body: { name: 'Table {n}' },
    answer: updated
  },
  {
    group: 'web hooks',
    method: 'DELETE',
    path: '/api/station/{station_id}/webhook/{id}',
    permission: 'manage station web hooks',
    answer: deleted
  }
]

const customFields: Row[] = [
  {
    group: 'custom fields',
    method: 'GET',
    path: '/api/admin/custom_fields',
    permission: 'view administration',
    answer: { list: customField }
  },
  {
    group: 'custom fields',
    method: 'POST',
    path: '/api/admin/custom_fields',
    permission: 'administer custom fields',
    body: { name: 'Table {n}' },
    answer: customField
  },
  {
    group: 'custom fields',
    method: 'GET',
    path: '/api/admin/custom_field/{id}',
    permission: 'view administration',
    answer: customField
  },
  {
    group: 'custom fields',
    method: 'PUT',
    path: '/api/admin/custom_field/{id}',
    permission: 'administer custom fields',
    body: { name: 'Table {n}' },
    answer: updated
  },
  {
    group: 'custom fields',
    method: 'DELETE',
    path: '/api/admin/custom_field/{id}',
    permission: 'administer custom fields',
    answer: deleted
  }
]

const storageLocations: Row[] = [
  {
    group: 'storage locations',
    method: 'GET',
    path: '/api/admin/storage_locations',
    permission: 'administer storage locations',
    answer: { list: storageLocation }
  },
  {
    group: 'storage locations',
    method: 'POST',
    path: '/api/admin/storage_locations',
    permission: 'administer storage locations',
    body: { type: 'station_media', adapter: 'local', path: '/srv/table-{n}' },
    answer: storageLocation
  },
  {
    group: 'storage locations',
    method: 'GET',
    path: '/api/admin/storage_location/{id}',
    permission: 'administer storage locations',
    answer: storageLocation
  },
  {
    group: 'storage locations',
    method: 'PUT',
    path: '/api/admin/storage_location/{id}',
    permission: 'administer storage locations',
    body: { path: '/srv/table-{n}' },
    answer: updated
  },
  {
    group: 'storage locations',
    method: 'DELETE',
    path: '/api/admin/storage_location/{id}',
    permission: 'administer storage locations',
    answer: deleted
  }
]

const nowPlayings: Row[] = [
  {
    group: 'now playing',
    method: 'GET',
    path: '/api/nowplaying',
    permission: 'public',
    answer: { list: nowPlaying }
  },
  {
    group: 'now playing',
    method: 'GET',
    path: '/api/nowplaying/{station_id}',
    permission: 'public',
    answer: nowPlaying
  }
]

const newsBody = { title: 'Table {n}', body: 'Words.', type: 'info', is_published: true }

const account: Row[] = [
  {
    group: 'API keys',
    method: 'GET',
    path: '/api/v1/main/api-keys',
    permission: 'administer api keys',
    answer: success({ api_keys: { list: apiKey } })
  },
  {
    group: 'API keys',
    method: 'POST',
    path: '/api/v1/main/api-keys',
    permission: 'administer api keys',
    body: { name: 'Table {n}', permissions: [], station_permissions: [], expires_at: 0 },
    answer: success({ key: fullKey, api_key: apiKey })
  },
  {
    group: 'API keys',
    method: 'POST',
    path: '/api/v1/main/api-keys/revoke/{key}',
    permission: 'administer api keys',
    answer: { atLeast: { status: { oneOf: ['success'] } } }
  },
  {
    group: 'news',
    method: 'GET',
    path: '/api/v1/main/news/{article_id}',
    permission: 'any key',
    answer: success({ article })
  },
  {
    group: 'news',
    method: 'PUT',
    path: '/api/v1/main/news/{article_id}',
    permission: 'administer settings',
    body: newsBody,
    answer: success({ article })
  },
  {
    group: 'news',
    method: 'DELETE',
    path: '/api/v1/main/news/{article_id}',
    permission: 'administer settings',
    answer: success()
  },
  {
    group: 'notifications',
    method: 'GET',
    path: '/api/v1/main/notifications',
    permission: 'view administration',
    answer: success({ notifications: { list: notification } })
  },
  {
    group: 'notifications',
    method: 'POST',
    path: '/api/v1/main/notifications',
    permission: 'administer settings',
    body: { title: 'Table {n}', body: 'Words.', type: 'info' },
    answer: success({ notification })
  },
  {
    group: 'notifications',
    method: 'GET',
    path: '/api/v1/main/notifications/{notification_id}',
    permission: 'view administration',
    answer: success({ notification })
  },
  {
    group: 'notifications',
    method: 'DELETE',
    path: '/api/v1/main/notifications/{notification_id}',
    permission: 'administer settings',
    answer: success()
  },
  {
    group: 'notifications',
    method: 'POST',
    path: '/api/v1/main/notifications/bulk-delete',
    permission: 'administer settings',
    body: { is_read: true },
    answer: success({ deleted: 'integer' })
  },
  {
    group: 'notifications',
    method: 'GET',
    path: '/api/v1/main/notifications/stats',
    permission: 'view administration',
    answer: success({
      total: 'integer',
      unread: 'integer',
      by_type: { keys: { info: 'integer', success: 'integer', warning: 'integer', danger: 'integer' } }
    })
  },
  {
    group: 'health',
    method: 'GET',
    path: '/api/health',
    permission: 'any key',
    answer: { atLeast: { status: 'string' } }
  },
  {
    group: 'health',
    method: 'GET',
    path: '/api/stats',
    permission: 'view administration',
    answer: { atLeast: { status: 'string' } }
  }
]

/** All rows of the endpoint tables of the API. */
export const interfaceRows: readonly Row[] = [
  ...playlists,
  ...hlsStreams,
  ...sftpUsers,
  ...queue,
  ...webhooks,
  ...customFields,
  ...storageLocations,
  ...nowPlayings,
  ...account
]

const station: Shape = { atLeast: { id: 'integer', name: 'string', short_name: 'string' } }

/** Endpoints beyond the tables that are required to use them. */
export const addedRows: readonly Row[] = [
  {
    group: 'remotes',
    method: 'GET',
    path: '/api/station/{station_id}/remotes',
    permission: 'manage station remotes',
    answer: { list: remote }
  },
  {
    group: 'remotes',
    method: 'POST',
    path: '/api/station/{station_id}/remotes',
    permission: 'manage station remotes',
    body: { name: 'Table {n}', url: 'http://relay.invalid/table-{n}.mp3' },
    answer: remote
  },
  {
    group: 'remotes',
    method: 'GET',
    path: '/api/station/{station_id}/remote/{id}',
    permission: 'manage station remotes',
    answer: remote
  },
  {
    group: 'remotes',
    method: 'PUT',
    path: '/api/station/{station_id}/remote/{id}',
    permission: 'manage station remotes',
    body: { name: 'Table {n}' },
    answer: updated
  },
  {
    group: 'remotes',
    method: 'DELETE',
    path: '/api/station/{station_id}/remote/{id}',
    permission: 'manage station remotes',
    answer: deleted
  },
  {
    group: 'remotes',
    method: 'GET',
    path: '/api/station/{station_id}/polls',
    permission: 'view station management',
    answer: { list: poll }
  },
  {
    group: 'streamers',
    method: 'GET',
    path: '/api/station/{station_id}/streamers',
    permission: 'manage station streamers',
    answer: { list: streamer }
  },
  {
    group: 'streamers',
    method: 'POST',
    path: '/api/station/{station_id}/streamers',
    permission: 'manage station streamers',
    body: { streamer_username: 'table-{n}', display_name: 'DJ {n}' },
    answer: streamer
  },
  {
    group: 'streamers',
    method: 'GET',
    path: '/api/station/{station_id}/streamer/{id}',
    permission: 'manage station streamers',
    answer: streamer
  },
  {
    group: 'streamers',
    method: 'PUT',
    path: '/api/station/{station_id}/streamer/{id}',
    permission: 'manage station streamers',
    body: { display_name: 'Table {n}' },
    answer: updated
  },
  {
    group: 'streamers',
    method: 'DELETE',
    path: '/api/station/{station_id}/streamer/{id}',
    permission: 'manage station streamers',
    answer: deleted
  },
  {
    group: 'streamers',
    method: 'GET',
    path: '/api/station/{station_id}/streamers/broadcasts',
    permission: 'view station reports',
    answer: { list: broadcast }
  },
  {
    group: 'web hooks',
    method: 'GET',
    path: '/api/station/{station_id}/webhook/{id}/deliveries',
    permission: 'manage station web hooks',
    answer: { list: webhookDelivery }
  },
  {
    group: 'stations',
    method: 'GET',
    path: '/api/admin/stations',
    permission: 'administer stations',
    answer: { list: station }
  },
  {
    group: 'stations',
    method: 'POST',
    path: '/api/admin/stations',
    permission: 'administer stations',
    body: { name: 'Table {n}', short_name: 'table_{n}' },
    answer: station
  },
  {
    group: 'stations',
    method: 'GET',
    path: '/api/admin/station/{id}',
    permission: 'administer stations',
    answer: station
  },
  {
    group: 'stations',
    method: 'PUT',
    path: '/api/admin/station/{id}',
    permission: 'administer stations',
    body: { name: 'Table {n}' },
    answer: updated
  },
  {
    group: 'stations',
    method: 'DELETE',
    path: '/api/admin/station/{id}',
    permission: 'administer stations',
    answer: deleted
  },
  {
    group: 'stations',
    method: 'GET',
    path: '/api/stations',
    permission: 'public',
    answer: { list: stationSummary }
  },
  {
    group: 'stations',
    method: 'GET',
    path: '/api/station/{station_id}',
    permission: 'public',
    answer: stationSummary
  },
  {
    group: 'now playing',
    method: 'GET',
    path: '/api/nowplaying_static/{station_id}.json',
    permission: 'public',
    answer: nowPlayingEvent
  },
  {
    group: 'files',
    method: 'GET',
    path: '/api/station/{station_id}/files',
    permission: 'view station management',
    answer: {
      list: {
        atLeast: {
          id: 'integer',
          path: 'string',
          title: 'string',
          artist: 'string',
          album: 'string',
          genre: 'string'
        }
      }
    }
  },
  {
    group: 'history',
    method: 'GET',
    path: '/api/station/{station_id}/history',
    permission: 'view station reports',
    answer: { list: 'object' }
  },
  {
    group: 'requests',
    method: 'GET',
    path: '/api/station/{station_id}/requests',
    permission: 'public',
    answer: { list: requestableSong }
  },
  {
    group: 'requests',
    method: 'GET',
    path: '/api/station/{station_id}/reports/requests',
    permission: 'view station reports',
    answer: { list: songRequest }
  },
  {
    group: 'requests',
    method: 'POST',
    path: '/api/station/{station_id}/reports/requests/clear',
    permission: 'manage station broadcasting',
    answer: action('Changes saved successfully.')
  },
  {
    group: 'playout',
    method: 'POST',
    path: '/api/station/{station_id}/backend/skip',
    permission: 'manage station broadcasting',
    answer: action('Song skipped.')
  },
  {
    group: 'playout',
    method: 'POST',
    path: '/api/station/{station_id}/queue/clear',
    permission: 'manage station broadcasting',
    answer: action('Queue cleared.')
  },
  {
    group: 'playout',
    method: 'PUT',
    path: '/api/station/{station_id}/listeners',
    permission: 'manage station broadcasting',
    body: { total: 3, unique: 2 },
    answer: updated
  },
  {
    group: 'history',
    method: 'GET',
    path: '/api/station/{station_id}/listeners/series',
    permission: 'view station reports',
    answer: { keys: { step: 'integer', points: { list: 'object' } } }
  },
  {
    group: 'news',
    method: 'GET',
    path: '/api/v1/main/news',
    permission: 'any key',
    answer: success({ articles: { list: article } })
  },
  {
    group: 'news',
    method: 'POST',
    path: '/api/v1/main/news',
    permission: 'administer settings',
    body: newsBody,
    answer: success({ article })
  },
  {
    group: 'service',
    method: 'GET',
    path: '/api/time',
    permission: 'public',
    answer: { atLeast: { timestamp: 'integer', utc_datetime: 'string' } }
  },
  {
    group: 'service',
    method: 'GET',
    path: '/api/status',
    permission: 'public',
    answer: { keys: { online: 'boolean', timestamp: 'integer' } }
  },
  {
    group: 'service',
    method: 'GET',
    path: '/api/openapi.json',
    permission: 'public',
    answer: { atLeast: { openapi: { text: /^3\./ }, paths: 'object' } }
  }
]
