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
  readonly response: Shape
}

const updated = action('Record updated successfully.')
const deleted = action('Record deleted successfully.')

const playlists: Row[] = [
  {
    group: 'playlists',
    method: 'GET',
    path: '/api/station/{station_id}/playlists',
    permission: 'view station management',
    response: { list: playlist }
  },
  {
    group: 'playlists',
    method: 'POST',
    path: '/api/station/{station_id}/playlists',
    permission: 'manage station media',
    body: { name: 'Table {n}', source: 'songs', type: 'default', weight: 5 },
    response: playlist
  },
  {
    group: 'playlists',
    method: 'GET',
    path: '/api/station/{station_id}/playlist/{id}',
    permission: 'view station management',
    response: playlist
  },
  {
    group: 'playlists',
    method: 'PUT',
    path: '/api/station/{station_id}/playlist/{id}',
    permission: 'manage station media',
    body: { name: 'Table {n}' },
    response: updated
  },
  {
    group: 'playlists',
    method: 'DELETE',
    path: '/api/station/{station_id}/playlist/{id}',
    permission: 'manage station media',
    response: deleted
  }
]

const hlsStreams: Row[] = [
  {
    group: 'HLS streams',
    method: 'GET',
    path: '/api/station/{station_id}/hls_streams',
    permission: 'view station management',
    response: { list: hlsStream }
  },
  {
    group: 'HLS streams',
    method: 'POST',
    path: '/api/station/{station_id}/hls_streams',
    permission: 'manage station mounts',
    body: { name: '/hls/table-{n}' },
    response: hlsStream
  },
  {
    group: 'HLS streams',
    method: 'GET',
    path: '/api/station/{station_id}/hls_stream/{id}',
    permission: 'view station management',
    response: hlsStream
  },
  {
    group: 'HLS streams',
    method: 'PUT',
    path: '/api/station/{station_id}/hls_stream/{id}',
    permission: 'manage station mounts',
    body: { display_name: 'Table {n}' },
    response: updated
  },
  {
    group: 'HLS streams',
    method: 'DELETE',
    path: '/api/station/{station_id}/hls_stream/{id}',
    permission: 'manage station mounts',
    response: deleted
  }
]

const sftpUsers: Row[] = [
  {
    group: 'SFTP users',
    method: 'GET',
    path: '/api/station/{station_id}/sftp-users',
    permission: 'manage station media',
    response: { list: sftpUser }
  },
  {
    group: 'SFTP users',
    method: 'POST',
    path: '/api/station/{station_id}/sftp-users',
    permission: 'manage station media',
    body: { username: 'table-{n}', password: 'correct horse {n}' },
    response: sftpUser
  },
  {
    group: 'SFTP users',
    method: 'GET',
    path: '/api/station/{station_id}/sftp-user/{id}',
    permission: 'manage station media',
    response: sftpUser
  },
  {
    group: 'SFTP users',
    method: 'PUT',
    path: '/api/station/{station_id}/sftp-user/{id}',
    permission: 'manage station media',
    body: { username: 'table-{n}' },
    response: updated
  },
  {
    group: 'SFTP users',
    method: 'DELETE',
    path: '/api/station/{station_id}/sftp-user/{id}',
    permission: 'manage station media',
    response: deleted
  }
]

const queue: Row[] = [
  {
    group: 'queue',
    method: 'GET',
    path: '/api/station/{station_id}/queue',
    permission: 'view station management',
    response: { list: queueItem }
  },
  {
    group: 'queue',
    method: 'GET',
    path: '/api/station/{station_id}/queue/{id}',
    permission: 'view station management',
    response: queueItem
  },
  {
    group: 'queue',
    method: 'DELETE',
    path: '/api/station/{station_id}/queue/{id}',
    permission: 'manage station broadcasting',
    response: deleted
  }
]

