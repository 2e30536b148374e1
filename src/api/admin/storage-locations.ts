import {
  allowedStorageRoots,
  passwordTarget,
  toLocationWithoutSecrets
} from '../../library/storage/location-record.ts'
import { locationIdentity, locationUri, normalizeStoragePath } from '../../library/storage/location.ts'
import { resolveStorageAlerts } from '../../library/storage/measure-locations.ts'
import {
  computeCapacity,
  formatSize,
  isStorageFull,
  parseSize,
  usedPercent
} from '../../library/storage/size.ts'
import {
  choiceField,
  fixedField,
  readOnlyField,
  integerField,
  maskedAddressField,
  secretField,
  textField,
  unauditedField,
  webAddressField
} from '../../model/fields/field.ts'
import { isInsideRoots } from '../../platform/runtime/contained-files.ts'
import { ApiError, fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import {
  type ResourceDeletion,
  type RecordRenderContext,
  type ResourceHooks,
  type StoredRecord,
  defineResource,
  type ResourceWrite
} from '../core/resource.ts'
import { findConnectionProblems, findMissingLocationFields } from './storage-check.ts'

const types = ['backup', 'station_media', 'station_recordings', 'station_podcasts'] as const

/** The fields and columns of stations that refer to a location, each with the type of the location. */
export const storageLocationReferences = [
  ['media_storage_location_id', 'station_media'],
  ['recordings_storage_location_id', 'station_recordings'],
  ['podcasts_storage_location_id', 'station_podcasts']
] as const

const computed = (about: string, example: string) =>
  readOnlyField<string>({ schema: { type: 'string' }, about, example })

/** Folders and buckets for media, recordings, podcasts and backups. */
export const storageLocationsResource = defineResource({
  name: 'StorageLocation',
  title: 'storage location',
  tag: 'Storage locations',
  table: 'storage_locations',
  paths: { list: '/api/admin/storage_locations', one: '/api/admin/storage_location/:id' },
  access: { read: 'administer storage locations', write: 'administer storage locations' },
  fields: {
    links: readOnlyField<object>({
      schema: { type: 'object', additionalProperties: { type: 'string', format: 'uri' } },
      about: 'URLs of the record.'
    }),
    type: fixedField(choiceField(types, { about: 'Its content; cannot be changed.' })),
    adapter: fixedField(
      choiceField(['local', 's3', 'dropbox', 'sftp'], { about: 'The protocol; cannot be changed.' })
    ),
    path: textField({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'The folder.',
      example: '/srv/radio/media'
    }),
    s3CredentialKey: unauditedField(textField({ max: 255, fallback: '', about: 'The access key.' })),
    s3CredentialSecret: secretField({ max: 255, about: 'The secret of the access key.' }),
    s3Region: textField({ max: 150, fallback: '', about: 'The region.', example: 'eu-central-1' }),
    s3Version: textField({ max: 150, fallback: 'latest', about: 'The version of the API.' }),
    s3Bucket: textField({ max: 255, fallback: '', about: 'The bucket.' }),
    s3Endpoint: maskedAddressField(
      webAddressField({ max: 255, about: 'The URL of a server other than that of Amazon.' })
    ),
    dropboxAppKey: unauditedField(textField({ max: 50, fallback: '', about: 'The key of the app.' })),
    dropboxAppSecret: secretField({ max: 150, about: 'The secret of the app.' }),
    dropboxAuthToken: secretField({ max: 255, about: 'The access token.' }),
    sftpHost: textField({ max: 255, fallback: '', isTrimmed: true, about: 'The server.' }),
    sftpUsername: textField({ max: 255, fallback: '', about: 'The user.' }),
    sftpPassword: secretField({ max: 255, about: 'The password.' }),
    sftpPort: integerField({ min: 0, max: 65_535, fallback: 0, about: 'The port; 0 means 22.' }),
    sftpPrivateKey: secretField({ max: 16_384, isLong: true, about: 'The private key.' }),
    sftpPrivateKeyPassPhrase: secretField({ max: 255, about: 'The passphrase of the private key.' }),
    storageQuota: {
      ...textField({
        max: 64,
        fallback: '',
        about: 'The maximum size; empty: no quota.',
        example: '50.0 GB'
      }),
      isStored: false
    },
    storageQuotaBytes: textField({ max: 64, fallback: '', about: 'In bytes.', example: '53687091200' }),
    storageUsed: computed('The used space.', '1.5 GB'),
    storageUsedBytes: computed('In bytes.', '1610612736'),
    storageAvailable: computed('The available space; empty: unknown.', '50.0 GB'),
    storageAvailableBytes: computed('In bytes.', '53687091200'),
    storageUsedPercent: computed('The used space in percent.', '3'),
    isFull: computed('Whether it is full.', 'false'),
    uri: computed('The URI of the location.', '/srv/radio/media'),
    stations: readOnlyField<string[]>({
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

type StorageFields = typeof storageLocationsResource.fields

const hooks: ResourceHooks<StorageFields> = {
  validate: async request =>
    ['1', 'true'].includes(request.query.get('check') ?? '') ? findConnectionProblems(request) : [],
  async beforeWrite(write) {
    if (write.values === null) {
      await assertUnused(write)
      return []
    }
    return [...applyQuota(write), ...applyPath(write), ...findMissingLocationFields(write.values)]
  },
  async afterWrite({ tx, before, values }, id) {
    if (values === null) {
      await resolveStorageAlerts(tx, id)
      return
    }
    const isMoved =
      before === null ||
      locationIdentity(toLocationWithoutSecrets(before)) !==
        locationIdentity(toLocationWithoutSecrets(values))
    await tx`update storage_locations set place = ${locationIdentity(toLocationWithoutSecrets(values))} where id = ${id}`
    // A stored password is sent only to the server that it was entered for.
    if (values.sftpPassword !== before?.sftpPassword)
      await tx`update storage_locations set sftp_password_for = ${passwordTarget(values)} where id = ${id}`
    if (isMoved) await tx`update storage_locations set measure_at = now() where id = ${id}`
  },
  render
}

/** Throws 409 if a station uses the location. */
async function assertUnused({ tx, before }: ResourceDeletion<StorageFields>): Promise<void> {
  const stations = (await readStationNames(tx, [before])).get(before.id) ?? []
  if (stations.length === 0) return
  const message = `The storage location is used by ${stations.slice(0, 10).join(', ')}.`
  throw ApiError.ofFields([{ field: 'stations', code: 'in_use', message }], 'conflict')
}

/** Both quota fields render one value, which is stored in `storageQuotaBytes`. */
function applyQuota({ before, values, sent }: ResourceWrite<StorageFields>): FieldError[] {
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

function applyPath({ values, services }: ResourceWrite<StorageFields>): FieldError[] {
  const { adapter } = values
  const path = normalizeStoragePath(adapter, values.path)
  if (path === null) {
    const isAbsolute = adapter === 'local' || adapter === 'sftp'
    const code = values.path === '' && isAbsolute ? 'required' : 'invalid_format'
    return [fieldError('path', code, `must be ${isAbsolute ? 'an absolute' : 'a'} path.`)]
  }
  values.path = path
  const roots = allowedStorageRoots(services.config)
  if (adapter !== 'local' || isInsideRoots(path, roots)) return []
  return [fieldError('path', 'out_of_range', `must lie below one of ${roots.join(', ')}.`)]
}

async function render(rows: readonly StoredRecord<StorageFields>[], { services, sql }: RecordRenderContext) {
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
      isFull: String(isStorageFull(used, available)),
      uri: locationUri(toLocationWithoutSecrets(row)),
      stations: stations.get(row.id) ?? []
    }
  })
}

/** Reads the names of the stations that use locations, by the id of the location. */
async function readStationNames(
  sql: RecordRenderContext['sql'],
  rows: readonly StoredRecord<StorageFields>[]
) {
  const names = new Map<number, string[]>()
  for (const [column, type] of storageLocationReferences) {
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

export const storageLocationRoutes = resourceRoutes(storageLocationsResource, hooks).map(route => {
  const isWrite = route.method === 'POST' || route.method === 'PUT'
  return isWrite ? { ...route, operation: { ...route.operation, query: checkParameter } } : route
})
