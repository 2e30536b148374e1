import * as v from 'valibot'

import { scheduleEndByClock, endPlayOfDisabledStation } from '../../engine/playouts/commands.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import { markStationDeleted } from '../../engine/station-removal.ts'
import {
  choiceField,
  validatedField,
  decimalField,
  type Field,
  flagField,
  integerField,
  maskedAddressField,
  formatCheckMessage,
  secretField,
  textField,
  webAddressField
} from '../../model/fields/field.ts'
import {
  makeShortName,
  maxShortNameLength,
  shortNamePattern,
  shortNameCharacters
} from '../../model/station/short-name.ts'
import { fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { addMissingPollRows, resetPollsOfStation } from '../../radio/polls/poll-rows.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { defaultMountPath } from '../../stores/db/stations.ts'
import { storageLocationReferences } from '../admin/storage-locations.ts'
import { openResourceReads } from '../core/resource-reads.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { openResourceWrites } from '../core/resource-writes.ts'
import {
  type ResourceDeletion,
  defineResource,
  type ResourceHooks,
  type StoredRecord,
  type ResourceWrite
} from '../core/resource.ts'
import type { ApiRequest } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'

/** Returns the canonical spelling of an IANA time zone; null for other text and for offsets (`+01:00`). */
export function parseTimezone(name: string): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(name)) return null
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    // A former name of a zone is kept.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  } catch {
    return null
  }
}

const timezone = v.pipe(
  v.string(formatCheckMessage('invalid_type', 'must be text.')),
  v.trim(),
  v.check(
    name => parseTimezone(name) !== null,
    formatCheckMessage('invalid_format', 'must be a time zone like Europe/Berlin.')
  ),
  v.transform(name => parseTimezone(name) ?? name)
)

const minutes = (fallback: number, about: string, max = 1_440) =>
  integerField({ min: 0, max, fallback, about })

/** The id of a storage location. None is stored as null and rendered as 0. */
function storageLocation(about: string): Field<number | null> {
  const { input, schema } = integerField({ min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0, about })
  const nullable = v.pipe(
    input,
    v.transform(id => (id === 0 ? null : id))
  )
  return { ...validatedField<number | null>(nullable, { fallback: null, schema, about }), schema }
}

