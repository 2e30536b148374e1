/**
 * A client that is written only from the OpenAPI document; `api.ts` is generated from it. Creates, reads,
 * changes and deletes every resource on the server of `BASE_URL` with the key `API_KEY`. Exits with 1 on the
 * first unexpected response.
 */
import assert from 'node:assert/strict'

import createClient, { type Middleware } from 'openapi-fetch'

import type { paths } from './api.ts'

const { BASE_URL: baseUrl = '', API_KEY: apiKey = '' } = process.env

/** Error responses are thrown, so a response always has data. */
const refusals: Middleware = {
  async onResponse({ request, response }) {
    if (response.ok) return
    throw new Error(`${request.method} ${request.url}: ${response.status} ${await response.text()}`)
  }
}

const client = createClient<paths>({ baseUrl, headers: { 'X-API-Key': apiKey } })
const unchecked = createClient<paths>({ baseUrl, headers: { 'X-API-Key': apiKey } })
client.use(refusals)

function dataOf<Data>({ data }: { data?: Data }): NonNullable<Data> {
  assert(data)
  return data
}

/** A list without paging is an array. */
function rowsOf<Row>(list: Row[] | { rows?: Row[] }): Row[] {
  assert(Array.isArray(list))
  return list
}

async function station(): Promise<number> {
  const created = dataOf(
    await client.POST('/api/admin/stations', { body: { name: 'Client', short_name: 'client' } })
  )
  const at = { params: { path: { id: created.id } } }
  const listed = rowsOf(dataOf(await client.GET('/api/admin/stations')))
  assert(listed.some(({ id }) => id === created.id))
  const done = dataOf(
    await client.PUT('/api/admin/station/{id}', { ...at, body: { ...created, name: 'Client FM' } })
  )
  assert.equal(done.success, true)
  assert.equal(dataOf(await client.GET('/api/admin/station/{id}', at)).name, 'Client FM')
  return created.id
}

async function stationEnds(id: number): Promise<void> {
  const at = { params: { path: { id } } }
  assert.equal(dataOf(await client.DELETE('/api/admin/station/{id}', at)).success, true)
  assert.equal((await unchecked.GET('/api/admin/station/{id}', at)).response.status, 404)
}

async function playlists(station_id: number): Promise<void> {
  const all = { params: { path: { station_id } } }
  const created = dataOf(
    await client.POST('/api/station/{station_id}/playlists', {
      ...all,
      body: { name: 'Rotation', weight: 3 }
    })
  )
  const at = { params: { path: { station_id, id: created.id } } }
  const listed = rowsOf(dataOf(await client.GET('/api/station/{station_id}/playlists', all)))
  assert.deepEqual(
    listed.find(({ id }) => id === created.id),
    created
  )
  const done = dataOf(
    await client.PUT('/api/station/{station_id}/playlist/{id}', {
      ...at,
      body: { ...created, name: 'Night' }
    })
  )
  assert.equal(done.success, true)
  const read = dataOf(await client.GET('/api/station/{station_id}/playlist/{id}', at))
  assert.deepEqual(read, { ...created, name: 'Night' })
  assert.equal(dataOf(await client.DELETE('/api/station/{station_id}/playlist/{id}', at)).success, true)
  const gone = await unchecked.GET('/api/station/{station_id}/playlist/{id}', at)
  assert.equal(gone.response.status, 404)
  assert.equal(gone.error?.success, false)
}

async function hlsStreams(station_id: number): Promise<void> {
  const all = { params: { path: { station_id } } }
  const created = dataOf(
    await client.POST('/api/station/{station_id}/hls_streams', {
      ...all,
      body: { name: '/client.mp3', display_name: 'Main', autodj_bitrate: 128 }
    })
  )
  const at = { params: { path: { station_id, id: created.id } } }
  const listed = rowsOf(dataOf(await client.GET('/api/station/{station_id}/hls_streams', all)))
  assert(listed.some(({ id }) => id === created.id))
  const done = dataOf(
    await client.PUT('/api/station/{station_id}/hls_stream/{id}', {
      ...at,
      body: { ...created, display_name: 'High' }
    })
  )
  assert.equal(done.success, true)
  const read = dataOf(await client.GET('/api/station/{station_id}/hls_stream/{id}', at))
  assert.equal(read.display_name, 'High')
  assert.equal(dataOf(await client.DELETE('/api/station/{station_id}/hls_stream/{id}', at)).success, true)
  const gone = await unchecked.GET('/api/station/{station_id}/hls_stream/{id}', at)
  assert.equal(gone.response.status, 404)
}

