import { resolve } from 'node:path'

import type { Fragment, Sql } from '../db/sql.ts'
import { columnOf, sealingPurpose } from '../fields/column.ts'
import type { Adapter, StorageLocation } from './location.ts'

/** What is kept of a location, by the names of the interface; secrets are sealed. */
export interface LocationRecord {
  readonly adapter: Adapter
  readonly path: string
  readonly s3CredentialKey: string
  readonly s3CredentialSecret: string
  readonly s3Region: string
  readonly s3Bucket: string
  readonly s3Endpoint: string
  readonly dropboxAppKey: string
  readonly dropboxAppSecret: string
  readonly dropboxAuthToken: string
  readonly sftpHost: string
  readonly sftpUsername: string
  readonly sftpPassword: string
  readonly sftpPort: number
  readonly sftpPrivateKey: string
  readonly sftpPrivateKeyPassPhrase: string
}

/** A location of which nothing is known. */
export const blank: LocationRecord = {
  adapter: 'local',
  path: '',
  s3CredentialKey: '',
  s3CredentialSecret: '',
  s3Region: '',
  s3Bucket: '',
  s3Endpoint: '',
  dropboxAppKey: '',
  dropboxAppSecret: '',
  dropboxAuthToken: '',
  sftpHost: '',
  sftpUsername: '',
  sftpPassword: '',
  sftpPort: 0,
  sftpPrivateKey: '',
  sftpPrivateKeyPassPhrase: ''
}

/** The columns of a `LocationRecord`, for a select. */
export function recordColumns(sql: Sql): Fragment {
  return sql.unsafe(
    Object.keys(blank)
      .map(name => `${columnOf(name)} as "${name}"`)
      .join(', ')
  )
}

export type SecretField =
  | 's3CredentialSecret'
  | 'dropboxAppSecret'
  | 'dropboxAuthToken'
  | 'sftpPassword'
  | 'sftpPrivateKey'
  | 'sftpPrivateKeyPassPhrase'

/** What the secret of a field is sealed for. */
export function purposeOf(field: SecretField): string {
  return sealingPurpose('storage_locations', field)
}

/** The location as it is used; `open` gives the secret of a field in clear. */
export function openLocation(record: LocationRecord, open: (field: SecretField) => string): StorageLocation {
  const { adapter, path } = record
  switch (adapter) {
    case 'local':
      return { adapter, path }
    case 's3':
      return {
        adapter,
        path,
        bucket: record.s3Bucket,
        region: record.s3Region,
        endpoint: record.s3Endpoint,
        credentialKey: record.s3CredentialKey,
        credentialSecret: open('s3CredentialSecret')
      }
    case 'dropbox':
      return {
        adapter,
        path,
        appKey: record.dropboxAppKey,
        appSecret: open('dropboxAppSecret'),
        authToken: open('dropboxAuthToken')
      }
    case 'sftp':
      return {
        adapter,
        path,
        host: record.sftpHost,
        port: record.sftpPort,
        username: record.sftpUsername,
        password: open('sftpPassword'),
        privateKey: open('sftpPrivateKey'),
        privateKeyPassPhrase: open('sftpPrivateKeyPassPhrase')
      }
    default:
      return adapter satisfies never
  }
}

/** The location without its secrets: enough to tell where it is. */
export function placeOf(record: LocationRecord): StorageLocation {
  return openLocation(record, () => '')
}

/** Folders below which local locations may lie: the configured ones, and the program's own. */
export function allowedRoots(config: { STORAGE_ROOTS: readonly string[]; DATA_DIR: string }): string[] {
  return [...config.STORAGE_ROOTS, resolve(config.DATA_DIR, 'stations')]
}