export const stationsResource = defineResource({
  name: 'Station',
  title: 'station',
  tag: 'Stations',
  table: 'stations',
  only: 'deleted_at is null',
  paths: { list: '/api/admin/stations', one: '/api/admin/station/:id' },
  access: { read: 'administer stations', write: 'administer stations' },
  fields: {
    name: textField({
      min: 1,
      max: 100,
      isTrimmed: true,
      about: 'Shown to listeners.',
      example: 'Harbour FM'
    }),
    short_name: textField({
      max: maxShortNameLength,
      fallback: '',
      isTrimmed: true,
      pattern: shortNamePattern,
      says: `may hold ${shortNameCharacters}.`,
      about: 'Unique name in paths and channels; derived from the name if empty.',
      example: 'harbour_fm'
    }),
    description: textField({ max: 2_000, fallback: '', isLong: true, about: 'A short text for listeners.' }),
    url: webAddressField({ max: 255, about: 'Its website.' }),
    timezone: validatedField(timezone, {
      fallback: 'UTC',
      schema: { type: 'string' },
      about: 'The time zone of its schedules, by its IANA name.',
      example: 'Europe/Berlin'
    }),
    frontend: choiceField(['icecast', 'shoutcast2', 'rsas', 'remote'], {
      fallback: 'icecast',
      about: 'The streaming server that listeners connect to.'
    }),
    backend: choiceField(['clock', 'liquidsoap', 'none'], {
      fallback: 'clock',
      about: 'What controls playback: the clock of Cuewire, Liquidsoap, or (none) another broadcaster.'
    }),
    frontend_url: maskedAddressField(
      webAddressField({
        max: 255,
        about: 'The URL of its streaming server for polls; empty: it is not polled.',
        example: 'http://127.0.0.1:8000'
      })
    ),
    frontend_admin_password: secretField({
      max: 255,
      about: 'The password of the user admin there, for unique listeners. Null removes it.'
    }),
    enable_streamers: flagField({ fallback: false, about: 'Whether streamers may go live.' }),
    source_password: secretField({
      max: 255,
      about: 'The password of the user source; null disables that user.'
    }),
    is_public: flagField({ fallback: true, about: 'Whether it is visible without a key.' }),
    is_enabled: flagField({ fallback: true, about: 'Whether it plays.' }),
    hls_enabled: flagField({ fallback: false, about: 'Whether it is available as HLS.' }),
    hls_is_default: flagField({ fallback: false, about: 'Whether players should prefer HLS.' }),
    queue_length: integerField({ min: 2, max: 25, fallback: 3, about: 'Number of queued songs.' }),
    history_length: integerField({
      min: 0,
      max: 50,
      fallback: 5,
      about: 'Number of past songs in now playing.'
    }),
    offline_text: textField({
      max: 255,
      fallback: 'Station Offline',
      isTrimmed: true,
      about: 'The title while nothing plays.'
    }),
    live_text: textField({
      max: 255,
      fallback: 'Live Broadcast',
      isTrimmed: true,
      about: 'The title while a streamer is live and sends no metadata.'
    }),
    duplicate_prevention_time_range: minutes(
      120,
      'Minutes in which playlists that avoid duplicates do not repeat an artist or a title; 0: the same song is not played twice in a row.',
      10_080
    ),
    crossfade_type: choiceField(['normal', 'smart', 'none'], {
      fallback: 'normal',
      about: 'How songs overlap, if the playout supports it.'
    }),
    crossfade: decimalField({ min: 0, max: 30, fallback: 2, about: 'Seconds of overlap; 0: none.' }),
    enable_auto_cue: flagField({
      fallback: false,
      about: 'Whether the playout computes where songs overlap.'
    }),
    enable_requests: flagField({ fallback: true, about: 'Whether listeners may request songs.' }),
    request_delay: minutes(5, 'Minimum delay of a request in minutes; the maximum is twice that.'),
    request_threshold: minutes(
      15,
      'Minutes between a request and the same title or artist; 0: they are not adjacent.'
    ),
    request_cooldown: minutes(5, 'Minutes between two requests of a listener.'),
    max_consecutive_requests: integerField({
      min: 0,
      max: 20,
      fallback: 2,
      about: 'Maximum number of requests played in a row; 0: unlimited.'
    }),
    max_overrun: integerField({
      min: 0,
      max: 86_400,
      fallback: 600,
      about: 'Seconds that a song may play after the end of its scheduled period.'
    }),
    max_bitrate: integerField({
      min: 0,
      max: 10_000,
      fallback: 0,
      about: 'kbit/s of a stream; 0: no limit.'
    }),
    max_hls_streams: integerField({
      min: 0,
      max: 1_000,
      fallback: 0,
      about: 'Maximum of streams; 0: no limit.'
    }),
    media_storage_location_id: storageLocation('The location of media, type station_media.'),
    recordings_storage_location_id: storageLocation('The location of recordings, type station_recordings.'),
    podcasts_storage_location_id: storageLocation('The location of podcasts, type station_podcasts.')
  },
  label: 'name',
  search: ['name', 'short_name'],
  sort: ['id', 'name', 'short_name'],
  order: 'name',
  unique: { stations_short_name_key: 'short_name' },
  publishes: 'marked parts'
})

type StationFields = typeof stationsResource.fields

/** The settings that the queue planner depends on. */
const queueSettings = [
  'timezone',
  'queue_length',
  'duplicate_prevention_time_range',
  'crossfade_type',
  'crossfade',
  'enable_auto_cue',
  'enable_requests',
  'request_delay',
  'request_threshold',
  'request_cooldown',
  'max_consecutive_requests',
  'max_overrun'
] as const

