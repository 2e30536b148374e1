import { scalarToText } from '../../../src/commands/from-azuracast/source.ts'
import { apiKeys } from './installation.ts'
import { playLists } from './play-lists.ts'
import { membersOf, type RecordList, type RecordType, toObject } from './record-lists.ts'
import { customFieldsOf, firstOf, insideSong, pick, songColumns, songFields } from './song-columns.ts'
import type { Row, World } from './world.ts'

/** One list of all records of the installation. */
const ofInstallation =
  (path: string, table: string, expand: (world: World, row: Row) => Row = (_, row) => row) =>
  (world: World): RecordList[] => [{ path, rows: world.rows(table).map(row => expand(world, row)) }]

/** A list for each station, by its id in a column. */
const ofStations =
  (
    path: string,
    table: string,
    {
      isListed = () => true,
      expand = (_, row) => row
    }: {
      readonly isListed?: (row: Row) => boolean
      readonly expand?: (world: World, row: Row) => Row
    } = {}
  ) =>
  (world: World): RecordList[] =>
    world.stations.map(id => ({
      path: `/api/station/${id}/${path}`,
      rows: world
        .find(table, 'station_id', id)
        .filter(isListed)
        .map(row => expand(world, row))
    }))

/** Songs have the station of their storage location, of which each station has three. */
const songsOf = (world: World, station: number) =>
  world.find('station_media', 'storage_location_id', station * 3 - 2)

/** The items of a schedule: their days are numbers. */
function scheduleOf(world: World, column: string, id: unknown): Row[] {
  return world.find('station_schedules', column, id).map(row => ({
    ...pick(row, ['id', 'start_time', 'end_time', 'start_date', 'end_date', 'loop_once']),
    days: scalarToText(row['days'])
      .split(',')
      .filter(day => day !== '')
  }))
}

function expandPlaylist(world: World, row: Row): Row {
  const songs = world.find('station_playlist_media', 'playlist_id', row['id'])
  const lengths = songs.map(({ media_id: id }) => Number(firstOf(world, 'station_media', id)['length']))
  return {
    ...row,
    schedule_items: scheduleOf(world, 'playlist_id', row['id']),
    // An address is an entry of its playlist.
    ...(row['source'] === 'songs' && {
      num_songs: songs.length,
      total_length: Math.round(lengths.reduce((sum, length) => sum + length, 0))
    })
  }
}

const isSongPlaylist = (row: Row) => row['source'] === 'songs'

/** The songs of playlists by their weight: those of sequential ones, or those that are left in the pass of any. */
function* playlistLists(
  world: World,
  { path, isListed }: { readonly path: string; readonly isListed: (playlist: Row, entry: Row) => boolean }
): Generator<RecordList> {
  for (const playlist of world.rows('station_playlists').filter(isSongPlaylist)) {
    const entries = world
      .find('station_playlist_media', 'playlist_id', playlist['id'])
      .filter(entry => isListed(playlist, entry))
      .toSorted((a, b) => Number(a['weight']) - Number(b['weight']))
    if (path === 'order' && playlist['playback_order'] !== 'sequential') continue
    yield {
      path: `/api/station/${scalarToText(playlist['station_id'])}/playlist/${scalarToText(playlist['id'])}/${path}`,
      rows: entries.map(entry => ({
        ...firstOf(world, 'station_media', entry['media_id']),
        ...entry,
        spm_id: entry['id']
      })),
      order: playlist['playback_order'] === 'sequential' ? 'order' : 'order of a shuffled pass',
      stationId: Number(playlist['station_id'])
    }
  }
}

const isPlayed = (row: Row) => row['played_at'] instanceof Date
const dayMs = 86_400_000
const isRecent = ({ timestamp }: Row) => timestamp instanceof Date && timestamp.getTime() > Date.now() - dayMs

const expandRequest = (world: World, row: Row): Row => {
  const track = firstOf(world, 'station_media', row['track_id'])
  return { ...pick(track, trackFields), ...row, ...songColumns(world, row['track_id']) }
}
const trackFields = ['unique_id', 'path', 'length', 'mtime', 'uploaded_at']
const insideTrack = Object.fromEntries([...songFields, ...trackFields].map(name => [name, 'track']))

const broadcastNames = { timestamp_start: 'timestampStart', timestamp_end: 'timestampEnd' }

function streamerOf(world: World, row: Row): Row {
  return pick(firstOf(world, 'station_streamers', row['streamer_id']), [
    'id',
    'streamer_username',
    'display_name'
  ])
}

/** Songs of enabled playlists may be requested; the generated ones have no schedule but `Mornings`. */
function* requestableLists(world: World): Generator<RecordList> {
  for (const id of world.stations)
    yield {
      path: `/api/station/${id}/requests`,
      from: `198.51.100.${id % 250}`,
      rows: songsOf(world, id).map(song => ({
        ...songColumns(world, song['id']),
        request_id: song['unique_id']
      }))
    }
}

