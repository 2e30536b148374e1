import { resolve } from 'node:path'

import { sealingPurpose } from '../../model/fields/field.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import type { StorageAdapter, StorageLocation } from './location.ts'

const blankFields = {
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

/** The fields of a location, named as in the interface; secrets are sealed. */
export interface LocationFields extends Readonly<typeof blankFields> {
  readonly adapter: StorageAdapter
}

/** A location as stored. */
export interface StoredLocation extends LocationFields {
  /** The user and server for which the password was entered. */
  readonly sftpPasswordFor: string
}

export const blankLocation: LocationFields = { adapter: 'local', ...blankFields }

/** SQL: the columns of a `StoredLocation`. */
export const locationColumnsFragment = (sql: Sql): Fragment => sql`
  adapter, path, s3_credential_key as "s3CredentialKey", s3_credential_secret as "s3CredentialSecret",
  s3_region as "s3Region", s3_bucket as "s3Bucket", s3_endpoint as "s3Endpoint", dropbox_app_key as "dropboxAppKey",
  dropbox_app_secret as "dropboxAppSecret", dropbox_auth_token as "dropboxAuthToken", sftp_host as "sftpHost",
  sftp_username as "sftpUsername", sftp_password as "sftpPassword", sftp_password_for as "sftpPasswordFor",
  sftp_port as "sftpPort", sftp_private_key as "sftpPrivateKey",
  sftp_private_key_pass_phrase as "sftpPrivateKeyPassPhrase"`

type SecretField =
  | 's3CredentialSecret'
  | 'dropboxAppSecret'
  | 'dropboxAuthToken'
  | 'sftpPassword'
  | 'sftpPrivateKey'
  | 'sftpPrivateKeyPassPhrase'

export function locationSecretPurpose(field: SecretField): string {
  return sealingPurpose('storage_locations', field)
}

/** Returns the user and server that a password entered now is for. */
export function passwordTarget(record: LocationFields): string {
  return `${record.sftpUsername}@${record.sftpHost.toLowerCase()}:${record.sftpPort || 22}`
}

/**
 * Opens a stored secret, `""` if there is none. A password is only opened for the server and user it was
 * entered for: otherwise whoever edits a location could send it to a server of their own. Private keys and S3
 * secrets are never sent, so they are always opened.
 */
export function unsealStoredSecret(
  record: StoredLocation,
  field: SecretField,
  secrets: { open: (sealed: string, purpose: string) => string }
): string {
  if (record[field] === '') return ''
  if (field === 'sftpPassword' && record.sftpPasswordFor !== passwordTarget(record)) return ''
  return secrets.open(record[field], locationSecretPurpose(field))
}

/** Converts a record; `open` returns the secret of a field in clear. */
export function toStorageLocation(
  record: LocationFields,
  open: (field: SecretField) => string
): StorageLocation {
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

/** Converts a record without its secrets, for its URI. */
export function toLocationWithoutSecrets(record: LocationFields): StorageLocation {
  return toStorageLocation(record, () => '')
}

/** Returns the folders below which local locations may lie: the configured ones and the program's own. */
export function allowedStorageRoots(config: {
  STORAGE_ROOTS: readonly string[]
  DATA_DIR: string
}): string[] {
  return [...config.STORAGE_ROOTS, resolve(config.DATA_DIR, 'stations')]
}
