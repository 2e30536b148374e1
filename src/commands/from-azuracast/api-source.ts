import {
  type AzuracastClient,
  type AzuracastRecord,
  toObjects,
  toListText,
  toNumberOrZero,
  toObject,
  openAzuracastClient
} from './api-client.ts'
import { historyColumns, historyRange, readApiHistory } from './api-history.ts'
import { type AzuracastSource, type SourceRow, type SourceTable, scalarToText } from './source.ts'

/** What the API of AzuraCast does not show. */
const missing = [
  'passwords of users, streamers and SFTP users: set them anew',
  'API keys',
  'the songs of plays in the history, by id',
  'listener counts over time',
  'requests that were played',
  'when songs of playlists were last played, and the order of playlists that are shuffled',
  'the keys with which playouts call',
  'relays, and which remotes belong to them',
  'broadcasts of streamers, and their recordings',
  'pending requests and the queue',
  'folders of playlists',
  'podcasts',
  'the audit log'
]

/** Reads a running AzuraCast with its REST API, with the key of an administrator. */
export async function openApiSource(url: string, key: string, signal: AbortSignal): Promise<AzuracastSource> {
  const client = openAzuracastClient(url, key, signal)
  const settings = await client.one('/api/admin/settings')
  const stations = await client.all('/api/admin/stations')
  const perStation = async (path: string) => {
    const rows: AzuracastRecord[] = []
    for (const { id } of stations)
      for (const record of await client.all(`/api/station/${scalarToText(id)}/${path}`))
        rows.push({ ...record, station_id: id })
    return rows
  }
  const [playlists, streamers, files] = [
    await perStation('playlists'),
    await perStation('streamers'),
    await perStation('files')
  ]
  const fields = await client.all('/api/admin/custom_fields')
  const roles = await client.all('/api/admin/roles')
  const users = await client.all('/api/admin/users')
  const histories = await Promise.all(
    stations.map(async ({ id }) => client.count(`/api/station/${scalarToText(id)}/history`, historyRange))
  )

  const tables = new Map<string, SourceTable & { readonly records: readonly AzuracastRecord[] }>()
  const add = (name: string, records: readonly AzuracastRecord[]) => {
    const columns = [...new Set(records.flatMap(record => Object.keys(record)))]
    const sorted = records.toSorted((a, b) => toNumberOrZero(a['id']) - toNumberOrZero(b['id']))
    tables.set(name, {
      name,
      columns,
      rows: records.length,
      maxId: toNumberOrZero(sorted.at(-1)?.['id']),
      records: sorted
    })
  }
  add('settings', [settings])
  add('storage_location', (await client.all('/api/admin/storage_locations')).map(toSnakeCase))
  add('station', stations.map(withStorageIds))
  add('users', users)
  add(
    'user_has_role',
    users.flatMap(({ id, roles: own }) => toObjects(own).map(role => ({ user_id: id, role_id: role['id'] })))
  )
  add('role', roles)
  add('role_permissions', roles.flatMap(permissionRows))
  add('custom_field', fields)
  add(
    'station_media',
    uniqueById(files.map(file => ({ ...file, storage_location_id: locationOf(stations, file) })))
  )
  add('station_media_custom_field', numbered(files.flatMap(file => fieldRows(file, fields))))
  add(
    'station_playlists',
    playlists.map(playlist => ({
      ...playlist,
      playback_order: playlist['order'],
      remote_timeout: playlist['remote_buffer'],
      backend_options: toListText(playlist['backend_options'])
    }))
  )
  add('station_playlist_media', await trackRows(client, playlists, files))
  add('station_schedules', [
    ...playlists.flatMap(owner => scheduleRows(owner, 'playlist_id')),
    ...streamers.flatMap(owner => scheduleRows(owner, 'streamer_id'))
  ])
  add('station_mounts', await perStation('mounts'))
  add('station_hls_streams', await perStation('hls_streams'))
  add('station_remotes', await perStation('remotes'))
  add('station_streamers', streamers)
  add('sftp_user', (await perStation('sftp-users')).map(toSnakeCase))
  add('station_webhooks', await perStation('webhooks'))
  const total = histories.reduce((sum, rows) => sum + rows, 0)
  tables.set('song_history', {
    name: 'song_history',
    columns: historyColumns,
    rows: total,
    maxId: 0,
    records: []
  })

  return {
    description: new URL(url).host,
    tables,
    missing,
    notUtf8: new Map(),
    async *rows(name) {
      if (name === 'song_history') {
        for await (const plays of readApiHistory(client, stations, playlists, streamers))
          yield plays.map(play => toRow(play, historyColumns))
        return
      }
      const table = tables.get(name)
      if (table && table.records.length > 0) yield table.records.map(record => toRow(record, table.columns))
    }
  }
}

