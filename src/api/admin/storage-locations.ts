import { locationIdentity, locationUri, normalizePath } from '../../library/storage/location.ts'
import { allowedRoots, passwordTarget, withoutSecrets } from '../../library/storage/record.ts'
import { resolveStorageAlerts } from '../../library/storage/refresh.ts'
import { computeCapacity, formatSize, isFull, parseSize, usedPercent } from '../../library/storage/size.ts'
import {
  choice,
  fixed,
  readOnly,
  integer,
  maskedAddress,
  secret,
  text,
  unaudited,
  webAddress
} from '../../model/fields/field.ts'
import { isInsideRoots } from '../../platform/runtime/contained-files.ts'
import { ApiError, fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import {
  type Deletion,
  type RenderContext,
  type ResourceHooks,
  type StoredRecord,
  resource,
  type Write
} from '../core/resource.ts'
import { checkConnection, findMissingSettings } from './storage-check.ts'

const types = ['backup', 'station_media', 'station_recordings', 'station_podcasts'] as const

/** The fields and columns of stations that refer to a location, each with the type of the location. */
export const storageReferences = [
  ['media_storage_location_id', 'station_media'],
  ['recordings_storage_location_id', 'station_recordings'],
  ['podcasts_storage_location_id', 'station_podcasts']
] as const

const computed = (about: string, example: string) =>
  readOnly<string>({ schema: { type: 'string' }, about, example })

/** Folders and buckets for media, recordings, podcasts and backups. */
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
      about: 'URLs of the record.'
    }),
    type: fixed(choice(types, { about: 'Its content; cannot be changed.' })),
    adapter: fixed(choice(['local', 's3', 'dropbox', 'sftp'], { about: 'The protocol; cannot be changed.' })),
    path: text({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'The folder.',
      example: '/srv/radio/media'
    }),
    s3CredentialKey: unaudited(text({ max: 255, fallback: '', about: 'The access key.' })),
    s3CredentialSecret: secret({ max: 255, about: 'The secret of the access key.' }),
    s3Region: text({ max: 150, fallback: '', about: 'The region.', example: 'eu-central-1' }),
    s3Version: text({ max: 150, fallback: 'latest', about: 'The version of the API.' }),
    s3Bucket: text({ max: 255, fallback: '', about: 'The bucket.' }),
    s3Endpoint: maskedAddress(
      webAddress({ max: 255, about: 'The URL of a server other than that of Amazon.' })
    ),
    dropboxAppKey: unaudited(text({ max: 50, fallback: '', about: 'The key of the app.' })),
    dropboxAppSecret: secret({ max: 150, about: 'The secret of the app.' }),
    dropboxAuthToken: secret({ max: 255, about: 'The access token.' }),
    sftpHost: text({ max: 255, fallback: '', isTrimmed: true, about: 'The server.' }),
    sftpUsername: text({ max: 255, fallback: '', about: 'The user.' }),
    sftpPassword: secret({ max: 255, about: 'The password.' }),
    sftpPort: integer({ min: 0, max: 65_535, fallback: 0, about: 'The port; 0 means 22.' }),
    sftpPrivateKey: secret({ max: 16_384, isLong: true, about: 'The private key.' }),
    sftpPrivateKeyPassPhrase: secret({ max: 255, about: 'The passphrase of the private key.' }),
    storageQuota: {
      ...text({ max: 64, fallback: '', about: 'The maximum size; empty: no quota.', example: '50.0 GB' }),
      isStored: false
    },
    storageQuotaBytes: text({ max: 64, fallback: '', about: 'In bytes.', example: '53687091200' }),
    storageUsed: computed('The used space.', '1.5 GB'),
    storageUsedBytes: computed('In bytes.', '1610612736'),
    storageAvailable: computed('The available space; empty: unknown.', '50.0 GB'),
    storageAvailableBytes: computed('In bytes.', '53687091200'),
    storageUsedPercent: computed('The used space in percent.', '3'),
    isFull: computed('Whether it is full.', 'false'),
    uri: computed('The URI of the location.', '/srv/radio/media'),
    stations: readOnly<string[]>({
      schema: { type: 'array', items: { type: 'string' } },
      about: 'Names of the stations that use it.'
    })
  },
  label: 'path',
  search: ['path', 's3Bucket'],
  sort: ['id', 'type', 'path'],
  filters: ['type'],
  order: 'id',
  unique: { storage_locations_place: 'path' }
})

type StorageFields = typeof storageLocations.fields