/** The listeners by hour of the day, and by day: those of AzuraCast are in the time of the station. */
function* chartLists(world: World): Generator<RecordList> {
  const dateOf = (row: Row | undefined) =>
    row?.['moment'] instanceof Date ? row['moment'].toISOString().slice(0, 10) : ''
  for (const id of world.stations) {
    const rows = world.find('analytics', 'station_id', id)
    const days = rows.filter(({ type }) => type === 'day')
    const hours = rows.filter(({ type }) => type === 'hour')
    const path = (first: Row | undefined, last: Row | undefined) =>
      `/api/station/${id}/reports/overview/charts?type=average&start=${dateOf(first)}&end=${dateOf(last)}`
    yield {
      path: path(hours[0], hours.at(-1)),
      rows: Array.from({ length: 24 }, (_, hour) => {
        const counts = hours.filter(({ moment }) => moment instanceof Date && moment.getUTCHours() === hour)
        return { id: hour, number_avg: average(counts.map(row => Number(row['number_avg']))) }
      }),
      toRecords: body =>
        Object.entries(membersOf(body, 'hourly', 'all', 'metrics', 0, 'data')).map(([hour, value]) => ({
          id: Number(hour),
          number_avg: value
        }))
    }
    yield {
      path: path(days[0], days.at(-1)),
      rows: days.map(day => ({ id: dateOf(day), number_avg: day['number_avg'] })),
      toRecords: body =>
        Object.values(membersOf(body, 'daily', 'alt', 0, 'values')).map(value => ({
          id: toObject(value)['label'],
          number_avg: Number.parseFloat(scalarToText(toObject(value)['value']))
        }))
    }
  }
}

const average = (numbers: readonly number[]) =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, number) => sum + number, 0) / numbers.length

/** All keys of each user that has one. */
function* keyLists(world: World): Generator<RecordList> {
  for (const key of Object.values(apiKeys)) {
    const [owner] = world.find('api_keys', 'id', key.split(':')[0])
    yield {
      path: '/api/frontend/account/api-keys',
      apiKey: key,
      // Keys of this form are not accepted there either.
      rows: world
        .find('api_keys', 'user_id', owner?.['user_id'])
        .filter(({ id }) => scalarToText(id).length === 16)
    }
  }
}

/** A permission that AzuraCast does not have either. */
const unknownPermission = 'manage coffee'

function permissionsOf(world: World, role: Row): string[] {
  return world
    .find('role_permissions', 'role_id', role['id'])
    .filter(({ action_name: name }) => name !== unknownPermission)
    .map(row => `${scalarToText(row['station_id'])} ${scalarToText(row['action_name'])}`)
    .toSorted()
}

function flattenPermissions(permissions: unknown): string[] {
  const { global, station } = toObject(permissions)
  const names = (list: unknown, id: unknown) =>
    Object.values(toObject(list)).map(name => `${scalarToText(id)} ${scalarToText(name)}`)
  const ofEach = Object.values(toObject(station)).map(toObject)
  return [...names(global, ''), ...ofEach.flatMap(each => names(each['permissions'], each['id']))].toSorted()
}

const namesOf = (list: unknown) =>
  Object.values(toObject(list)).map(each => scalarToText(toObject(each)['name']))

