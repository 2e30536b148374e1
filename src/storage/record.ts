import { resolve } from 'node:path'

import type { Fragment, Sql } from '../db/sql.ts'
import { columnOf, sealingPurpose } from '../fields/column.ts'
import { StorageFault } from './fault.ts'
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

/** The same as it is kept. */
export interface KeptRecord extends LocationRecord {
  /** The user and the server that the password was entered for. */
  readonly sftpPasswordFor: string
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

/** The columns of a `KeptRecord`, for a select. */
export function recordColumns(sql: Sql): Fragment {
  return sql.unsafe(
    [...Object.keys(blank), 'sftpPasswordFor'].map(name => `${columnOf(name)} as "${name}"`).join(', ')
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

/** The user and the server that a password entered now is for. */
export function passwordTarget(record: LocationRecord): string {
  return `${record.sftpUsername}@${record.sftpHost.toLowerCase()}:${record.sftpPort || 22}`
}

/**
 * A kept secret in clear, `""` where there is none. A password goes to the server and user it was entered for
 * and nowhere else, or who may edit a location could have it sent to a server of their own. Keys and the
 * secrets of S3 never leave this machine.
 */
export function openKept(
  record: KeptRecord,
  field: SecretField,
  secrets: { open: (sealed: string, purpose: string) => string }
): string {
  if (record[field] === '') return ''
  if (field === 'sftpPassword' && record.sftpPasswordFor !== passwordTarget(record)) return ''
  return secrets.open(record[field], purposeOf(field))
}

/** Throws where nothing is left to log in with. */
export function assertComplete(location: StorageLocation): void {
  const isLost = location.adapter === 'sftp' && location.password === '' && location.privateKey === ''
  if (isLost) throw new StorageFault('incomplete')
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
