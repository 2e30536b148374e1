import { dirname, join } from 'node:path'

import { storageLocationsResource } from '../../../api/admin/storage-locations.ts'
import {
  blankLocation,
  passwordTarget,
  toLocationWithoutSecrets
} from '../../../library/storage/location-record.ts'
import {
  locationIdentity,
  normalizeStoragePath,
  type StorageAdapter
} from '../../../library/storage/location.ts'
import { isInsideRoots } from '../../../platform/runtime/contained-files.ts'
import type { Tx } from '../../../stores/db/sql.ts'
import { toValidRow } from '../accept-record.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import { type AzuracastMigration, migrateSourceTable } from '../migration.ts'
import { type RowReader, type SourceRow, scalarToText } from '../source.ts'

interface MappedLocation {
  readonly sourceId: number
  readonly row: RowToInsert
  readonly type: string
  readonly place: string
}

/** Fields that are taken as they are, by the column in AzuraCast. */
const plainFields = (text: (column: string) => string) => ({
  s3CredentialKey: text('s3_credential_key'),
  s3CredentialSecret: text('s3_credential_secret'),
  s3Region: text('s3_region'),
  s3Version: text('s3_version'),
  s3Bucket: text('s3_bucket'),
  s3Endpoint: text('s3_endpoint'),
  dropboxAppKey: text('dropbox_app_key'),
  dropboxAppSecret: text('dropbox_app_secret'),
  dropboxAuthToken: text('dropbox_auth_token'),
  sftpHost: text('sftp_host'),
  sftpUsername: text('sftp_username'),
  sftpPassword: text('sftp_password'),
  sftpPrivateKey: text('sftp_private_key'),
  sftpPrivateKeyPassPhrase: text('sftp_private_key_pass_phrase')
})

/** Takes storage locations; one of a place that Cuewire knows is that one. */
export async function migrateStorageLocations(migration: AzuracastMigration): Promise<void> {
  await migrateSourceTable<MappedLocation>(migration, {
    table: 'storage_location',
    kind: 'storage',
    title: 'storage locations',
    convert: (row, read, sourceId) => mapLocation(migration, row, read, sourceId),
    async write(tx, locations) {
      for (const location of locations) await writeLocation(migration, tx, location)
    }
  })
}

async function writeLocation(
  { ids }: AzuracastMigration,
  tx: Tx,
  { sourceId, row, type, place }: MappedLocation
) {
  const [known] = await tx<{ id: number }[]>`
    select id from storage_locations where type = ${type} and place = ${place}`
  if (known) {
    if (known.id !== sourceId) await ids.equate(tx, 'storage', sourceId, known.id)
    return
  }
  const [id] = await ids.assign(tx, 'storage', [{ id: sourceId }])
  await insertRows(tx, 'storage_locations', [{ id, ...row, place }])
}

function mapLocation(
  { secrets, report, copyMediaTo, storageRoots }: AzuracastMigration,
  row: SourceRow,
  read: RowReader,
  sourceId: number
): MappedLocation | null {
  const text = (column: string) => read.text(row, column) ?? ''
  const adapter = adapterOf(text('adapter'))
  const type = text('type')
  const sourcePath = text('path')
  const name = `${sourceId} (${adapter} ${sourcePath})`
  const isCopied = copyMediaTo !== null && adapter === 'local' && type === 'station_media'
  const path = isCopied ? copiedFolderPath(copyMediaTo, sourcePath) : sourcePath
  const normalPath = normalizeStoragePath(adapter, path)
  if (normalPath === null) {
    report.leave('storage locations with an unusable path', name)
    return null
  }
  if (adapter === 'local' && !isInsideRoots(normalPath, storageRoots))
    report.advise(`STORAGE_ROOTS must include ${proposeStorageRoot(normalPath)}`)
  const body = {
    type,
    adapter,
    path: normalPath,
    sftpPort: read.number(row, 'sftp_port'),
    storageQuotaBytes: /^\d+$/.test(text('storage_quota')) ? text('storage_quota') : '0',
    ...plainFields(text)
  }
  if (body.storageQuotaBytes !== (text('storage_quota') || '0'))
    report.leave(
      'settings of storage locations that are not accepted',
      `${name}: storage_quota ${text('storage_quota')}`
    )
  const accepted = toValidRow(storageLocationsResource, body, secrets, problem =>
    report.leave('settings of storage locations that are not accepted', `${name}: ${problem}`)
  )
  if (!accepted) return null
  if (read.flag(row, 's3_use_path_style'))
    report.leave('settings of storage locations without an equivalent', `${name}: s3_use_path_style`)
  if (text('dropbox_refresh_token') !== '')
    report.leave('settings of storage locations without an equivalent', `${name}: dropbox_refresh_token`)
  const record = {
    ...blankLocation,
    adapter,
    path: normalPath,
    s3Bucket: body.s3Bucket,
    s3Endpoint: scalarToText(accepted['s3_endpoint']),
    dropboxAppKey: body.dropboxAppKey,
    sftpHost: body.sftpHost,
    sftpUsername: body.sftpUsername,
    sftpPort: body.sftpPort
  }
  return {
    sourceId,
    type,
    place: locationIdentity(toLocationWithoutSecrets(record)),
    row: { ...accepted, sftp_password_for: body.sftpPassword ? passwordTarget(record) : '' }
  }
}

/** The folder of all stations, such as `/var/azuracast/stations`; never the top of the file system. */
export function proposeStorageRoot(path: string): string {
  const top = dirname(dirname(path))
  return top === '/' ? path : top
}

/** The folder of a copy: the last two parts of the path, such as `my_station/media`. */
export function copiedFolderPath(folder: string, path: string): string {
  return join(
    folder,
    ...path
      .split('/')
      .filter(part => !['', '.', '..'].includes(part))
      .slice(-2)
  )
}

const adapters: readonly StorageAdapter[] = ['local', 's3', 'dropbox', 'sftp']
const adapterOf = (name: string): StorageAdapter => adapters.find(each => each === name) ?? 'local'