const hooks: ResourceHooks<StorageFields> = {
  validate: async request =>
    ['1', 'true'].includes(request.query.get('check') ?? '') ? checkConnection(request) : [],
  async beforeWrite(write) {
    if (write.values === null) {
      await assertUnused(write)
      return []
    }
    return [...applyQuota(write), ...applyPath(write), ...findMissingSettings(write.values)]
  },
  async afterWrite({ tx, before, values }, id) {
    if (values === null) {
      await resolveStorageAlerts(tx, id)
      return
    }
    const isMoved =
      before === null || locationIdentity(withoutSecrets(before)) !== locationIdentity(withoutSecrets(values))
    await tx`update storage_locations set place = ${locationIdentity(withoutSecrets(values))} where id = ${id}`
    // A stored password is sent only to the server that it was entered for.
    if (values.sftpPassword !== before?.sftpPassword)
      await tx`update storage_locations set sftp_password_for = ${passwordTarget(values)} where id = ${id}`
    if (isMoved) await tx`update storage_locations set measure_at = now() where id = ${id}`
  },
  render
}

/** Throws 409 if a station uses the location. */
async function assertUnused({ tx, before }: Deletion<StorageFields>): Promise<void> {
  const stations = (await readStationNames(tx, [before])).get(before.id) ?? []
  if (stations.length === 0) return
  const message = `The storage location is used by ${stations.slice(0, 10).join(', ')}.`
  throw ApiError.ofFields([{ field: 'stations', code: 'in_use', message }], 'conflict')
}

/** Both quota fields render one value, which is stored in `storageQuotaBytes`. */
function applyQuota({ before, values, sent }: Write<StorageFields>): FieldError[] {
  const stored = BigInt(before?.storageQuotaBytes || '0')
  const isBytesNew = sent.has('storageQuotaBytes') && values.storageQuotaBytes !== bytesText(stored)
  const isTextNew = sent.has('storageQuota') && values.storageQuota !== sizeText(stored)
  const usesBytes = isBytesNew && (values.storageQuotaBytes !== '' || !isTextNew)
  const field = usesBytes ? 'storageQuotaBytes' : 'storageQuota'
  const quota = usesBytes || isTextNew ? parseSize(values[field]) : stored
  if (quota === null)
    return [fieldError(field, 'invalid_format', 'must be a size like 50 GB or 53687091200.')]
  if (quota > 9_223_372_036_854_775_807n) return [fieldError(field, 'out_of_range', 'is too large.')]
  values.storageQuotaBytes = String(quota)
  return []
}

const bytesText = (quota: bigint) => (quota === 0n ? '' : String(quota))
const sizeText = (quota: bigint) => (quota === 0n ? '' : formatSize(quota))

function applyPath({ values, services }: Write<StorageFields>): FieldError[] {
  const { adapter } = values
  const path = normalizePath(adapter, values.path)
  if (path === null) {
    const isAbsolute = adapter === 'local' || adapter === 'sftp'
    const code = values.path === '' && isAbsolute ? 'required' : 'invalid_format'
    return [fieldError('path', code, `must be ${isAbsolute ? 'an absolute' : 'a'} path.`)]
  }
  values.path = path
  const roots = allowedRoots(services.config)
  if (adapter !== 'local' || isInsideRoots(path, roots)) return []
  return [fieldError('path', 'out_of_range', `must lie below one of ${roots.join(', ')}.`)]
}

async function render(rows: readonly StoredRecord<StorageFields>[], { services, sql }: RenderContext) {
  const ids = rows.map(({ id }) => id)
  const [measured, stations] = await Promise.all([
    sql<{ id: number; used: string; free: string | null }[]>`
      select id, used_bytes as used, free_bytes as free from storage_locations where id = any(${ids}::bigint[])`,
    readStationNames(sql, rows)
  ])
  const usage = new Map(measured.map(row => [row.id, row]))
  return rows.map(row => {
    const quota = BigInt(row.storageQuotaBytes)
    const used = BigInt(usage.get(row.id)?.used ?? '0')
    const free = usage.get(row.id)?.free ?? null
    const available = computeCapacity(quota, used, free === null ? null : BigInt(free))
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

/** Reads the names of the stations that use locations, by the id of the location. */
async function readStationNames(sql: RenderContext['sql'], rows: readonly StoredRecord<StorageFields>[]) {
  const names = new Map<number, string[]>()
  for (const [column, type] of storageReferences) {
    const ids = rows.filter(row => row.type === type).map(({ id }) => id)
    if (ids.length === 0) continue
    const stations = await sql<{ id: number; name: string }[]>`
      select ${sql(column)} as id, name from stations where ${sql(column)} = any(${ids}::bigint[]) order by id`
    for (const { id, name } of stations) names.set(id, [...(names.get(id) ?? []), name])
  }
  return names
}

const checkParameter = {
  check: { type: 'boolean', description: 'Test the connection first; it must succeed within seconds.' }
}

export const storageLocationRoutes = resourceRoutes(storageLocations, hooks).map(route => {
  const isWrite = route.method === 'POST' || route.method === 'PUT'
  return isWrite ? { ...route, operation: { ...route.operation, query: checkParameter } } : route
})
