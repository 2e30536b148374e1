import * as v from 'valibot'

import type { Tx } from '../../db/sql.ts'
import {
  choice,
  custom,
  flag,
  readOnly,
  integer,
  privateAddress,
  problem,
  text,
  webAddress
} from '../../fields/field.ts'
import { namedValues } from '../../fields/named-values.ts'
import type { FieldError } from '../../runtime/errors.ts'
import { mountName } from '../../station/now-playing.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceRules, type StoredRecord, resource, type Write } from '../core/resource.ts'
import { targetProblems } from '../core/target-problems.ts'

/** A mount's path as people type it: exactly one slash at its beginning is enforced. */
const mountPath = v.pipe(
  v.string(problem('invalid_type', 'must be text.')),
  v.trim(),
  v.transform(path => (path === '' ? '' : `/${path.replace(/^\/+/, '')}`)),
  v.maxLength(100, problem('too_long', 'must have at most 100 characters.')),
  v.check(
    path => !/[\s\p{Cc}\p{Surrogate}?#]|\.\./u.test(path),
    problem('invalid_format', 'must be a path without blanks, ?, # and ..')
  )
)

/** The interface's HLS stream: a mount-like record, and what now playing lists as a mount. */
export const hlsStreams = resource({
  name: 'HlsStream',
  title: 'HLS stream',
  tag: 'HLS streams',
  table: 'hls_streams',
  paths: {
    list: '/api/station/:station_id/hls_streams',
    one: '/api/station/:station_id/hls_stream/:id'
  },
  access: { read: 'view station management', write: 'manage station mounts' },
  fields: {
    name: custom(
      v.pipe(
        mountPath,
        v.check(path => path !== '', problem('blank', 'must not be empty.')),
        v.minLength(2, problem('too_short', 'must have at least 2 characters.'))
      ),
      {
        schema: { type: 'string', minLength: 2, maxLength: 100 },
        about: 'The path, unique per station.',
        example: '/radio.mp3'
      }
    ),
    display_name: text({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'What listeners read; made from path, bitrate and format when empty.',
      example: 'Main stream'
    }),
    is_visible_on_public_pages: flag({ fallback: true, about: 'Whether now playing lists it.' }),
    is_default: flag({
      fallback: false,
      about: 'The one that listeners get unless they choose; one per station.'
    }),
    is_public: flag({ fallback: false, about: 'Whether public directories list it.' }),
    fallback_mount: custom(mountPath, {
      fallback: '',
      schema: { type: 'string', maxLength: 100 },
      about: 'Where listeners go when it ends.',
      example: '/silence.mp3'
    }),
    relay_url: privateAddress(
      webAddress({ max: 255, about: 'A stream that is relayed instead of the own sound.' })
    ),
    authhash: text({ max: 255, fallback: '', about: 'The hash by which a directory knows the stream.' }),
    max_listener_duration: integer({
      min: 0,
      max: 2_147_483_647,
      fallback: 0,
      about: 'Seconds after which a listener is disconnected; 0: never.'
    }),
    enable_autodj: flag({ fallback: true, about: 'Whether the AutoDJ plays to it.' }),
    autodj_format: choice(['mp3', 'ogg', 'aac', 'opus', 'flac'], {
      fallback: 'mp3',
      about: 'The format of the sound.'
    }),
    autodj_bitrate: integer({ min: 0, max: 10_000, fallback: 128, about: 'kbit/s; ignored for flac.' }),
    custom_listen_url: webAddress({ max: 255, about: 'Where listeners find it, if not at its path.' }),
    frontend_config: namedValues({ max: 50, about: 'Settings for the streaming server; kept as they are.' }),
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
  search: ['name', 'display_name'],
  sort: ['id', 'name', 'display_name', 'enable_autodj'],
  order: 'id',
  unique: { hls_streams_name: 'name' },
  shows: 'station'
})

type HlsFields = typeof hlsStreams.fields
type StreamName = Pick<
  StoredRecord<HlsFields>,
  'name' | 'display_name' | 'enable_autodj' | 'autodj_bitrate' | 'autodj_format'
>

const shownName = (stream: StreamName) =>
  mountName({
    path: stream.name,
    displayName: stream.display_name,
    hasAutodj: stream.enable_autodj,
    bitrate: stream.autodj_bitrate,
    format: stream.autodj_format
  })

const rules: ResourceRules<HlsFields> = {
  async ahead({ services, station, id, values: { relay_url: url } }) {
    if (!url) return []
    const [same] = await services.reads`
      select from hls_streams where id = ${id} and station_id = ${station?.id ?? null} and relay_url = ${url}`
    return same ? [] : targetProblems(services, [{ field: 'relay_url', url }])
  },
  async prepare(write) {
    const { values, before } = write
    // The made name that was read and sent back is not a name of its own.
    if (before && values.display_name === shownName({ ...before, display_name: '' })) values.display_name = ''
    const problems = await limitProblems(write)
    if (problems.length === 0) await settleDefault(write)
    return problems
  },
  shown: rows => rows.map(row => ({ display_name: shownName(row) })),
  async deleted({ tx, station, before }) {
    if (before.is_default && station) await handDefaultOn(tx, station.id, before.id)
  }
}

async function limitProblems({ tx, station, before, values, sent }: Write<HlsFields>): Promise<FieldError[]> {
  const [limits] = await tx<{ maxBitrate: number; maxStreams: number; streams: number }[]>`
    select max_bitrate as "maxBitrate", max_hls_streams as "maxStreams",
      (select count(*) from hls_streams where station_id = s.id) as streams
    from stations s where id = ${station?.id ?? null}`
  if (!limits) return []
  const { maxBitrate, maxStreams, streams } = limits
  const isBitrateMeant =
    values.autodj_format !== 'flac' && (sent.has('autodj_bitrate') || sent.has('autodj_format'))
  return [
    ...(!before && maxStreams > 0 && streams >= maxStreams
      ? [{ field: '', code: 'limit_reached', message: `The station may have at most ${maxStreams} streams.` }]
      : []),
    ...(isBitrateMeant && maxBitrate > 0 && values.autodj_bitrate > maxBitrate
      ? [
          {
            field: 'autodj_bitrate',
            code: 'out_of_range',
            message: `autodj_bitrate must be at most ${maxBitrate}, the limit of the station.`
          }
        ]
      : [])
  ]
}

/**
 * Exactly one default per station: whoever takes the flag takes it from the other, whoever drops it hands it
 * on.
 */
async function settleDefault({ tx, station, before, values }: Write<HlsFields>): Promise<void> {
  if (!station) return
  const [current] = await tx<{ id: number }[]>`
    select id from hls_streams where station_id = ${station.id} and is_default`
  if (!current) values.is_default = true
  if (values.is_default && current && current.id !== before?.id)
    await tx`update hls_streams set is_default = false where id = ${current.id}`
  if (!values.is_default && before?.is_default) {
    const [heir] = await tx<{ id: number }[]>`
      select id from hls_streams
      where station_id = ${station.id} and id <> ${before.id} and is_visible_on_public_pages order by id limit 1`
    if (!heir) values.is_default = true
    else {
      await tx`update hls_streams set is_default = false where id = ${before.id}`
      await tx`update hls_streams set is_default = true where id = ${heir.id}`
    }
  }
}

/** After the default is gone: to the first visible stream, else to the first of all. */
async function handDefaultOn(tx: Tx, stationId: number, goneId: number): Promise<void> {
  await tx`
    update hls_streams set is_default = true where id = (
      select id from hls_streams where station_id = ${stationId} and id <> ${goneId}
      order by is_visible_on_public_pages desc, id limit 1)`
}

export const hlsStreamRoutes = resourceRoutes(hlsStreams, rules)
