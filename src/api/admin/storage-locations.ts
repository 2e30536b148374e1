import pLimit from 'p-limit'

import {
  choice,
  type Field,
  fixed,
  readOnly,
  integer,
  privateAddress,
  secret,
  text,
  webAddress
} from '../../fields/field.ts'
import { isInsideRoots, resolveInside } from '../../runtime/contained-files.ts'
import { ApiError, type FieldError, TooManyRequests } from '../../runtime/errors.ts'
import { StorageFault, type StorageFaultReason } from '../../storage/fault.ts'
import { locationIdentity, locationUri, normalizePath, type StorageLocation } from '../../storage/location.ts'
import {
  allowedRoots,
  blankLocation,
  type StoredLocation,
  type LocationRecord,
  openStoredSecret,
  openLocation,
  passwordTarget,
  withoutSecrets,
  recordColumns
} from '../../storage/record.ts'
import { resolveStorageAlerts } from '../../storage/refresh.ts'
import { capacityOf, formatSize, isFull, parseSize, usedPercent } from '../../storage/size.ts'
import { runStorageTask } from '../../storage/tasks.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import {
  type WriteRequest,
  type RenderContext,
  type ResourceRules,
  type StoredRecord,
  resource,
  type Write
} from '../core/resource.ts'

const types = ['backup', 'station_media', 'station_recordings', 'station_podcasts'] as const

/** Where stations point to a location of each type. */
const uses = {
  station_media: 'media_storage_location_id',
  station_recordings: 'recordings_storage_location_id',
  station_podcasts: 'podcasts_storage_location_id'
} as const

const size = (about: string, example: string) =>
  readOnly<string>({ schema: { type: 'string' }, about, example })

const shown = <Value>(field: Field<Value>): Field<Value> => ({ ...field, isStored: false })

/** Places where media, recordings, podcasts and backups are kept. */
export const storageLocations = resource({
  name: 'StorageLocation',
  title: 'storage location',
  tag: 'Storage locations',
  table: 'storage_locations',
  paths: { list: '/api/admin/storage_locations', one: '/api/admin/storage_location/:id' },
  access: { read: 'administer storage locations', write: 'administer storage locations' },
  fields: {
    links: readOnly<object>({
      schema: { type: 'object', additionalProperties: { type: 'string', format: 'uri' } },
      about: 'Addresses of the record.'
    }),
    type: fixed(choice(types, { about: 'What it keeps; fixed once it is there.' })),
    adapter: fixed(choice(['local', 's3', 'dropbox', 'sftp'], { about: 'How it is reached; fixed.' })),
    path: text({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'The folder.',
      example: '/srv/radio/media'
    }),
    s3CredentialKey: text({ max: 255, fallback: '', about: 'The access key.' }),
    s3CredentialSecret: secret({ max: 255, about: 'The secret of the access key.' }),
    s3Region: text({ max: 150, fallback: '', about: 'The region.', example: 'eu-central-1' }),
    s3Version: text({ max: 150, fallback: 'latest', about: 'The version of the API.' }),
    s3Bucket: text({ max: 255, fallback: '', about: 'The bucket.' }),
    s3Endpoint: privateAddress(webAddress({ max: 255, about: "The server, if not Amazon's." })),
    dropboxAppKey: text({ max: 50, fallback: '', about: 'The key of the app.' }),
    dropboxAppSecret: secret({ max: 150, about: 'The secret of the app.' }),
    dropboxAuthToken: secret({ max: 255, about: 'The token that opens the Dropbox.' }),
    sftpHost: text({ max: 255, fallback: '', isTrimmed: true, about: 'The server.' }),
    sftpUsername: text({ max: 255, fallback: '', about: 'The user.' }),
    sftpPassword: secret({ max: 255, about: 'The password.' }),
    sftpPort: integer({ min: 0, max: 65_535, fallback: 0, about: 'The port; 0 means 22.' }),
    sftpPrivateKey: secret({ max: 16_384, isLong: true, about: 'The private key.' }),
    sftpPrivateKeyPassPhrase: secret({ max: 255, about: 'What opens the private key.' }),
    storageQuota: shown(
      text({ max: 64, fallback: '', about: 'The most it may hold; empty: no quota.', example: '50.0 GB' })
    ),
    storageQuotaBytes: text({ max: 64, fallback: '', about: 'The same in bytes.', example: '53687091200' }),
    storageUsed: size('What it holds.', '1.5 GB'),
    storageUsedBytes: size('The same in bytes.', '1610612736'),
    storageAvailable: size('What it can hold; empty: unknown.', '50.0 GB'),
    storageAvailableBytes: size('The same in bytes.', '53687091200'),
    storageUsedPercent: size('Whole percent.', '3'),
    isFull: size('Whether nothing more fits.', 'false'),
    uri: size('Its address.', '/srv/radio/media'),
    stations: readOnly<string[]>({
      schema: { type: 'array', items: { type: 'string' } },
      about: 'Names of the stations that use it.'
    })
  },
  search: ['path', 's3Bucket'],
  sort: ['id', 'type', 'path'],
  filters: ['type'],
  order: 'id',
  unique: { storage_locations_place: 'path' }
})

