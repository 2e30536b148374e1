import * as v from 'valibot'

import {
  choiceField,
  validatedField,
  flagField,
  readOnlyField,
  integerField,
  maskedAddressField,
  formatCheckMessage,
  textField,
  unauditedField,
  webAddressField,
  type Fields
} from '../../model/fields/field.ts'
import { namedValuesField } from '../../model/fields/named-values.ts'
import { mountDisplayName as renderMountName } from '../../model/station/now-playing.ts'
import { fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { unstorablePattern } from '../../platform/text/foreign-text.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { openResourceOperations, resourceOperationRoutes } from '../core/resource-routes.ts'
import {
  type Resource,
  type ResourceHooks,
  type StoredRecord,
  defineResource,
  type ResourceWrite
} from '../core/resource.ts'
import type { ApiRoute } from '../core/route.ts'
import { findTargetUrlProblems } from '../core/url-checks.ts'
import { deleteMountWithIntro } from './mount-intro.ts'

/** The path of a mount. Input may begin with any number of slashes. */
const mountPath = v.pipe(
  v.string(formatCheckMessage('invalid_type', 'must be text.')),
  v.trim(),
  v.transform(path => (path === '' ? '' : `/${path.replace(/^\/+/, '')}`)),
  v.maxLength(100, formatCheckMessage('too_long', 'must have at most 100 characters.')),
  v.check(
    path => !/[\s\p{Cc}?#]|\.\./u.test(path) && !unstorablePattern.test(path),
    formatCheckMessage('invalid_format', 'must be a path without spaces, ?, # and ..')
  )
)

const mountName = v.pipe(
  mountPath,
  v.check(path => path !== '', formatCheckMessage('blank', 'must not be empty.')),
  v.minLength(2, formatCheckMessage('too_short', 'must have at least 2 characters.'))
)

export const listenerCountField = (about: string) =>
  readOnlyField<number>({ isStored: true, schema: { type: 'integer' }, about })

/** The HLS streams of the REST interface, which now playing lists as mounts. */
export const hlsStreamsResource = defineResource({
  name: 'HlsStream',
  title: 'HLS stream',
  tag: 'HLS streams',
  table: 'hls_streams',
  paths: { list: '/api/station/:station_id/hls_streams', one: '/api/station/:station_id/hls_stream/:id' },
  access: { read: 'view station management', write: 'manage station mounts' },
  fields: {
    name: validatedField(mountName, {
      schema: { type: 'string', minLength: 2, maxLength: 100 },
      about: 'The path, unique per station.',
      example: '/radio.mp3'
    }),
    display_name: textField({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'Shown to listeners. If empty, path, bitrate and format are shown.',
      example: 'Main stream'
    }),
    is_visible_on_public_pages: flagField({ fallback: true, about: 'Whether now playing lists it.' }),
    is_default: flagField({ fallback: false, about: 'Whether it is the default stream; one per station.' }),
    is_public: flagField({ fallback: false, about: 'Whether public directories list it.' }),
    fallback_mount: validatedField(mountPath, {
      fallback: '',
      schema: { type: 'string', maxLength: 100 },
      about: 'The mount for its listeners when it ends.',
      example: '/silence.mp3'
    }),
    relay_url: maskedAddressField(webAddressField({ max: 255, about: 'A stream to relay instead.' })),
    authhash: unauditedField(
      textField({ max: 255, fallback: '', about: 'The hash that identifies the stream in a directory.' })
    ),
    max_listener_duration: integerField({
      min: 0,
      max: 2_147_483_647,
      fallback: 0,
      about: 'Seconds after which a listener is disconnected; 0: never.'
    }),
    enable_autodj: flagField({ fallback: true, about: 'Whether the AutoDJ plays to it.' }),
    autodj_format: choiceField(['mp3', 'ogg', 'aac', 'opus', 'flac'], {
      fallback: 'mp3',
      about: 'The format.'
    }),
    autodj_bitrate: integerField({ min: 0, max: 10_000, fallback: 128, about: 'kbit/s; ignored for flac.' }),
    custom_listen_url: webAddressField({ max: 255, about: 'The URL for listeners, if it is not the path.' }),
    frontend_config: unauditedField(
      namedValuesField({ max: 50, about: 'Settings for the streaming server, stored unchanged.' })
    ),
    listeners_unique: listenerCountField('Last count of distinct listeners.'),
    listeners_total: listenerCountField('Last count of listeners.')
  },
  label: 'name',
  search: ['name', 'display_name'],
  sort: ['id', 'name', 'display_name', 'enable_autodj'],
  order: 'id',
  unique: { hls_streams_name: 'name' },
  publishes: 'station'
})

type HlsFields = typeof hlsStreamsResource.fields

const displayName = (stream: StoredRecord<HlsFields>) =>
  renderMountName({
    path: stream.name,
    displayName: stream.display_name,
    hasAutodj: stream.enable_autodj,
    bitrate: stream.autodj_bitrate,
    format: stream.autodj_format
  })

export const hlsStreamHooks: ResourceHooks<HlsFields> = {
  async validate({ services, station, id, values: { relay_url: url } }) {
    if (!url) return []
    const [same] = await services.reads`
      select from hls_streams where id = ${id} and station_id = ${station?.id ?? null} and relay_url = ${url}`
    return same ? [] : findTargetUrlProblems(services, [{ field: 'relay_url', url }])
  },
  async beforeWrite(write) {
    if (write.values === null) return []
    const { values, before } = write
    // A generated name that a client has read and sent back remains generated.
    if (before && values.display_name === displayName({ ...before, display_name: '' }))
      values.display_name = ''
    const problems = await findLimitProblems(write)
    if (problems.length === 0) await assignDefault(write)
    return problems
  },
  render: rows => rows.map(row => ({ display_name: displayName(row) })),
  async afterWrite({ tx, station, before, values }) {
    if (values === null && before.is_default && station) await chooseDefault(tx, station.id)
  }
}

async function findLimitProblems({
  tx,
  station,
  before,
  values,
  sent
}: ResourceWrite<HlsFields>): Promise<FieldError[]> {
  const [limits] = await tx<{ maxBitrate: number; maxStreams: number; streams: number }[]>`
    select max_bitrate as "maxBitrate", max_hls_streams as "maxStreams",
      (select count(*) from hls_streams where station_id = s.id) as streams
    from stations s where id = ${station?.id ?? null}`
  if (!limits) return []
  const { maxBitrate, maxStreams, streams } = limits
  const isBitrateSent =
    values.autodj_format !== 'flac' && (sent.has('autodj_bitrate') || sent.has('autodj_format'))
  const problems: FieldError[] = []
  if (!before && maxStreams > 0 && streams >= maxStreams) {
    const message = `The station may have at most ${maxStreams} streams.`
    problems.push({ field: '', code: 'limit_reached', message })
  }
  if (isBitrateSent && maxBitrate > 0 && values.autodj_bitrate > maxBitrate) {
    const sentence = `must be at most ${maxBitrate}, the limit of the station.`
    problems.push(fieldError('autodj_bitrate', 'out_of_range', sentence))
  }
  return problems
}

/** Ensures that exactly one stream of the station is the default, the first one if no other can be. */
async function assignDefault({ tx, station, before, values }: ResourceWrite<HlsFields>): Promise<void> {
  if (!station) return
  const [current] = await tx<{ id: number }[]>`
    select id from hls_streams where station_id = ${station.id} and is_default`
  if (!current) values.is_default = true
  if (values.is_default && current && current.id !== before?.id)
    await tx`update hls_streams set is_default = false where id = ${current.id}`
  if (!values.is_default && before?.is_default) {
    const [next] = await tx<{ id: number }[]>`
      select id from hls_streams
      where station_id = ${station.id} and id <> ${before.id} and is_visible_on_public_pages order by id limit 1`
    if (!next) values.is_default = true
    else {
      await tx`update hls_streams set is_default = false where id = ${before.id}`
      await tx`update hls_streams set is_default = true where id = ${next.id}`
    }
  }
}

/** Makes the first visible stream the default; without a visible one the first of all. */
async function chooseDefault(tx: Tx, stationId: number): Promise<void> {
  await tx`
    update hls_streams set is_default = true where id = (
      select id from hls_streams where station_id = ${stationId}
      order by is_visible_on_public_pages desc, id limit 1)`
}

/** The routes of a resource in the table that mounts and HLS streams share. */
export function streamResourceRoutes<F extends Fields>(
  streams: Resource<F>,
  hooks: ResourceHooks<F>
): ApiRoute[] {
  const operations = openResourceOperations(streams, hooks)
  return resourceOperationRoutes(streams, {
    ...operations,
    remove: (request, services, id) =>
      deleteMountWithIntro(request, services, () => operations.remove(request, services, id))
  })
}

/** The routes of the HLS streams that match an SQL condition. */
export const hlsStreamRoutesWhere = (only: string) =>
  streamResourceRoutes({ ...hlsStreamsResource, only }, hlsStreamHooks)

export const hlsStreamRoutes = streamResourceRoutes(hlsStreamsResource, hlsStreamHooks)
