import { toApiRequestError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import type { StorageLocation } from '../api/responses.ts'
import type { FormField } from '../forms/form-field.ts'
import { formatCount } from '../ui/text.ts'
import { countRecords, type ResourceView, recordTextOf } from './resource.ts'

const locationTypes: Readonly<Record<string, string>> = {
  media_storage_location_id: 'station_media',
  recordings_storage_location_id: 'station_recordings',
  podcasts_storage_location_id: 'station_podcasts'
}

/** The storage locations; empty if the key may not read them. */
async function loadLocations(): Promise<readonly StorageLocation[]> {
  try {
    return await callApi('GET', 'api/admin/storage_locations')
  } catch (error) {
    if (toApiRequestError(error).status === 403) return []
    throw error
  }
}

const groups: readonly (readonly [group: string, pattern: RegExp])[] = [
  ['', /^(name|short_name|description|url|timezone|backend|is_public|is_enabled)$/],
  ['Streaming server', /^(frontend|max_bitrate|max_hls)/],
  ['Live shows', /^(enable_streamers|source_password|live_text)/],
  ['HLS', /^hls/],
  ['Requests', /request/],
  ['Storage', /storage_location/],
  ['Playback', /./]
]

function arrange(field: FormField, locations: readonly StorageLocation[]): FormField {
  const group = groups.find(([, pattern]) => pattern.test(field.name))?.[0] ?? ''
  if (field.name === 'timezone') return { ...field, group, kind: 'zone' }
  const type = locationTypes[field.name]
  if (type === undefined) return { ...field, group }
  const options = locations
    .filter(location => location.type === type)
    .map(({ id, uri }) => ({ value: String(id), label: uri }))
  const none = { value: '0', label: 'The data folder of the server' }
  return { ...field, group, kind: 'select', fallback: '0', options: [none, ...options] }
}

/** What the deletion of a station loses, with numbers. */
async function describeLoss(record: Readonly<Record<string, unknown>>): Promise<string> {
  const path = `api/station/${recordTextOf(record, 'id')}`
  const counted = [
    ['files', 'song'],
    ['playlists', 'playlist'],
    ['webhooks', 'web hook'],
    ['streamers', 'streamer'],
    ['hls_streams', 'mount'],
    ['remotes', 'relay'],
    ['sftp-users', 'SFTP user']
  ] as const
  const counts = await Promise.all(
    counted.map(async ([list, noun]) => {
      const count = await countRecords(`${path}/${list}`)
      return count === null ? [] : [formatCount(count, noun)]
    })
  )
  const lost = [...counts.flat(), 'its queue, history and listener counts'].join(', ')
  return `Lost for good: ${lost}. Listeners and players no longer find it. Its audio files stay in the storage.`
}

/** The stations, with all their settings. */
export const stationsResourceView: ResourceView = {
  title: 'Stations',
  noun: 'station',
  emptyText: 'There are no stations yet.',
  paths: { list: '/api/admin/stations', one: '/api/admin/station/{id}' },
  write: 'manageStations',
  columns: [{ title: 'Name', view: record => recordTextOf(record, 'name') }],
  nameOf: record => recordTextOf(record, 'name'),
  async openFields(fields) {
    const locations = await loadLocations()
    const arranged = fields.map(field => arrange(field, locations))
    const shown = groups.flatMap(([group]) => arranged.filter(field => field.group === group))
    return () => shown
  },
  toRequest: body =>
    Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, name in locationTypes ? Number(value) : value])
    ),
  describeLoss
}