type StorageFields = typeof storageLocations.fields

const rules: ResourceRules<StorageFields> = {
  ahead: async plan => (['1', 'true'].includes(plan.query.get('check') ?? '') ? check(plan) : []),
  prepare(write) {
    return [...settleQuota(write), ...settlePath(write), ...missingSettings(write.values)]
  },
  async wrote({ tx, before, values }, id) {
    const isMoved =
      before === null || locationIdentity(withoutSecrets(before)) !== locationIdentity(withoutSecrets(values))
    await tx`update storage_locations set place = ${locationIdentity(withoutSecrets(values))} where id = ${id}`
    // Only who sends a password says where it may go.
    if (values.sftpPassword !== before?.sftpPassword)
      await tx`update storage_locations set sftp_password_for = ${passwordTarget(values)} where id = ${id}`
    if (isMoved) await tx`update storage_locations set measure_at = now() where id = ${id}`
  },
  async deleting({ tx, before }) {
    const names = await stationsOf(tx, [before])
    const stations = names.get(before.id) ?? []
    if (stations.length === 0) return
    const message = `The storage location is used by ${stations.slice(0, 10).join(', ')}.`
    throw ApiError.ofFields([{ field: 'stations', code: 'in_use', message }], 'conflict')
  },
  deleted: ({ tx, before }) => resolveStorageAlerts(tx, before.id),
  shown: render
}

/** Both quota fields are views of one value; see `storageQuotaBytes` for what is kept. */
function settleQuota({ before, values, sent }: Write<StorageFields>): FieldError[] {
  const stored = BigInt(before?.storageQuotaBytes || '0')
  const isBytesNew = sent.has('storageQuotaBytes') && values.storageQuotaBytes !== bytesText(stored)
  const isTextNew = sent.has('storageQuota') && values.storageQuota !== sizeText(stored)
  const isBytesMeant = isBytesNew && (values.storageQuotaBytes !== '' || !isTextNew)
  if (!isBytesMeant && !isTextNew) {
    values.storageQuotaBytes = String(stored)
    return []
  }
  const field = isBytesMeant ? 'storageQuotaBytes' : 'storageQuota'
  const quota = parseSize(values[field])
  if (quota === null)
    return [{ field, code: 'invalid_format', message: `${field} must be a size like 50 GB or 53687091200.` }]
  if (quota > 9_223_372_036_854_775_807n)
    return [{ field, code: 'out_of_range', message: `${field} is too large.` }]
  values.storageQuotaBytes = String(quota)
  return []
}

const bytesText = (quota: bigint) => (quota === 0n ? '' : String(quota))
const sizeText = (quota: bigint) => (quota === 0n ? '' : formatSize(quota))

function settlePath({ values, services }: Write<StorageFields>): FieldError[] {
  const { adapter } = values
  const path = normalizePath(adapter, values.path)
  if (path === null) {
    const isAbsolute = adapter === 'local' || adapter === 'sftp'
    const code = values.path === '' && isAbsolute ? 'required' : 'invalid_format'
    return [{ field: 'path', code, message: `path must be ${isAbsolute ? 'an absolute' : 'a'} path.` }]
  }
  values.path = path
  const roots = allowedRoots(services.config)
  if (adapter !== 'local' || isInsideRoots(path, roots)) return []
  return [{ field: 'path', code: 'out_of_range', message: `path must lie below one of ${roots.join(', ')}.` }]
}

function missingSettings(values: LocationRecord): FieldError[] {
  const required = (...names: readonly (keyof LocationRecord)[]) =>
    names
      .filter(name => values[name] === '')
      .map(name => ({ field: name, code: 'required', message: `${name} is required.` }))
  switch (values.adapter) {
    case 's3':
      return required('s3Bucket', 's3CredentialKey', 's3CredentialSecret')
    case 'dropbox':
      return required('dropboxAuthToken')
    case 'sftp':
      return [
        ...required('sftpHost', 'sftpUsername'),
        ...(values.sftpPrivateKey === '' ? required('sftpPassword') : [])
      ]
    case 'local':
      return []
    default:
      return values.adapter satisfies never
  }
}

const checkMs = 5_000
/** Each look takes a thread for seconds. */
const checks = pLimit(2)
const waitingAtMost = 8

/**
 * Reaches for the place, where the request asked for that. What is wrong with the record itself is told
 * later.
 */