/** The fields that polls of its streaming server depend on. */
const polledBy = ['frontend', 'frontend_url', 'frontend_admin_password', 'backend', 'is_enabled'] as const

const isClocked = ({ is_enabled, backend }: Pick<StoredRecord<StationFields>, 'is_enabled' | 'backend'>) =>
  is_enabled && backend === 'clock'

const hooks: ResourceHooks<StationFields> = {
  async beforeWrite(write) {
    if (write.values === null) {
      await markDeleted(write)
      return []
    }
    const { tx, before, values } = write
    const problems = await findStorageProblems(write)
    if (problems.length === 0 && values.short_name === '')
      values.short_name = await findFreeShortName(tx, values.name, before?.id ?? 0)
    return problems
  },
  async afterWrite({ tx, change, before, values }, id) {
    if (!change || values === null) return
    const isHistoryResized = before !== null && before.history_length !== values.history_length
    change.mark(isHistoryResized ? ['station', 'playback'] : ['station'])
    if (!before) {
      await tx`insert into hls_streams (station_id, name, is_default) values (${id}, ${defaultMountPath}, true)`
      await addMissingPollRows(tx, id)
      return
    }
    if (before.is_enabled && !values.is_enabled) await endPlayOfDisabledStation(change)
    if (!isClocked(before) && isClocked(values)) await scheduleEndByClock(change)
    if (polledBy.some(name => before[name] !== values[name])) await resetPollsOfStation(tx, id)
    if (queueSettings.some(name => before[name] !== values[name])) await refillQueue(change)
  },
  render: rows =>
    rows.map(row => Object.fromEntries(storageLocationReferences.map(([field]) => [field, row[field] ?? 0])))
}

async function markDeleted({ tx, before }: ResourceDeletion<StationFields>): Promise<void> {
  await markStationDeleted(tx, before.id)
  const id = String(before.id)
  await tx`update api_keys set station_permissions = station_permissions - ${id}::text
    where station_permissions ? ${id}::text`
}

async function findStorageProblems({
  tx,
  values,
  sent
}: ResourceWrite<StationFields>): Promise<FieldError[]> {
  const changed = storageLocationReferences.filter(([field]) => sent.has(field) && values[field] !== null)
  if (changed.length === 0) return []
  // Locked, so that none of them is deleted before this write is committed.
  const found = await tx<{ id: number; type: string }[]>`
    select id, type from storage_locations where id = any(${changed.map(([field]) => values[field])}::bigint[])
    order by id for key share`
  return changed.flatMap(([field, type]) => {
    const location = found.find(({ id }) => id === values[field])
    if (!location) return [fieldError(field, 'not_found', 'is no storage location.')]
    if (location.type === type) return []
    return [fieldError(field, 'not_in_enum', `must be a location of type ${type}.`)]
  })
}

const maxNames = 1_000

/** Derives a short name; with the suffix `_2`, `_3`, ... if other stations have it. */
export async function findFreeShortName(tx: Tx, name: string, ownId: number): Promise<string> {
  // Serialized, so that two stations of one name do not get the same short name.
  await tx`select pg_advisory_xact_lock(hashtext('cuewire short names'))`
  const names = Array.from({ length: maxNames }, (_, index) => makeShortName(name, index + 1))
  const rows = await tx<{ name: string }[]>`
    select short_name as name from stations where short_name = any(${names}::text[]) and id <> ${ownId}`
  const taken = new Set(rows.map(row => row.name))
  return names.find(each => !taken.has(each)) ?? makeShortName(name)
}

/** The reads of stations. */
export const stationReads = openResourceReads(stationsResource, hooks)
const writes = openResourceWrites(stationsResource, hooks, stationReads)

/** Changes fields of a station as an update by the admin API does, with the audit entry of this request. */
export async function updateStation(
  services: ApiServices,
  request: ApiRequest,
  id: number,
  body: object
): Promise<void> {
  await writes.update({ ...request, body }, services, id)
}

export const stationRoutes = resourceRoutes(stationsResource, hooks)
