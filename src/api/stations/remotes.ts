import * as v from 'valibot'

import {
  choiceField,
  validatedField,
  flagField,
  integerField,
  formatCheckMessage,
  secretField,
  textField,
  webAddressField
} from '../../model/fields/field.ts'
import { resetPollsOfStation } from '../../radio/polls/poll-rows.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceHooks, defineResource } from '../core/resource.ts'
import { findTargetUrlProblems } from '../core/url-checks.ts'
import { listenerCountField } from './hls-streams.ts'

const url = v.pipe(
  webAddressField({ max: 255, about: '' }).input,
  v.check(address => address !== '', formatCheckMessage('blank', 'must not be empty.'))
)

/** Streams of a station on servers of third parties. */
export const remotesResource = defineResource({
  name: 'Remote',
  title: 'remote',
  tag: 'Remotes',
  table: 'remotes',
  paths: { list: '/api/station/:station_id/remotes', one: '/api/station/:station_id/remote/:id' },
  access: { read: 'manage station remotes', write: 'manage station remotes' },
  fields: {
    name: textField({
      min: 1,
      max: 100,
      isTrimmed: true,
      about: 'Shown to listeners.',
      example: 'Relay in Oslo'
    }),
    url: validatedField(url, {
      schema: { type: 'string', maxLength: 255, pattern: '^\\s*[hH][tT][tT][pP][sS]?://' },
      about: 'The stream. Its path, and for Shoutcast its number (?sid=2), identify it on the server.',
      example: 'https://relay.example.com:8000/main.mp3'
    }),
    type: choiceField(['icecast', 'shoutcast2', ''], {
      fallback: '',
      about:
        'The server, which is polled for listeners, titles and the audio format; empty: it is not polled.'
    }),
    admin_password: secretField({
      max: 255,
      about: 'The password of the user admin of the server, for unique listeners. Null removes it.'
    }),
    is_visible: flagField({ fallback: true, about: 'Whether now playing lists it.' }),
    bitrate: integerField({
      min: 0,
      max: 10_000,
      fallback: 0,
      about: 'kbit/s; 0: as reported by its server.'
    }),
    format: choiceField(['mp3', 'ogg', 'aac', 'opus', 'flac', ''], {
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

const hooks: ResourceHooks<typeof remotesResource.fields> = {
  async validate({ services, station, id, values }) {
    const [before] = await services.reads<{ url: string; type: string }[]>`
      select url, type from remotes where id = ${id} and station_id = ${station?.id ?? null}`
    const { url: target = before?.url ?? '', type = before?.type ?? '' } = values
    const isPolled = before !== undefined && before.type !== '' && before.url === target
    return type === '' || isPolled ? [] : findTargetUrlProblems(services, [{ field: 'url', url: target }])
  },
  async afterWrite({ tx, station, before, values }, id) {
    if (values !== null && station && polledBy.some(name => before?.[name] !== values[name]))
      await resetPollsOfStation(tx, station.id, id)
  }
}

export const remoteRoutes = resourceRoutes(remotesResource, hooks)
