import * as v from 'valibot'

import { addMissingPolls, resetPolls } from '../../broadcast/polls/poll-rows.ts'
import type { Tx } from '../../db/sql.ts'
import { firstStream } from '../../db/stations.ts'
import {
  choice,
  custom,
  decimal,
  type Field,
  flag,
  integer,
  privateAddress,
  problem,
  secret,
  text,
  webAddress
} from '../../fields/field.ts'
import { advance } from '../../playout/advance.ts'
import { publishEventually } from '../../playout/change-station.ts'
import { giveToClock, switchOff } from '../../playout/playouts/commands.ts'
import { refillQueue } from '../../playout/queue/queue.ts'
import { markStationDeleted } from '../../playout/station-removal.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import type { FieldError } from '../../runtime/errors.ts'
import { makeShortName, shortNamePattern } from '../../station/short-name.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { resource, type ResourceRules, type StoredRecord, type Write } from '../core/resource.ts'
import type { ApiServices } from '../core/services.ts'

/**
 * A name of the IANA time zone database in its own spelling; null for any other text. Offsets (`+01:00`) are
 * none.
 */
function timezoneOf(name: string): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(name)) return null
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    // An older name of a zone stays what it is.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  } catch {
    return null
  }
}

const timezone = v.pipe(
  v.string(problem('invalid_type', 'must be text.')),
  v.trim(),
  v.check(
    name => timezoneOf(name) !== null,
    problem('invalid_format', 'must be a time zone like Europe/Berlin.')
  ),
  v.transform(name => timezoneOf(name) ?? name)
)

/** A setting in minutes, of a day at most where nothing else is said. */
const minutes = (fallback: number, about: string, max = 1_440) => integer({ min: 0, max, fallback, about })

/** A storage location by its id; none is kept as null and shown as 0. */
function storageLocation(about: string): Field<number | null> {
  const { input, schema } = integer({ min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0, about })
  const kept = v.pipe(
    input,
    v.transform(id => (id === 0 ? null : id))
  )
  return { ...custom<number | null>(kept, { fallback: null, schema, about }), schema }
}

export const stations = resource({
  name: 'Station',
  title: 'station',
  tag: 'Stations',
  table: 'stations',
  only: 'deleted_at is null',
  paths: { list: '/api/admin/stations', one: '/api/admin/station/:id' },
  access: { read: 'administer stations', write: 'administer stations' },
  fields: {
    name: text({ min: 1, max: 100, isTrimmed: true, about: 'What listeners read.', example: 'Harbour FM' }),
    short_name: text({
      max: 100,
      fallback: '',
      isTrimmed: true,
      pattern: shortNamePattern,
      says: 'may hold letters, digits and - _ . only, and not digits alone.',
      about: 'What paths and channels call it, unique; made from the name when empty.',
      example: 'harbour_fm'
    }),
    description: text({ max: 2_000, fallback: '', isLong: true, about: 'A few words for listeners.' }),
    url: webAddress({ max: 255, about: 'Its website.' }),
    timezone: custom(timezone, {
      fallback: 'UTC',
      schema: { type: 'string' },
      about: 'The time zone of its schedules, by its IANA name.',
      example: 'Europe/Berlin'
    }),
    frontend: choice(['icecast', 'shoutcast2', 'rsas', 'remote'], {
      fallback: 'icecast',
      about: 'The streaming server that listeners connect to.'
    }),
    backend: choice(['clock', 'liquidsoap', 'none'], {
      fallback: 'clock',
      about: 'Who says what plays: the clock of Cuewire, Liquidsoap, or reports of a broadcaster.'
    }),
    frontend_url: privateAddress(
      webAddress({
        max: 255,
        about: 'Where its streaming server answers Cuewire; empty: it is not asked.',
        example: 'http://127.0.0.1:8000'
      })
    ),
    frontend_admin_password: secret({
      max: 255,
      about: 'Of the user admin there; with it Icecast tells listeners apart. Null takes it away.'
    }),
    enable_streamers: flag({ fallback: false, about: 'Whether streamers may go live.' }),
    source_password: secret({
      max: 255,
      about: 'What the user source may go live with; null: nobody may.'
    }),
    is_public: flag({ fallback: true, about: 'Whether it is shown without a key.' }),
    is_enabled: flag({ fallback: true, about: 'Whether it plays; a station that is off is silent.' }),
    hls_enabled: flag({ fallback: false, about: 'Whether it is sent as HLS.' }),
    hls_is_default: flag({ fallback: false, about: 'Whether players should choose HLS.' }),
    queue_length: integer({ min: 2, max: 25, fallback: 3, about: 'Songs that are queued ahead.' }),
    history_length: integer({ min: 0, max: 50, fallback: 5, about: 'Ended songs that are shown.' }),
    offline_text: text({
      max: 255,
      fallback: 'Station Offline',
      isTrimmed: true,
      about: 'The title that is shown while nothing plays.'
    }),
    live_text: text({
      max: 255,
      fallback: 'Live Broadcast',
      isTrimmed: true,
      about: 'The title that is shown while a streamer is live and sends none.'
    }),
    duplicate_prevention_time_range: minutes(
      120,
      'Minutes in which an artist or a title is not heard again, where a playlist avoids duplicates; 0: only never the same song twice in a row.',
      10_080
    ),
    crossfade_type: choice(['normal', 'smart', 'none'], {
      fallback: 'normal',
      about: 'How songs overlap, where the playout can make them.'
    }),
    crossfade: decimal({ min: 0, max: 30, fallback: 2, about: 'Seconds of an overlap; 0: none.' }),
    enable_auto_cue: flag({
      fallback: false,
      about: 'Whether the playout finds out itself where songs overlap.'
    }),
    enable_requests: flag({ fallback: true, about: 'Whether listeners may request songs.' }),
    request_delay: minutes(5, 'Minutes that a request waits at least, and at most twice.'),
    request_threshold: minutes(
      15,
      'Minutes between a request and the same title or artist; 0: only not one right behind the other.'
    ),
    request_cooldown: minutes(5, 'Minutes between two requests of a listener.'),
    max_consecutive_requests: integer({
      min: 0,
      max: 20,
      fallback: 2,
      about: 'Requests in a row; 0: no limit.'
    }),
    max_overrun: integer({
      min: 0,
      max: 86_400,
      fallback: 600,
      about: 'Seconds that a song may play beyond the end of its schedule.'
    }),
    max_bitrate: integer({ min: 0, max: 10_000, fallback: 0, about: 'kbit/s of a stream; 0: no limit.' }),
    max_hls_streams: integer({ min: 0, max: 1_000, fallback: 0, about: 'Streams it may have; 0: no limit.' }),
    media_storage_location_id: storageLocation('Where its media are, a location of type station_media.'),
    recordings_storage_location_id: storageLocation(
      'Where recordings go, a location of type station_recordings.'
    ),
    podcasts_storage_location_id: storageLocation('Where podcasts are, a location of type station_podcasts.')
  },
  search: ['name', 'short_name'],
  sort: ['id', 'name', 'short_name'],
  order: 'name',
  unique: { stations_short_name_key: 'short_name' }
})

