/**
 * Calls every method of AzuraCast.js. Prints one line of JSON per call.
 *
 * Environment: BASE_URL, API_KEY, STATION, CLIENT (the built client).
 */
import { pathToFileURL } from 'node:url'

const { BASE_URL = '', API_KEY = '', STATION = '', CLIENT = '' } = process.env
const { AzuraCastClient } = await import(pathToFileURL(CLIENT).href)
const client = new AzuraCastClient({ apiUrl: BASE_URL, apiKey: API_KEY })
const station = Number(STATION)

async function call(name, work) {
  let line = { call: name, result: 'ok', detail: '' }
  let value
  try {
    value = await work()
  } catch (error) {
    line = { call: name, result: 'failed', detail: String(error) }
  }
  process.stdout.write(`${JSON.stringify(line)}\n`)
  return value
}

await call('NowPlaying.getAll', () => client.NowPlaying.getAll())
await call('NowPlaying.get', () => client.NowPlaying.get(station))
await call('Stations.getAll', () => client.Stations.getAll())
await call('Stations.get', () => client.Stations.get(station))
await call('Stations.getFallback', () => client.Stations.getFallback(station))
await call('Stations.deleteFallback', () => client.Stations.deleteFallback(station))
const songs = await call('SongRequests.getRequestable', () => client.SongRequests.getRequestable(station))
await call('SongRequests.request', () => client.SongRequests.request(station, songs.at(-1).request_id))
await call('CustomFields.getAll', () => client.CustomFields.getAll())
const field = { name: 'AzuraCast.js', short_name: 'azuracast_js', auto_assign: null }
const made = await call('CustomFields.create', () => client.CustomFields.create(field))
await call('CustomFields.get(id)', () => client.CustomFields.get(made.id))
await call('CustomFields.get(name)', () => client.CustomFields.get('azuracast_js'))
await call('CustomFields.update', () => client.CustomFields.update(made.id, { ...field, name: 'Changed' }))
await call('CustomFields.delete', () => client.CustomFields.delete(made.id))