function toRow(record: AzuracastRecord, columns: readonly string[]): SourceRow {
  return columns.map(column => toText(record[column]))
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'object' ? JSON.stringify(value) : scalarToText(value)
}

const toSnakeCase = (record: AzuracastRecord): AzuracastRecord =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name
        .replace('storageQuotaBytes', 'storage_quota')
        .replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      value
    ])
  )

const idOf = (value: unknown) => (typeof value === 'object' && value !== null ? toObject(value)['id'] : value)

const withStorageIds = (station: AzuracastRecord): AzuracastRecord => ({
  ...station,
  media_storage_location_id: idOf(station['media_storage_location']),
  recordings_storage_location_id: idOf(station['recordings_storage_location']),
  podcasts_storage_location_id: idOf(station['podcasts_storage_location'])
})

const locationOf = (stations: readonly AzuracastRecord[], file: AzuracastRecord) =>
  idOf(stations.find(({ id }) => id === file['station_id'])?.['media_storage_location'])

/** Stations that share a storage location list the same files. */
const uniqueById = (records: readonly AzuracastRecord[]): AzuracastRecord[] => [
  ...new Map(records.map(record => [record['id'], record])).values()
]

const numbered = (records: readonly AzuracastRecord[]): AzuracastRecord[] =>
  records.map((record, index) => ({ ...record, id: index + 1 }))

function fieldRows(file: AzuracastRecord, fields: readonly AzuracastRecord[]): AzuracastRecord[] {
  const values = toObject(file['custom_fields'])
  return fields.flatMap(({ id, short_name: name }) => {
    const value = values[scalarToText(name)]
    return value === undefined || value === null
      ? []
      : [{ media_id: file['id'], field_id: id, field_value: value }]
  })
}

const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

function permissionRows(role: AzuracastRecord): AzuracastRecord[] {
  const permissions = toObject(role['permissions'])
  const global = names(permissions['global']).map(name => ({ role_id: role['id'], action_name: name }))
  const ofStations = toObjects(permissions['station']).flatMap(({ id, permissions: granted }) =>
    names(granted).map(name => ({ role_id: role['id'], station_id: id, action_name: name }))
  )
  return [...global, ...ofStations]
}

const scheduleRows = (owner: AzuracastRecord, column: string): AzuracastRecord[] =>
  toObjects(owner['schedule_items']).map(item => ({
    ...item,
    days: toListText(item['days']),
    [column]: owner['id']
  }))

async function trackRows(
  client: AzuracastClient,
  playlists: readonly AzuracastRecord[],
  files: readonly AzuracastRecord[]
): Promise<AzuracastRecord[]> {
  const weights = new Map<string, number>()
  for (const { id, station_id: stationId, order, source } of playlists) {
    if (order !== 'sequential' || source !== 'songs') continue
    const items = await client.optional(
      `/api/station/${scalarToText(stationId)}/playlist/${scalarToText(id)}/order`
    )
    for (const [index, { media }] of (items ?? []).entries())
      weights.set(`${scalarToText(id)} ${scalarToText(toObject(media)['id'])}`, index + 1)
  }
  const tracks = files.flatMap(file =>
    toObjects(file['playlists']).map(({ id }) => ({
      playlist_id: id,
      media_id: file['id'],
      weight: weights.get(`${scalarToText(id)} ${scalarToText(file['id'])}`) ?? 0,
      is_queued: true
    }))
  )
  return numbered(tracks)
}
