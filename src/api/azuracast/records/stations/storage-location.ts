import { boolean } from '../../../core/schemas.ts'
import { changeRecord, constant, shown } from '../../declare-record.ts'
import { nothing, orNullSchema } from '../../response-schema.ts'

type StorageLocationRow = Readonly<Record<(typeof nullable)[number], string>> & {
  readonly sftpPort: number
  readonly storageUsedPercent: string
  readonly isFull: string
}

const nullable = [
  's3CredentialKey',
  's3CredentialSecret',
  's3Region',
  's3Version',
  's3Bucket',
  's3Endpoint',
  'dropboxAppKey',
  'dropboxAppSecret',
  'dropboxAuthToken',
  'sftpHost',
  'sftpUsername',
  'sftpPassword',
  'sftpPrivateKey',
  'sftpPrivateKeyPassPhrase',
  'storageQuota',
  'storageQuotaBytes',
  'storageAvailableBytes'
] as const

export const storageLocation = changeRecord<StorageLocationRow>({
  emptyAsNull: nullable,
  members: {
    s3UsePathStyle: constant(boolean, false),
    dropboxRefreshToken: constant(nothing, null),
    sftpPort: shown(orNullSchema, row => row.sftpPort || null),
    storageUsedPercent: shown({ type: 'number' }, row => Number(row.storageUsedPercent)),
    isFull: shown(boolean, row => row.isFull === 'true')
  }
})
