import { isDeepStrictEqual } from 'node:util'

import * as v from 'valibot'

import { startNewPass } from '../../engine/queue/plan-statements.ts'
import { markIfNextPlaylist, refillQueue } from '../../engine/queue/queue.ts'
import { syncRemoteEntries, replaceRemoteEntries } from '../../engine/queue/remote-entries.ts'
import type { ScheduleItem } from '../../model/autodj/schedule.ts'
import {
  choiceField,
  validatedField,
  flagField,
  integerField,
  isWebAddress,
  listField,
  maxElementsCheck,
  maskedAddressField,
  formatCheckMessage,
  textField
} from '../../model/fields/field.ts'
import { fieldError } from '../../platform/runtime/errors.ts'
import { openResourceOperations, resourceOperationRoutes } from '../core/resource-routes.ts'
import { defineResource, type ResourceHooks, type StoredRecord } from '../core/resource.ts'
import type { ApiRequest } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { findTargetUrlProblems } from '../core/url-checks.ts'
import { assignScheduleItemIds, scheduleItemValidator, scheduleItemSchema } from './schedule-items.ts'

const optionNames = ['interrupt', 'single_track', 'merge', 'prioritize', 'loop_once']
const interval = { min: 0, max: 32_767, fallback: 0 }

/** Option names, stored as comma-separated text; a list is accepted too. */
const backendOptions = v.pipe(
  v.unknown(),
  v.transform(value => (typeof value === 'string' ? value.split(',', 101) : value)),
  maxElementsCheck(100),
  v.array(
    v.string(formatCheckMessage('invalid_type', 'must be text.')),
    formatCheckMessage('invalid_type', 'must be text or a list.')
  ),
  v.transform(names => [...new Set(names.map(name => name.trim()).filter(name => name !== ''))]),
  v.check(
    names => names.every(name => optionNames.includes(name)),
    formatCheckMessage('not_in_enum', `may contain only ${optionNames.join(', ')}.`)
  ),
  v.transform(names => names.join(','))
)

export const playlistsResource = defineResource({
  name: 'Playlist',
  title: 'playlist',
  tag: 'Playlists',
  table: 'playlists',
  paths: { list: '/api/station/:station_id/playlists', one: '/api/station/:station_id/playlist/:id' },
  access: { read: 'view station management', write: 'manage station media' },
  fields: {
    name: textField({ min: 1, max: 200, isTrimmed: true, about: 'Shown to operators.', example: 'Rotation' }),
    type: choiceField(['default', 'once_per_x_songs', 'once_per_x_minutes', 'once_per_hour', 'custom'], {
      fallback: 'default',
      about: 'When its songs are chosen; custom: never.'
    }),
    source: choiceField(['songs', 'remote_url'], {
      fallback: 'songs',
      about: 'Songs of the library, or a URL.'
    }),
    order: choiceField(['shuffle', 'random', 'sequential'], {
      fallback: 'shuffle',
      about: 'Order of the songs.'
    }),
    remote_url: maskedAddressField(
      textField({
        max: 2048,
        fallback: '',
        isTrimmed: true,
        about: 'The URL if source is remote_url.',
        example: 'https://example.com/stream.mp3'
      })
    ),
    remote_type: choiceField(['stream', 'playlist', 'other'], {
      fallback: 'stream',
      about: 'Type of the URL.'
    }),
    remote_buffer: integerField({ min: 0, max: 120, fallback: 0, about: 'Buffer in seconds; 0 means 20.' }),
    is_enabled: flagField({ fallback: true, about: 'Whether the AutoDJ uses it.' }),
    is_jingle: flagField({ fallback: false, about: 'Whether its songs are hidden from listeners.' }),
    play_per_songs: integerField({ ...interval, about: 'For once_per_x_songs; 0: never.' }),
    play_per_minutes: integerField({ ...interval, about: 'For once_per_x_minutes; 0: never.' }),
    play_per_hour_minute: integerField({ min: 0, max: 59, fallback: 0, about: 'Minute, for once_per_hour.' }),
    weight: integerField({ min: 0, max: 100, fallback: 3, about: 'Relative frequency; 0 means 3.' }),
    include_in_requests: flagField({ fallback: true, about: 'Whether listeners may request its songs.' }),
    include_in_on_demand: flagField({ fallback: false, about: 'Whether its songs are offered on demand.' }),
    backend_options: validatedField(backendOptions, {
      fallback: '',
      schema: { type: 'string' },
      accepts: {
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string', enum: optionNames } }]
      },
      about: `Comma-separated: ${optionNames.join(', ')}.`,
      example: 'interrupt,single_track'
    }),
    avoid_duplicates: flagField({
      fallback: true,
      about: 'Whether to skip recently played artists and titles.'
    }),
    schedule_items: listField<ScheduleItem>(scheduleItemValidator, {
      max: 100,
      items: scheduleItemSchema,
      about: 'When it is active; a list in a body replaces all items.'
    }),
    podcasts: listField<number>(
      v.pipe(
        v.unknown(),
        v.check(() => false, formatCheckMessage('not_found', 'does not exist: podcasts are not supported.')),
        v.transform(() => 0)
      ),
      { max: 100, items: { type: 'integer' }, about: 'Always empty: podcasts are not supported.' }
    )
  },
  label: 'name',
  search: ['name'],
  sort: ['id', 'name', 'weight', 'type'],
  order: 'name',
  publishes: 'marked parts'
})

