import { boolean } from '../../../core/schemas.ts'
import { declareChangedRecord, constantMember, shownMember } from '../../declare-record.ts'
import { nullSchema, toNullableSchema } from '../../response-schema.ts'

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

export const storageLocationDialect = declareChangedRecord<StorageLocationRow>({
  emptyAsNull: nullable,
  members: {
    s3UsePathStyle: constantMember(boolean, false),
    dropboxRefreshToken: constantMember(nullSchema, null),
    sftpPort: shownMember(toNullableSchema, row => row.sftpPort || null),
    storageUsedPercent: shownMember({ type: 'number' }, row => Number(row.storageUsedPercent)),
    isFull: shownMember(boolean, row => row.isFull === 'true')
  }
})
