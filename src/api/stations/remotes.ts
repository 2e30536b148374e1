import * as v from 'valibot'

import {
  choice,
  custom,
  flag,
  integer,
  problemText,
  secret,
  text,
  webAddress
} from '../../model/fields/field.ts'
import { resetPolls } from '../../radio/polls/poll-rows.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceHooks, resource } from '../core/resource.ts'
import { findTargetProblems } from '../core/url-checks.ts'
import { listenerCountField } from './hls-streams.ts'

const url = v.pipe(
  webAddress({ max: 255, about: '' }).input,
  v.check(address => address !== '', problemText('blank', 'must not be empty.'))
)

/** Streams of a station on servers of third parties. */
export const remotes = resource({
  name: 'Remote',
  title: 'remote',
  tag: 'Remotes',
  table: 'remotes',
  paths: { list: '/api/station/:station_id/remotes', one: '/api/station/:station_id/remote/:id' },
  access: { read: 'manage station remotes', write: 'manage station remotes' },
  fields: {
    name: text({ min: 1, max: 100, isTrimmed: true, about: 'Shown to listeners.', example: 'Relay in Oslo' }),
    url: custom(url, {
      schema: { type: 'string', maxLength: 255, pattern: '^\\s*[hH][tT][tT][pP][sS]?://' },
      about: 'The stream. Its path, and for Shoutcast its number (?sid=2), identify it on the server.',
      example: 'https://relay.example.com:8000/main.mp3'
    }),
    type: choice(['icecast', 'shoutcast2', ''], {
      fallback: '',
      about:
        'The server, which is polled for listeners, titles and the audio format; empty: it is not polled.'
    }),
    admin_password: secret({
      max: 255,
      about: 'The password of the user admin of the server, for unique listeners. Null removes it.'
    }),
    is_visible: flag({ fallback: true, about: 'Whether now playing lists it.' }),
    bitrate: integer({ min: 0, max: 10_000, fallback: 0, about: 'kbit/s; 0: as reported by its server.' }),
    format: choice(['mp3', 'ogg', 'aac', 'opus', 'flac', ''], {
      fallback: '',
      about: 'The audio format; empty: as reported by its server.'
    }),
    listeners_unique: listenerCountField('Last count of distinct listeners.'),
    listeners_total: listenerCountField('Last count of listeners.')
  },
  label: 'name',
  search: ['name', 'url'],
  sort: ['id', 'name', 'url'],
  order: 'name',
  publishes: 'station'
})

/** The fields that polls of its server depend on. */
const polledBy = ['url', 'type', 'admin_password'] as const

const hooks: ResourceHooks<typeof remotes.fields> = {
  async validate({ services, station, id, values }) {
    const [before] = await services.reads<{ url: string; type: string }[]>`
      select url, type from remotes where id = ${id} and station_id = ${station?.id ?? null}`
    const { url: target = before?.url ?? '', type = before?.type ?? '' } = values
    const isPolled = before !== undefined && before.type !== '' && before.url === target
    return type === '' || isPolled ? [] : findTargetProblems(services, [{ field: 'url', url: target }])
  },
  async afterWrite({ tx, station, before, values }, id) {
    if (values !== null && station && polledBy.some(name => before?.[name] !== values[name]))
      await resetPolls(tx, station.id, id)
  }
}

export const remoteRoutes = resourceRoutes(remotes, hooks)