async function sftpUsers(station_id: number): Promise<void> {
  const all = { params: { path: { station_id } } }
  const created = dataOf(
    await client.POST('/api/station/{station_id}/sftp-users', {
      ...all,
      body: { username: 'client', password: 'correct horse battery', publicKeys: '' }
    })
  )
  const at = { params: { path: { station_id, id: created.id } } }
  const listed = rowsOf(dataOf(await client.GET('/api/station/{station_id}/sftp-users', all)))
  assert(listed.some(({ id }) => id === created.id))
  const done = dataOf(
    await client.PUT('/api/station/{station_id}/sftp-user/{id}', {
      ...at,
      body: { ...created, username: 'client_2' }
    })
  )
  assert.equal(done.success, true)
  const read = dataOf(await client.GET('/api/station/{station_id}/sftp-user/{id}', at))
  assert.equal(read.username, 'client_2')
  assert.equal(dataOf(await client.DELETE('/api/station/{station_id}/sftp-user/{id}', at)).success, true)
  const gone = await unchecked.GET('/api/station/{station_id}/sftp-user/{id}', at)
  assert.equal(gone.response.status, 404)
}

async function webhooks(station_id: number): Promise<void> {
  const all = { params: { path: { station_id } } }
  const created = dataOf(
    await client.POST('/api/station/{station_id}/webhooks', {
      ...all,
      // Disabled, because no receiver listens there.
      body: { name: 'Site', type: 'generic', is_enabled: false, triggers: ['song_changed'] }
    })
  )
  const at = { params: { path: { station_id, id: created.id } } }
  const listed = rowsOf(dataOf(await client.GET('/api/station/{station_id}/webhooks', all)))
  assert(listed.some(({ id }) => id === created.id))
  const done = dataOf(
    await client.PUT('/api/station/{station_id}/webhook/{id}', { ...at, body: { ...created, name: 'Page' } })
  )
  assert.equal(done.success, true)
  const read = dataOf(await client.GET('/api/station/{station_id}/webhook/{id}', at))
  assert.equal(read.name, 'Page')
  assert.equal(dataOf(await client.DELETE('/api/station/{station_id}/webhook/{id}', at)).success, true)
  const gone = await unchecked.GET('/api/station/{station_id}/webhook/{id}', at)
  assert.equal(gone.response.status, 404)
}

async function customFields(): Promise<void> {
  const created = dataOf(
    await client.POST('/api/admin/custom_fields', {
      body: { name: 'Client mood', short_name: 'client_mood', auto_assign: '' }
    })
  )
  const at = { params: { path: { id: created.id } } }
  const listed = rowsOf(dataOf(await client.GET('/api/admin/custom_fields')))
  assert(listed.some(({ id }) => id === created.id))
  const done = dataOf(
    await client.PUT('/api/admin/custom_field/{id}', { ...at, body: { ...created, name: 'Client tempo' } })
  )
  assert.equal(done.success, true)
  assert.equal(dataOf(await client.GET('/api/admin/custom_field/{id}', at)).name, 'Client tempo')
  assert.equal(dataOf(await client.DELETE('/api/admin/custom_field/{id}', at)).success, true)
  assert.equal((await unchecked.GET('/api/admin/custom_field/{id}', at)).response.status, 404)
}

async function storageLocations(): Promise<void> {
  const created = dataOf(
    await client.POST('/api/admin/storage_locations', {
      body: { type: 'station_media', adapter: 'local', path: '/srv/client', storageQuota: '1 GB' }
    })
  )
  const at = { params: { path: { id: created.id } } }
  const listed = rowsOf(dataOf(await client.GET('/api/admin/storage_locations')))
  assert(listed.some(({ id }) => id === created.id))
  const done = dataOf(
    await client.PUT('/api/admin/storage_location/{id}', { ...at, body: { ...created, path: '/srv/music' } })
  )
  assert.equal(done.success, true)
  assert.equal(dataOf(await client.GET('/api/admin/storage_location/{id}', at)).path, '/srv/music')
  assert.equal(dataOf(await client.DELETE('/api/admin/storage_location/{id}', at)).success, true)
  assert.equal((await unchecked.GET('/api/admin/storage_location/{id}', at)).response.status, 404)
}

/** A remote as a resource, and as now playing shows it. */
async function remotes(station_id: number): Promise<void> {
  const all = { params: { path: { station_id } } }
  const body = { name: 'Oslo', url: 'https://relay.example.com/main.mp3', is_visible: true, bitrate: 128 }
  const created = dataOf(await client.POST('/api/station/{station_id}/remotes', { ...all, body }))
  assert.equal(created.admin_password, '')
  const shown = dataOf(await client.GET('/api/nowplaying/{station_id}', all))
  const counts = shown.station.remotes.map(({ name, listeners }) => [name, listeners.total])
  assert.deepEqual(counts, [['Oslo', 0]])
  const at = { params: { path: { station_id, id: created.id } } }
  assert.equal(dataOf(await client.DELETE('/api/station/{station_id}/remote/{id}', at)).success, true)
}

const stationId = await station()
await playlists(stationId)
await hlsStreams(stationId)
await remotes(stationId)
await sftpUsers(stationId)
await webhooks(stationId)
await customFields()
await storageLocations()
await stationEnds(stationId)