async function check({ services, id, values }: WriteRequest<StorageFields>): Promise<FieldError[]> {
  const { reads: sql, secrets, config } = services
  const [stored] =
    id === null
      ? []
      : await sql<StoredLocation[]>`select ${recordColumns(sql)} from storage_locations where id = ${id}`
  if (id !== null && !stored) throw new ApiError('not-found')
  const sent = Object.entries(values).filter(([, value]) => value !== '' || !stored)
  const record: LocationRecord = { ...blankLocation, ...stored, ...Object.fromEntries(sent) }
  const path = normalizePath(record.adapter, record.path)
  if (path === null || missingSettings(record).length > 0) return []
  const location = openLocation({ ...record, path }, field => {
    const isKept = stored !== undefined && record[field] === stored[field]
    return isKept
      ? openStoredSecret({ ...record, sftpPasswordFor: stored.sftpPasswordFor }, field, secrets)
      : record[field]
  })
  if (checks.pendingCount >= waitingAtMost) throw new TooManyRequests(checkMs / 1_000)
  try {
    if (location.adapter === 'local' && (await resolveInside(path, allowedRoots(config))) === null)
      throw new StorageFault('denied')
    const task = { work: 'check', location, timeoutMs: checkMs } as const
    await checks(() => runStorageTask(task, AbortSignal.timeout(2 * checkMs)))
    return []
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error
    if (error.reason === 'incomplete') {
      const message = 'sftpPassword is required again, because the server or the user changed.'
      return [{ field: 'sftpPassword', code: 'required', message }]
    }
    const isDenied = error.reason === 'denied' || error.reason === 'bad_key'
    const field = blamed(location.adapter, error.reason)
    return [{ field, code: isDenied ? 'invalid_format' : 'not_found', message: error.message }]
  }
}

/** The field that an operator has to look at. */
function blamed(adapter: StorageLocation['adapter'], reason: StorageFaultReason): string {
  if (reason === 'no_folder' || reason === 'not_a_folder' || adapter === 'local') return 'path'
  if (adapter === 'dropbox') return 'dropboxAuthToken'
  if (adapter === 's3')
    return reason === 'denied' ? 's3CredentialKey' : reason === 'no_bucket' ? 's3Bucket' : 's3Endpoint'
  return reason === 'denied' ? 'sftpUsername' : reason === 'bad_key' ? 'sftpPrivateKey' : 'sftpHost'
}

async function render(rows: readonly StoredRecord<StorageFields>[], { services, sql }: RenderContext) {
  const ids = rows.map(({ id }) => id)
  const [measured, stations] = await Promise.all([
    sql<{ id: number; used: string; free: string | null }[]>`
      select id, used_bytes as used, free_bytes as free from storage_locations where id = any(${ids}::bigint[])`,
    stationsOf(sql, rows)
  ])
  const usage = new Map(measured.map(row => [row.id, row]))
  return rows.map(row => {
    const quota = BigInt(row.storageQuotaBytes)
    const used = BigInt(usage.get(row.id)?.used ?? '0')
    const free = usage.get(row.id)?.free ?? null
    const available = capacityOf(quota, used, free === null ? null : BigInt(free))
    return {
      links: { self: `${services.config.BASE_URL}/api/admin/storage_location/${row.id}` },
      storageQuota: sizeText(quota),
      storageQuotaBytes: bytesText(quota),
      storageUsed: formatSize(used),
      storageUsedBytes: String(used),
      storageAvailable: available === null ? '' : formatSize(available),
      storageAvailableBytes: available === null ? '' : String(available),
      storageUsedPercent: String(usedPercent(used, available)),
      isFull: String(isFull(used, available)),
      uri: locationUri(withoutSecrets(row)),
      stations: stations.get(row.id) ?? []
    }
  })
}

/** Names of the stations that use locations, by id. */
async function stationsOf(
  sql: RenderContext['services']['sql'] | Write<StorageFields>['tx'],
  rows: readonly StoredRecord<StorageFields>[]
) {
  const names = new Map<number, string[]>()
  for (const [type, column] of Object.entries(uses)) {
    const ids = rows.filter(row => row.type === type).map(({ id }) => id)
    if (ids.length === 0) continue
    const stations = await sql<{ id: number; name: string }[]>`
      select ${sql(column)} as id, name from stations where ${sql(column)} = any(${ids}::bigint[]) order by id`
    for (const { id, name } of stations) names.set(id, [...(names.get(id) ?? []), name])
  }
  return names
}

const checkParameter = {
  check: {
    type: 'boolean',
    description: 'Reach for the place before it is saved; it has to answer within seconds.'
  }
}

export const storageLocationRoutes = resourceRoutes(storageLocations, rules).map(route => {
  const isWrite = route.method === 'POST' || route.method === 'PUT'
  return isWrite ? { ...route, operation: { ...route.operation, query: checkParameter } } : route
})