type PlaylistFields = typeof playlistsResource.fields

const ignoredByAutoDj = ['name', 'include_in_on_demand', 'remote_buffer', 'podcasts']

/** Whether a field changed that the AutoDJ reads. */
function affectsQueue(before: object, values: object): boolean {
  const stored = new Map(Object.entries(before))
  return Object.entries(values).some(
    ([name, value]) => !ignoredByAutoDj.includes(name) && !isDeepStrictEqual(stored.get(name), value)
  )
}

const emptySource = { source: 'songs', remote_url: '' }

const hooks: ResourceHooks<PlaylistFields> = {
  async validate({ services, station, id, values }) {
    const [stored] = await services.reads<Pick<StoredRecord<PlaylistFields>, 'source' | 'remote_url'>[]>`
      select source, remote_url from playlists where id = ${id} and station_id = ${station?.id ?? null}`
    const { source, remote_url: url } = { ...emptySource, ...stored, ...values }
    const isNew = url !== stored?.remote_url || source !== stored.source
    const needsCheck = source === 'remote_url' && isNew && isWebAddress(url)
    return needsCheck ? findTargetUrlProblems(services, [{ field: 'remote_url', url }]) : []
  },
  async beforeWrite({ tx, change, before, values }) {
    if (values === null) {
      if (change) await replaceRemoteEntries(change, { id: before.id, stationId: change.station.id }, [])
      return []
    }
    if (values.weight === 0) values.weight = 3
    if (values.source === 'remote_url') values.type = 'default'
    values.schedule_items = await assignScheduleItemIds(
      tx,
      values.schedule_items,
      before?.schedule_items ?? []
    )
    if (values.source !== 'remote_url' || isWebAddress(values.remote_url)) return []
    const isMissing = values.remote_url === ''
    const sentence = isMissing ? 'is required.' : 'must be an address that begins with http:// or https://.'
    return [fieldError('remote_url', isMissing ? 'required' : 'invalid_url', sentence)]
  },
  async afterWrite({ tx, change, before, values }, id) {
    if (!change) return
    if (values === null) {
      await refillQueue(change)
      return
    }
    const hasNewEntries = await syncRemoteEntries(
      change,
      { id, stationId: change.station.id },
      before,
      values
    )
    if (before && before.name !== values.name) await markIfNextPlaylist(change, id)
    if (before && before.order !== values.order) await startNewPass(tx, id)
    if (hasNewEntries || (before && affectsQueue(before, values))) await refillQueue(change)
  }
}

const operations = openResourceOperations(playlistsResource, hooks)

export const playlistRoutes = resourceOperationRoutes(playlistsResource, operations)

/** Creates a playlist with default settings. Returns its id. */
export async function createPlaylist(
  request: ApiRequest,
  services: ApiServices,
  name: string
): Promise<number> {
  const { id } = await operations.create({ ...request, body: { name } }, services)
  return id
}
