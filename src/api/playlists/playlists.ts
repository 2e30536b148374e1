import { isDeepStrictEqual } from 'node:util'

import * as v from 'valibot'

import type { ScheduleItem } from '../../autodj/schedule.ts'
import {
  choice,
  custom,
  flag,
  integer,
  isWebAddress,
  listOf,
  maxLength,
  privateAddress,
  problem,
  text
} from '../../fields/field.ts'
import { startNewPass } from '../../playout/queue/passes.ts'
import { markPlaylist, refillQueue } from '../../playout/queue/queue.ts'
import { followSource, keepEntries } from '../../playout/queue/remote-entries.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { resource, type ResourceRules, type StoredRecord } from '../core/resource.ts'
import { targetProblems } from '../core/target-problems.ts'
import { scheduleItem, scheduleItemSchema, withIds } from './schedule-items.ts'

const optionNames = ['interrupt', 'single_track', 'merge', 'prioritize', 'loop_once']
const most = 32_767

/** Option names as one comma-separated text; lists are accepted. */
const backendOptions = v.pipe(
  v.unknown(),
  v.transform(value => (typeof value === 'string' ? value.split(',') : value)),
  maxLength(100),
  v.array(
    v.string(problem('invalid_type', 'must be text.')),
    problem('invalid_type', 'must be text or a list.')
  ),
  v.transform(names => [...new Set(names.map(name => name.trim()).filter(name => name !== ''))]),
  v.check(
    names => names.every(name => optionNames.includes(name)),
    problem('not_in_enum', `may hold ${optionNames.join(', ')} only.`)
  ),
  v.transform(names => names.join(','))
)

export const playlists = resource({
  name: 'Playlist',
  title: 'playlist',
  tag: 'Playlists',
  table: 'playlists',
  paths: { list: '/api/station/:station_id/playlists', one: '/api/station/:station_id/playlist/:id' },
  access: { read: 'view station management', write: 'manage station media' },
  fields: {
    name: text({ min: 1, max: 200, isTrimmed: true, about: 'What operators read.', example: 'Rotation' }),
    type: choice(['default', 'once_per_x_songs', 'once_per_x_minutes', 'once_per_hour', 'custom'], {
      fallback: 'default',
      about: 'When its songs are picked; custom is never picked.'
    }),
    source: choice(['songs', 'remote_url'], {
      fallback: 'songs',
      about: 'Songs of the library, or an address.'
    }),
    order: choice(['shuffle', 'random', 'sequential'], {
      fallback: 'shuffle',
      about: 'The order of its songs.'
    }),
    remote_url: privateAddress(
      text({
        max: 2048,
        fallback: '',
        isTrimmed: true,
        about: 'The address, where source is remote_url.',
        example: 'https://example.com/stream.mp3'
      })
    ),
    remote_type: choice(['stream', 'playlist', 'other'], {
      fallback: 'stream',
      about: 'What is at the address.'
    }),
    remote_buffer: integer({ min: 0, max: 120, fallback: 0, about: 'Seconds of buffer; 0 means 20.' }),
    is_enabled: flag({ fallback: true, about: 'Whether it is used.' }),
    is_jingle: flag({ fallback: false, about: 'Its songs are not shown to listeners.' }),
    play_per_songs: integer({ min: 0, max: most, fallback: 0, about: 'For once_per_x_songs; 0: never.' }),
    play_per_minutes: integer({ min: 0, max: most, fallback: 0, about: 'For once_per_x_minutes; 0: never.' }),
    play_per_hour_minute: integer({ min: 0, max: 59, fallback: 0, about: 'For once_per_hour.' }),
    weight: integer({
      min: 0,
      max: 100,
      fallback: 3,
      about: 'How often it is picked beside others; 0 means 3.'
    }),
    include_in_requests: flag({ fallback: true, about: 'Whether listeners may request its songs.' }),
    include_in_on_demand: flag({ fallback: false, about: 'Whether its songs can be heard on demand.' }),
    backend_options: custom(backendOptions, {
      fallback: '',
      schema: { type: 'string' },
      accepts: {
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string', enum: optionNames } }]
      },
      about: `Comma-separated: ${optionNames.join(', ')}.`,
      example: 'interrupt,single_track'
    }),
    avoid_duplicates: flag({
      fallback: true,
      about: 'Whether artists and titles just heard are passed over.'
    }),
    schedule_items: listOf<ScheduleItem>(scheduleItem, {
      max: 100,
      items: scheduleItemSchema,
      about: 'When it is on; a list in a body replaces all items.'
    }),
    podcasts: listOf<number>(
      v.pipe(
        v.unknown(),
        v.check(() => false, problem('not_found', 'is no podcast: none are kept.')),
        v.transform(() => 0)
      ),
      {
        max: 100,
        items: { type: 'integer' },
        about: 'Always empty: no podcasts are kept, and ids are refused.'
      }
    )
  },
  search: ['name'],
  sort: ['id', 'name', 'weight', 'type'],
  order: 'name',
  shows: 'by rules'
})

type PlaylistFields = typeof playlists.fields

/** Fields that have no say in what the AutoDJ plays. */
const silentFields = new Set<keyof PlaylistFields>([
  'name',
  'include_in_on_demand',
  'remote_buffer',
  'podcasts'
])

const isPlayedOtherwise = (
  before: StoredRecord<PlaylistFields>,
  values: Partial<StoredRecord<PlaylistFields>>
) =>
  Object.keys(playlists.fields)
    .filter(isField)
    .some(name => !silentFields.has(name) && !isDeepStrictEqual(before[name], values[name]))

const isField = (name: string): name is keyof PlaylistFields => Object.hasOwn(playlists.fields, name)

const emptySource = { source: 'songs', remote_url: '' }

const rules: ResourceRules<PlaylistFields> = {
  async ahead({ services, station, id, values }) {
    const [stored] = await services.reads<Pick<StoredRecord<PlaylistFields>, 'source' | 'remote_url'>[]>`
      select source, remote_url from playlists where id = ${id} and station_id = ${station?.id ?? null}`
    const { source, remote_url: url } = { ...emptySource, ...stored, ...values }
    const isNew = url !== stored?.remote_url || source !== stored.source
    const isJudged = source === 'remote_url' && isNew && isWebAddress(url)
    return isJudged ? targetProblems(services, [{ field: 'remote_url', url }]) : []
  },
  async prepare({ tx, before, values }) {
    if (values.weight === 0) values.weight = 3
    if (values.source === 'remote_url') values.type = 'default'
    values.schedule_items = await withIds(tx, values.schedule_items, before?.schedule_items ?? [])
    if (values.source !== 'remote_url' || isWebAddress(values.remote_url)) return []
    const isMissing = values.remote_url === ''
    const message = isMissing ? 'is required.' : 'must be an address that begins with http:// or https://.'
    return [
      { field: 'remote_url', code: isMissing ? 'required' : 'invalid_url', message: `remote_url ${message}` }
    ]
  },
  async wrote({ tx, change, before, values }, id) {
    if (!change) return
    const areOthers = await followSource(change, { id, stationId: change.station.id }, before, values)
    if (before && before.name !== values.name) await markPlaylist(change, id)
    if (before && before.order !== values.order) await startNewPass(tx, change.station.id, id)
    if (areOthers || (before && isPlayedOtherwise(before, values))) await refillQueue(change)
  },
  async deleting({ change, before }) {
    if (change) await keepEntries(change, { id: before.id, stationId: change.station.id }, [])
  },
  async deleted({ change }) {
    if (change) await refillQueue(change)
  }
}

export const playlistRoutes = resourceRoutes(playlists, rules)