/** The record types whose answers AzuraCast makes of the rows of a table. */
export const recordTypes: readonly RecordType[] = [
  { table: 'station', lists: ofInstallation('/api/admin/stations', 'station') },
  {
    table: 'storage_location',
    lists: ofInstallation('/api/admin/storage_locations', 'storage_location'),
    names: { storage_quota: 'storageQuotaBytes', s3_bucket: 's3Bucket' }
  },
  { table: 'custom_field', lists: ofInstallation('/api/admin/custom_fields', 'custom_field') },
  {
    table: 'users',
    lists: ofInstallation('/api/admin/users', 'users', (world, row) => ({
      ...row,
      roles: world
        .find('user_has_role', 'user_id', row['id'])
        .map(({ role_id: id }) => firstOf(world, 'role', id)['name'])
    })),
    toRecord: response => ({ ...response, roles: namesOf(response['roles']) })
  },
  {
    table: 'role',
    // Cuewire has roles of its own with the first ids.
    keys: ['name'],
    hasOthers: true,
    lists: ofInstallation('/api/admin/roles', 'role', (world, row) => ({
      ...row,
      permissions: permissionsOf(world, row)
    })),
    toRecord: response => ({ ...response, permissions: flattenPermissions(response['permissions']) })
  },
  { table: 'relays', lists: ofInstallation('/api/admin/relays/list', 'relays') },
  { table: 'api_keys', lists: keyLists, hidden: ['verifier', 'user_id'] },
  {
    table: 'settings',
    lists: world => [
      { path: '/api/admin/settings', rows: world.rows('settings'), toRecords: body => [toObject(body)] }
    ],
    keys: []
  },
  {
    table: 'station_playlists',
    lists: ofStations('playlists', 'station_playlists', { expand: expandPlaylist }),
    names: { playback_order: 'order', remote_timeout: 'remote_buffer' }
  },
  {
    table: 'station_playlist_media',
    lists: world => playlistLists(world, { path: 'order', isListed: () => true }),
    keys: ['media_id'],
    inside: Object.fromEntries(
      [
        'unique_id',
        'song_id',
        'path',
        'artist',
        'title',
        'album',
        'text',
        'genre',
        'isrc',
        'length',
        'mtime',
        'uploaded_at'
      ].map(name => [name, 'media'])
    ),
    innerTable: 'station_media',
    hidden: ['id'],
    toRecord: response => ({ ...response, media_id: response['id'] })
  },
  {
    table: 'station_playlist_media',
    lists: world =>
      playlistLists(world, { path: 'queue', isListed: (_, entry) => entry['is_queued'] === true }),
    keys: ['media_id'],
    hidden: ['id'],
    mayLackQueued: true
  },
  {
    table: 'station_media',
    lists: world =>
      world.stations.map(id => ({
        path: `/api/station/${id}/files`,
        rows: songsOf(world, id).map(row => ({
          ...row,
          custom_fields: customFieldsOf(world, row['id']),
          playlists: world
            .find('station_playlist_media', 'media_id', row['id'])
            .map(({ playlist_id: playlist }) => playlist)
            .toSorted((a, b) => Number(a) - Number(b))
        }))
      })),
    // AzuraCast answers another text of files than that of the column.
    hidden: ['text'],
    toRecord: response => ({
      ...response,
      playlists: Object.values(toObject(response['playlists'])).map(each => toObject(each)['id'])
    })
  },
  { table: 'station_mounts', lists: ofStations('mounts', 'station_mounts') },
  // They share the ids of mounts.
  {
    table: 'station_hls_streams',
    lists: ofStations('hls_streams', 'station_hls_streams'),
    keys: ['station_id', 'name']
  },
  { table: 'station_remotes', lists: ofStations('remotes', 'station_remotes') },
  {
    table: 'station_streamers',
    lists: ofStations('streamers', 'station_streamers', {
      expand: (world, row) => ({ ...row, schedule_items: scheduleOf(world, 'streamer_id', row['id']) })
    })
  },
  {
    table: 'sftp_user',
    lists: ofStations('sftp-users', 'sftp_user'),
    names: { public_keys: 'publicKeys' }
  },
  { table: 'station_webhooks', lists: ofStations('webhooks', 'station_webhooks') },
  {
    table: 'station_streamer_broadcasts',
    lists: ofStations('streamers/broadcasts', 'station_streamer_broadcasts', {
      expand: (world, row) => ({ ...row, streamer: streamerOf(world, row) })
    }),
    names: broadcastNames
  },
  {
    table: 'station_streamer_broadcasts',
    lists: world =>
      world.rows('station_streamers').map(({ id, station_id: station }) => ({
        path: `/api/station/${scalarToText(station)}/streamer/${scalarToText(id)}/broadcasts`,
        // A streamer that was left out has none.
        isAbsentAllowed: true,
        rows: world
          .find('station_streamer_broadcasts', 'streamer_id', id)
          // AzuraCast names the streamer only in the list of all.
          .map(row => ({ ...row, streamer: null }))
      })),
    names: broadcastNames
  },
  // The address of a request is removed within a minute after the cool-down.
  {
    table: 'station_requests',
    lists: ofStations('reports/requests?type=history', 'station_requests', {
      isListed: isPlayed,
      expand: expandRequest
    }),
    hidden: ['ip'],
    inside: insideTrack,
    innerTable: 'station_media'
  },
  {
    table: 'station_requests',
    lists: ofStations('reports/requests', 'station_requests', {
      isListed: row => !isPlayed(row) && isRecent(row),
      expand: expandRequest
    }),
    hidden: ['ip'],
    inside: insideTrack,
    innerTable: 'station_media'
  },
  {
    table: 'station_media',
    lists: requestableLists,
    keys: ['request_id'],
    names: { song_id: 'id' },
    inside: insideSong
  },
  {
    table: 'station_queue',
    lists: ofStations('queue', 'station_queue', {
      isListed: row => row['is_played'] !== true,
      expand: (world, row) => ({
        ...row,
        ...(row['media_id'] !== undefined && songColumns(world, row['media_id'])),
        playlist: firstOf(world, 'station_playlists', row['playlist_id'])['name'] ?? '',
        is_request: row['request_id'] !== undefined
      })
    }),
    names: { timestamp_cued: 'cued_at', timestamp_played: 'played_at', song_id: 'id' },
    inside: insideSong,
    innerTable: 'station_media',
    // The AutoDJ plans ahead.
    hasOthers: true,
    toRecord: response => ({
      ...response,
      id: scalarToText(toObject(response['links'])['self']).split('/').at(-1)
    })
  },
  { table: 'analytics', lists: chartLists },
  {
    table: 'song_history',
    lists: playLists,
    id: 'sh_id',
    names: { timestamp_start: 'played_at', song_id: 'id' },
    delays: { timestamp_start: 5 },
    inside: insideSong
  }
]