type StationFields = typeof stations.fields

const purposes = [
  ['media_storage_location_id', 'station_media'],
  ['recordings_storage_location_id', 'station_recordings'],
  ['podcasts_storage_location_id', 'station_podcasts']
] as const

/** What the queue is planned by. */
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

/** What its streaming server is asked by. */
const askedBy = ['frontend', 'frontend_url', 'frontend_admin_password', 'backend', 'is_enabled'] as const

const isClocked = ({ is_enabled, backend }: Pick<StoredRecord<StationFields>, 'is_enabled' | 'backend'>) =>
  is_enabled && backend === 'clock'

const rules: ResourceRules<StationFields> = {
  async prepare(write) {
    const { tx, before, values } = write
    const problems = await storageProblems(write)
    if (problems.length === 0 && values.short_name === '')
      values.short_name = await freeShortName(tx, values.name, before?.id ?? 0)
    return problems
  },
  async wrote({ tx, change, before, values }, id) {
    if (!change) return
    const isHistoryMeant = before !== null && before.history_length !== values.history_length
    change.mark(isHistoryMeant ? ['station', 'playback'] : ['station'])
    if (!before) {
      await tx`insert into hls_streams (station_id, name, is_default) values (${id}, ${firstStream}, true)`
      await addMissingPolls(tx, id)
      return
    }
    if (before.is_enabled && !values.is_enabled) await switchOff(change)
    if (!isClocked(before) && isClocked(values)) await giveToClock(change)
    if (askedBy.some(name => before[name] !== values[name])) await resetPolls(tx, id)
    if (queueSettings.some(name => before[name] !== values[name])) await refillQueue(change)
  },
  async remove({ tx, before }) {
    await markStationDeleted(tx, before.id)
    const id = String(before.id)
    await tx`update api_keys set station_permissions = station_permissions - ${id}::text
      where station_permissions ? ${id}::text`
  },
  committed: show,
  shown: rows => rows.map(row => Object.fromEntries(purposes.map(([field]) => [field, row[field] ?? 0])))
}

async function storageProblems({ tx, values, sent }: Write<StationFields>): Promise<FieldError[]> {
  const meant = purposes.filter(([field]) => sent.has(field) && values[field] !== null)
  if (meant.length === 0) return []
  // Held, so that none of them is deleted before this write is done.
  const known = await tx<{ id: number; type: string }[]>`
    select id, type from storage_locations where id = any(${meant.map(([field]) => values[field])}::bigint[])
    order by id for key share`
  return meant.flatMap(([field, type]): FieldError[] => {
    const location = known.find(({ id }) => id === values[field])
    if (!location) return [{ field, code: 'not_found', message: `${field} is no storage location.` }]
    if (location.type === type) return []
    return [{ field, code: 'not_in_enum', message: `${field} must be a location of type ${type}.` }]
  })
}

const mostNames = 1_000

/** The short name made from a name, or the first of `_2`, `_3`, ... that no other station has. */
async function freeShortName(tx: Tx, name: string, ownId: number): Promise<string> {
  // One at a time, so that two stations of one name do not choose the same.
  await tx`select pg_advisory_xact_lock(hashtext('cuewire short names'))`
  const names = Array.from({ length: mostNames }, (_, index) => makeShortName(name, index + 1))
  const rows = await tx<{ name: string }[]>`
    select short_name as name from stations where short_name = any(${names}::text[]) and id <> ${ownId}`
  const taken = new Set(rows.map(row => row.name))
  return names.find(each => !taken.has(each)) ?? makeShortName(name)
}

const timeoutMs = 2_000

/**
 * Starts it where it was switched on, and shows what was written: on this server before the answer is sent.
 */
async function show(services: ApiServices, stationId: number): Promise<void> {
  const { live, log } = services
  try {
    const { outcome } = await advance(services, { stationId, endedShId: 0, cause: 'wake' })
    if (outcome === 'deleted') await publishEventually(services, stationId)
    await withDeadline(timeoutMs, 'showing the station', () => live.catchUp(stationId))
  } catch (error) {
    log.warn({ err: error, station: stationId }, 'a change of the station does not show yet')
  }
}

export const stationRoutes = resourceRoutes(stations, rules)