const webhooks: Row[] = [
  {
    group: 'web hooks',
    method: 'GET',
    path: '/api/station/{station_id}/webhooks',
    permission: 'manage station web hooks',
    response: { list: webhook }
  },
  {
    group: 'web hooks',
    method: 'POST',
    path: '/api/station/{station_id}/webhooks',
    permission: 'manage station web hooks',
    body: { type: 'generic', name: 'Table {n}' },
    response: webhook
  },
  {
    group: 'web hooks',
    method: 'GET',
    path: '/api/station/{station_id}/webhook/{id}',
    permission: 'manage station web hooks',
    response: webhook
  },
  {
    group: 'web hooks',
    method: 'PUT',
    path: '/api/station/{station_id}/webhook/{id}',
    permission: 'manage station web hooks',
    body: { name: 'Table {n}' },
    response: updated
  },
  {
    group: 'web hooks',
    method: 'DELETE',
    path: '/api/station/{station_id}/webhook/{id}',
    permission: 'manage station web hooks',
    response: deleted
  }
]

const customFields: Row[] = [
  {
    group: 'custom fields',
    method: 'GET',
    path: '/api/admin/custom_fields',
    permission: 'view administration',
    response: { list: customField }
  },
  {
    group: 'custom fields',
    method: 'POST',
    path: '/api/admin/custom_fields',
    permission: 'administer custom fields',
    body: { name: 'Table {n}' },
    response: customField
  },
  {
    group: 'custom fields',
    method: 'GET',
    path: '/api/admin/custom_field/{id}',
    permission: 'view administration',
    response: customField
  },
  {
    group: 'custom fields',
    method: 'PUT',
    path: '/api/admin/custom_field/{id}',
    permission: 'administer custom fields',
    body: { name: 'Table {n}' },
    response: updated
  },
  {
    group: 'custom fields',
    method: 'DELETE',
    path: '/api/admin/custom_field/{id}',
    permission: 'administer custom fields',
    response: deleted
  }
]

const storageLocations: Row[] = [
  {
    group: 'storage locations',
    method: 'GET',
    path: '/api/admin/storage_locations',
    permission: 'administer storage locations',
    response: { list: storageLocation }
  },
  {
    group: 'storage locations',
    method: 'POST',
    path: '/api/admin/storage_locations',
    permission: 'administer storage locations',
    body: { type: 'station_media', adapter: 'local', path: '/srv/table-{n}' },
    response: storageLocation
  },
  {
    group: 'storage locations',
    method: 'GET',
    path: '/api/admin/storage_location/{id}',
    permission: 'administer storage locations',
    response: storageLocation
  },
  {
    group: 'storage locations',
    method: 'PUT',
    path: '/api/admin/storage_location/{id}',
    permission: 'administer storage locations',
    body: { path: '/srv/table-{n}' },
    response: updated
  },
  {
    group: 'storage locations',
    method: 'DELETE',
    path: '/api/admin/storage_location/{id}',
    permission: 'administer storage locations',
    response: deleted
  }
]

const nowPlayings: Row[] = [
  {
    group: 'now playing',
    method: 'GET',
    path: '/api/nowplaying',
    permission: 'public',
    response: { list: nowPlaying }
  },
  {
    group: 'now playing',
    method: 'GET',
    path: '/api/nowplaying/{station_id}',
    permission: 'public',
    response: nowPlaying
  }
]

const newsBody = { title: 'Table {n}', body: 'Words.', type: 'info', is_published: true }

