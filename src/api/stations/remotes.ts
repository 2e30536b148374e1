import * as v from 'valibot'

import { resetPolls } from '../../broadcast/polls/poll-rows.ts'
import {
  choice,
  custom,
  flag,
  readOnly,
  integer,
  problem,
  secret,
  text,
  webAddress
} from '../../fields/field.ts'
import type { LockedStation } from '../../playout/rows.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceRules, resource, type StoredRecord } from '../core/resource.ts'
import { targetProblems } from '../core/target-problems.ts'

const address = webAddress({ max: 255, about: '' })

/** Streams of a station on servers of somebody else's. */
export const remotes = resource({
  name: 'Remote',
  title: 'remote',
  tag: 'Remotes',
  table: 'remotes',
  paths: { list: '/api/station/:station_id/remotes', one: '/api/station/:station_id/remote/:id' },
  access: { read: 'manage station remotes', write: 'manage station remotes' },
  fields: {
    name: text({
      min: 1,
      max: 100,
      isTrimmed: true,
      about: 'What listeners read.',
      example: 'Relay in Oslo'
    }),
    url: custom(
      v.pipe(
        address.input,
        v.check(url => url !== '', problem('blank', 'must not be empty.'))
      ),
      {
        schema: { type: 'string', maxLength: 255, pattern: '^\\s*[hH][tT][tT][pP][sS]?://' },
        about:
          'Where listeners find it. By its path the server is asked for it; Shoutcast also by number: ?sid=2.',
        example: 'https://relay.example.com:8000/main.mp3'
      }
    ),
    type: choice(['icecast', 'shoutcast2', ''], {
      fallback: '',
      about:
        'What its server is, which is then asked for listeners, titles and sound; empty: it is not asked.'
    }),
    admin_password: secret({
      max: 255,
      about: 'Of the user admin there; with it the server tells listeners apart. Null takes it away.'
    }),
    is_visible: flag({ fallback: true, about: 'Whether now playing lists it.' }),
    bitrate: integer({ min: 0, max: 10_000, fallback: 0, about: 'kbit/s; 0: as its server says.' }),
    format: choice(['mp3', 'ogg', 'aac', 'opus', 'flac', ''], {
      fallback: '',
      about: 'The format of the sound; empty: as its server says.'
    }),
    listeners_unique: readOnly<number>({
      isStored: true,
      schema: { type: 'integer' },
      about: 'Distinct listeners as last counted.'
    }),
    listeners_total: readOnly<number>({
      isStored: true,
      schema: { type: 'integer' },
      about: 'Listeners as last counted.'
    })
  },
  search: ['name', 'url'],
  sort: ['id', 'name', 'url'],
  order: 'name',
  shows: 'station'
})

/** What its server is asked by. */
const asked = ['url', 'type', 'admin_password'] as const

const rules: ResourceRules<typeof remotes.fields> = {
  async ahead({ services, station, id, values }) {
    const [before] = await services.reads<{ url: string; type: string }[]>`
      select url, type from remotes where id = ${id} and station_id = ${station?.id ?? null}`
    const { url = before?.url ?? '', type = before?.type ?? '' } = values
    const isKnown = before !== undefined && before.type !== '' && before.url === url
    return type === '' || isKnown ? [] : targetProblems(services, [{ field: 'url', url }])
  },
  async wrote({ tx, station, before, values }, id) {
    if (station && asked.some(name => before?.[name] !== values[name])) await resetPolls(tx, station.id, id)
  },
  async deleted({ change, before }) {
    // Its listeners go with it.
    if (change && before.listeners_total) change.mark(['listeners'], withoutListeners(change.station, before))
  }
}

/** The totals of a station without a remote. */
const withoutListeners = (
  { listenersTotal, listenersUnique }: LockedStation,
  remote: Pick<StoredRecord<typeof remotes.fields>, 'listeners_total' | 'listeners_unique'>
) => ({
  listeners_total: Math.max(0, listenersTotal - (remote.listeners_total ?? 0)),
  listeners_unique: Math.max(0, listenersUnique - (remote.listeners_unique ?? 0))
})

export const remoteRoutes = resourceRoutes(remotes, rules)
