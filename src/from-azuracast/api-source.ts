import { setTimeout as wait } from 'node:timers/promises'

import { withAbortTimeout } from '../runtime/deadline.ts'
import { OperatorError } from '../runtime/errors.ts'
import { reasonOf } from '../runtime/store-errors.ts'
import { type AzuracastSource, type SourceRow, type SourceTable, textOf } from './source.ts'

const timeoutMs = 60_000
const attempts = 4
const retryMs = 1_000
const pageRows = 500

type Json = Readonly<Record<string, unknown>>

/** What the API of AzuraCast does not show. */
const missing = [
  'passwords of users, streamers and SFTP users: set them anew',
  'API keys',
  'the songs of plays in the history, by id',
  'listener counts over time',
  'requests that were played',
  'when songs of playlists were last played, and the order of playlists that are shuffled',
  'the keys with which playouts call'
]

/** Reads a running AzuraCast with its REST API, with the key of an administrator. */
export async function openApi(url: string, key: string, signal: AbortSignal): Promise<AzuracastSource> {
  const client = openClient(url, key, signal)
  const settings = await client.one('/api/admin/settings')
  const stations = await client.all('/api/admin/stations')
  const perStation = async (path: string) => {
    const rows: Json[] = []
    for (const { id } of stations)
      for (const record of await client.all(`/api/station/${textOf(id)}/${path}`))
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
    stations.map(async ({ id }) => client.count(`/api/station/${textOf(id)}/history`, historyRange))
  )

  const tables = new Map<string, SourceTable & { readonly records: readonly Json[] }>()
  const add = (name: string, records: readonly Json[]) => {
    const columns = [...new Set(records.flatMap(record => Object.keys(record)))]
    const sorted = records.toSorted((a, b) => numberOf(a['id']) - numberOf(b['id']))
    tables.set(name, {
      name,
      columns,
      rows: records.length,
      maxId: numberOf(sorted.at(-1)?.['id']),
      records: sorted
    })
  }
  add('settings', [settings])
  add('storage_location', (await client.all('/api/admin/storage_locations')).map(toSnakeCase))
  add('station', stations.map(withStorageIds))
  add('users', users)
  add(
    'user_has_role',
    users.flatMap(({ id, roles: own }) => listOf(own).map(role => ({ user_id: id, role_id: role['id'] })))
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
      backend_options: listText(playlist['backend_options'])
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
    async *rows(name) {
      if (name === 'song_history') {
        yield* readHistory(client, stations, playlists, streamers)
        return
      }
      const table = tables.get(name)
      if (table && table.records.length > 0) yield table.records.map(record => toRow(record, table.columns))
    }
  }
}

function openClient(url: string, key: string, signal: AbortSignal) {
  const base = url.replace(/\/+$/, '')

  async function get(path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const address = `${base}${path}?${new URLSearchParams(query).toString()}`
    for (let attempt = 1; ; attempt++) {
      const result = await withAbortTimeout(signal, timeoutMs, async limit => {
        const response = await fetch(address, {
          headers: { 'X-API-Key': key, Accept: 'application/json' },
          signal: limit
        })
        return { status: response.status, text: await response.text() }
      }).catch((error: unknown) => {
        signal.throwIfAborted()
        return {
          status: 0,
          text: reasonOf(error)
        }
      })
      if (result.status === 200) return JSON.parse(result.text)
      const isTemporary = result.status === 0 || result.status === 429 || result.status >= 500
      if (!isTemporary || attempt === attempts) {
        const reason = result.status === 0 ? result.text : `status ${result.status}`
        throw new OperatorError(`AzuraCast does not answer GET ${path}: ${reason}`)
      }
      await wait(retryMs * attempt, undefined, { signal })
    }
  }

  async function page(path: string, query: Readonly<Record<string, string>>, number: number) {
    const answer = await get(path, { ...query, rowCount: String(pageRows), page: String(number) })
    if (Array.isArray(answer)) return { rows: listOf(answer), pages: 1, total: answer.length }
    const { rows, total_pages: pages, total } = objectOf(answer)
    return { rows: listOf(rows), pages: numberOf(pages), total: numberOf(total) }
  }

  return {
    one: async (path: string): Promise<Json> => objectOf(await get(path)),
    page,
    async all(path: string): Promise<Json[]> {
      const first = await page(path, {}, 1)
      const rows = [...first.rows]
      for (let number = 2; number <= first.pages; number++) rows.push(...(await page(path, {}, number)).rows)
      return rows
    },
    count: async (path: string, query: Readonly<Record<string, string>>): Promise<number> =>
      (await page(path, query, 1)).total,
    /** Null if the API refuses, as for the order of a playlist that has none. */
    optional: async (path: string): Promise<Json[] | null> =>
      get(path).then(listOf, (error: unknown) => {
        if (error instanceof OperatorError) return null
        throw error
      })
  }
}

type Client = ReturnType<typeof openClient>

const objectOf = (value: unknown): Json =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- members are checked where they are used
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(objectOf) : [])
const numberOf = (value: unknown): number => (Number.isFinite(Number(value)) ? Number(value) : 0)
const listText = (value: unknown): string =>
  Array.isArray(value) ? value.filter(each => each !== '').join(',') : textOf(value)

function toRow(record: Json, columns: readonly string[]): SourceRow {
  return columns.map(column => toText(record[column]))
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'object' ? JSON.stringify(value) : textOf(value)
}