const account: Row[] = [
  {
    group: 'API keys',
    method: 'GET',
    path: '/api/v1/main/api-keys',
    permission: 'administer api keys',
    response: success({ api_keys: { list: apiKey } })
  },
  {
    group: 'API keys',
    method: 'POST',
    path: '/api/v1/main/api-keys',
    permission: 'administer api keys',
    body: { name: 'Table {n}', permissions: [], station_permissions: [], expires_at: 0 },
    response: success({ key: fullKey, api_key: apiKey })
  },
  {
    group: 'API keys',
    method: 'POST',
    path: '/api/v1/main/api-keys/revoke/{key}',
    permission: 'administer api keys',
    response: { atLeast: { status: { oneOf: ['success'] } } }
  },
  {
    group: 'news',
    method: 'GET',
    path: '/api/v1/main/news/{article_id}',
    permission: 'any key',
    response: success({ article })
  },
  {
    group: 'news',
    method: 'PUT',
    path: '/api/v1/main/news/{article_id}',
    permission: 'administer settings',
    body: newsBody,
    response: success({ article })
  },
  {
    group: 'news',
    method: 'DELETE',
    path: '/api/v1/main/news/{article_id}',
    permission: 'administer settings',
    response: success()
  },
  {
    group: 'notifications',
    method: 'GET',
    path: '/api/v1/main/notifications',
    permission: 'view administration',
    response: success({ notifications: { list: notification } })
  },
  {
    group: 'notifications',
    method: 'POST',
    path: '/api/v1/main/notifications',
    permission: 'administer settings',
    body: { title: 'Table {n}', body: 'Words.', type: 'info' },
    response: success({ notification })
  },
  {
    group: 'notifications',
    method: 'GET',
    path: '/api/v1/main/notifications/{notification_id}',
    permission: 'view administration',
    response: success({ notification })
  },
  {
    group: 'notifications',
    method: 'DELETE',
    path: '/api/v1/main/notifications/{notification_id}',
    permission: 'administer settings',
    response: success()
  },
  {
    group: 'notifications',
    method: 'POST',
    path: '/api/v1/main/notifications/bulk-delete',
    permission: 'administer settings',
    body: { is_read: true },
    response: success({ deleted: 'integer' })
  },
  {
    group: 'notifications',
    method: 'GET',
    path: '/api/v1/main/notifications/stats',
    permission: 'view administration',
    response: success({
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
    response: { atLeast: { status: 'string' } }
  },
  {
    group: 'health',
    method: 'GET',
    path: '/api/stats',
    permission: 'view administration',
    response: { atLeast: { status: 'string' } }
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
    response: { list: remote }
  },
  {
    group: 'remotes',
    method: 'POST',
    path: '/api/station/{station_id}/remotes',
    permission: 'manage station remotes',
    body: { name: 'Table {n}', url: 'http://relay.invalid/table-{n}.mp3' },
    response: remote
  },
  {
    group: 'remotes',
    method: 'GET',
    path: '/api/station/{station_id}/remote/{id}',
    permission: 'manage station remotes',
    response: remote
  },
  {
    group: 'remotes',
    method: 'PUT',
    path: '/api/station/{station_id}/remote/{id}',
    permission: 'manage station remotes',
    body: { name: 'Table {n}' },
    response: updated
  },
  {
    group: 'remotes',
    method: 'DELETE',
    path: '/api/station/{station_id}/remote/{id}',
    permission: 'manage station remotes',
    response: deleted
  },
  {
    group: 'remotes',
    method: 'GET',
    path: '/api/station/{station_id}/polls',
    permission: 'view station management',
    response: { list: poll }
  },
  {
    group: 'streamers',
    method: 'GET',
    path: '/api/station/{station_id}/streamers',
    permission: 'manage station streamers',
    response: { list: streamer }
  },
  {
    group: 'streamers',
    method: 'POST',
    path: '/api/station/{station_id}/streamers',
    permission: 'manage station streamers',
    body: { streamer_username: 'table-{n}', display_name: 'DJ {n}' },
    response: streamer
  },
  {
    group: 'streamers',
    method: 'GET',
    path: '/api/station/{station_id}/streamer/{id}',
    permission: 'manage station streamers',
    response: streamer
  },
  {
    group: 'streamers',
    method: 'PUT',
    path: '/api/station/{station_id}/streamer/{id}',
    permission: 'manage station streamers',
    body: { display_name: 'Table {n}' },
    response: updated
  },
  {
    group: 'streamers',
    method: 'DELETE',
    path: '/api/station/{station_id}/streamer/{id}',
    permission: 'manage station streamers',
    response: deleted
  },
  {
    group: 'streamers',
    method: 'GET',
    path: '/api/station/{station_id}/streamers/broadcasts',
    permission: 'view station reports',
    response: { list: broadcast }
  },
  {
    group: 'web hooks',
    method: 'GET',
    path: '/api/station/{station_id}/webhook/{id}/deliveries',
    permission: 'manage station web hooks',
    response: { list: webhookDelivery }
  },
  {
    group: 'stations',
    method: 'GET',
    path: '/api/admin/stations',
    permission: 'administer stations',
    response: { list: station }
  },
  {
    group: 'stations',
    method: 'POST',
    path: '/api/admin/stations',
    permission: 'administer stations',
    body: { name: 'Table {n}', short_name: 'table_{n}' },
    response: station
  },
  {
    group: 'stations',
    method: 'GET',
    path: '/api/admin/station/{id}',
    permission: 'administer stations',
    response: station
  },
  {
    group: 'stations',
    method: 'PUT',
    path: '/api/admin/station/{id}',
    permission: 'administer stations',
    body: { name: 'Table {n}' },
    response: updated
  },
  {
    group: 'stations',
    method: 'DELETE',
    path: '/api/admin/station/{id}',
    permission: 'administer stations',
    response: deleted
  },
  {
    group: 'stations',
    method: 'GET',
    path: '/api/stations',
    permission: 'public',
    response: { list: stationSummary }
  },
  {
    group: 'stations',
    method: 'GET',
    path: '/api/station/{station_id}',
    permission: 'public',
    response: stationSummary
  },
  {
    group: 'now playing',
    method: 'GET',
    path: '/api/nowplaying_static/{station_id}.json',
    permission: 'public',
    response: nowPlayingEvent
  },
  {
    group: 'files',
    method: 'GET',
    path: '/api/station/{station_id}/files',
    permission: 'view station management',
    response: {
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
    response: { list: 'object' }
  },
  {
    group: 'requests',
    method: 'GET',
    path: '/api/station/{station_id}/requests',
    permission: 'public',
    response: { list: requestableSong }
  },
  {
    group: 'requests',
    method: 'GET',
    path: '/api/station/{station_id}/reports/requests',
    permission: 'view station reports',
    response: { list: songRequest }
  },
  {
    group: 'requests',
    method: 'POST',
    path: '/api/station/{station_id}/reports/requests/clear',
    permission: 'manage station broadcasting',
    response: action('Changes saved successfully.')
  },
  {
    group: 'playout',
    method: 'POST',
    path: '/api/station/{station_id}/backend/skip',
    permission: 'manage station broadcasting',
    response: action('Song skipped.')
  },
  {
    group: 'playout',
    method: 'POST',
    path: '/api/station/{station_id}/queue/clear',
    permission: 'manage station broadcasting',
    response: action('Queue cleared.')
  },
  {
    group: 'playout',
    method: 'PUT',
    path: '/api/station/{station_id}/listeners',
    permission: 'manage station broadcasting',
    body: { total: 3, unique: 2 },
    response: updated
  },
  {
    group: 'history',
    method: 'GET',
    path: '/api/station/{station_id}/listeners/series',
    permission: 'view station reports',
    response: { keys: { step: 'integer', points: { list: 'object' } } }
  },
  {
    group: 'news',
    method: 'GET',
    path: '/api/v1/main/news',
    permission: 'any key',
    response: success({ articles: { list: article } })
  },
  {
    group: 'news',
    method: 'POST',
    path: '/api/v1/main/news',
    permission: 'administer settings',
    body: newsBody,
    response: success({ article })
  },
  {
    group: 'service',
    method: 'GET',
    path: '/api/time',
    permission: 'public',
    response: { atLeast: { timestamp: 'integer', utc_datetime: 'string' } }
  },
  {
    group: 'service',
    method: 'GET',
    path: '/api/status',
    permission: 'public',
    response: { keys: { online: 'boolean', timestamp: 'integer' } }
  },
  {
    group: 'service',
    method: 'GET',
    path: '/api/openapi.json',
    permission: 'public',
    response: { atLeast: { openapi: { text: /^3\./ }, paths: 'object' } }
  }
]