const toSnakeCase = (record: Json): Json =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name
        .replace('storageQuotaBytes', 'storage_quota')
        .replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      value
    ])
  )

const idOf = (value: unknown) => (typeof value === 'object' && value !== null ? objectOf(value)['id'] : value)

const withStorageIds = (station: Json): Json => ({
  ...station,
  media_storage_location_id: idOf(station['media_storage_location']),
  recordings_storage_location_id: idOf(station['recordings_storage_location']),
  podcasts_storage_location_id: idOf(station['podcasts_storage_location'])
})

const locationOf = (stations: readonly Json[], file: Json) =>
  idOf(stations.find(({ id }) => id === file['station_id'])?.['media_storage_location'])

/** Stations that share a storage location list the same files. */
const uniqueById = (records: readonly Json[]): Json[] => [
  ...new Map(records.map(record => [record['id'], record])).values()
]

const numbered = (records: readonly Json[]): Json[] =>
  records.map((record, index) => ({ ...record, id: index + 1 }))

function fieldRows(file: Json, fields: readonly Json[]): Json[] {
  const values = objectOf(file['custom_fields'])
  return fields.flatMap(({ id, short_name: name }) => {
    const value = values[textOf(name)]
    return value === undefined || value === null
      ? []
      : [{ media_id: file['id'], field_id: id, field_value: value }]
  })
}

const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

function permissionRows(role: Json): Json[] {
  const permissions = objectOf(role['permissions'])
  const global = names(permissions['global']).map(name => ({ role_id: role['id'], action_name: name }))
  const ofStations = listOf(permissions['station']).flatMap(({ id, permissions: granted }) =>
    names(granted).map(name => ({ role_id: role['id'], station_id: id, action_name: name }))
  )
  return [...global, ...ofStations]
}

const scheduleRows = (owner: Json, column: string): Json[] =>
  listOf(owner['schedule_items']).map(item => ({
    ...item,
    days: listText(item['days']),
    [column]: owner['id']
  }))

async function trackRows(
  client: Client,
  playlists: readonly Json[],
  files: readonly Json[]
): Promise<Json[]> {
  const weights = new Map<string, number>()
  for (const { id, station_id: stationId, order, source } of playlists) {
    if (order !== 'sequential' || source !== 'songs') continue
    const items = await client.optional(`/api/station/${textOf(stationId)}/playlist/${textOf(id)}/order`)
    for (const [index, { media }] of (items ?? []).entries())
      weights.set(`${textOf(id)} ${textOf(objectOf(media)['id'])}`, index + 1)
  }
  const tracks = files.flatMap(file =>
    listOf(file['playlists']).map(({ id }) => ({
      playlist_id: id,
      media_id: file['id'],
      weight: weights.get(`${textOf(id)} ${textOf(file['id'])}`) ?? 0,
      is_queued: true
    }))
  )
  return numbered(tracks)
}

/** The API wants both; it answers for the last two weeks otherwise. */
const historyRange = { start: '2000-01-01', end: '2100-01-01' }

const historyColumns = [
  'id',
  'station_id',
  'timestamp_start',
  'timestamp_end',
  'duration',
  'playlist_id',
  'streamer_id',
  'request_id',
  'text',
  'artist',
  'title',
  'album',
  'listeners_start',
  'listeners_end',
  'delta_positive',
  'delta_negative',
  'is_visible'
]

/** Reads the history of all stations in the order of the ids. */
async function* readHistory(
  client: Client,
  stations: readonly Json[],
  playlists: readonly Json[],
  streamers: readonly Json[]
): AsyncGenerator<readonly SourceRow[]> {
  const streams = stations.map(({ id }) => readStationHistory(client, id, playlists, streamers))
  const heads = await Promise.all(streams.map(stream => stream.next()))
  let batch: SourceRow[] = []
  for (;;) {
    let first = -1
    for (const [index, head] of heads.entries()) {
      const best = heads[first]
      if (!head.done && (!best || best.done || numberOf(head.value['id']) < numberOf(best.value['id'])))
        first = index
    }
    const head = heads[first]
    const stream = streams[first]
    if (!head || head.done || !stream) break
    batch.push(toRow(head.value, historyColumns))
    heads[first] = await stream.next()
    if (batch.length < pageRows) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** The API lists the newest first, so the pages are read from the last one. */
async function* readStationHistory(
  client: Client,
  stationId: unknown,
  playlists: readonly Json[],
  streamers: readonly Json[]
): AsyncGenerator<Json, undefined> {
  const path = `/api/station/${textOf(stationId)}/history`
  const idByName = (records: readonly Json[], name: string, value: unknown) =>
    value
      ? records.find(record => record['station_id'] === stationId && record[name] === value)?.['id']
      : null
  const { pages } = await client.page(path, historyRange, 1)
  for (let number = pages; number >= 1; number--)
    for (const play of (await client.page(path, historyRange, number)).rows.toReversed()) {
      const song = objectOf(play['song'])
      const change = numberOf(play['delta_total'])
      const start = numberOf(play['played_at'])
      yield {
        ...play,
        ...song,
        id: play['sh_id'],
        station_id: stationId,
        timestamp_start: start,
        timestamp_end: start + numberOf(play['duration']),
        playlist_id: idByName(playlists, 'name', play['playlist']),
        streamer_id: idByName(streamers, 'display_name', play['streamer']),
        request_id: play['is_request'] === true ? 1 : null,
        delta_positive: Math.max(change, 0),
        delta_negative: Math.max(-change, 0)
      }
    }
  return undefined
}
