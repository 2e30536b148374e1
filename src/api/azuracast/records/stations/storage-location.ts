import { boolean } from '../../../core/schemas.ts'
import { changeSchema, nothing } from '../../answer-schema.ts'
import { orNull, type RecordDialect } from '../../record-dialect.ts'

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

const constants = { s3UsePathStyle: false, dropboxRefreshToken: null }

export const storageLocation: RecordDialect<StorageLocationRow> = {
  answer: changeSchema({
    nullable: [...nullable, 'sftpPort'],
    fields: {
      s3UsePathStyle: boolean,
      dropboxRefreshToken: nothing,
      storageUsedPercent: { type: 'number' },
      isFull: boolean
    }
  }),
  constants: () => constants,
  render: rows =>
    rows.map(row => ({
      ...row,
      ...Object.fromEntries(nullable.map(name => [name, orNull(row[name])])),
      ...constants,
      sftpPort: row.sftpPort || null,
      storageUsedPercent: Number(row.storageUsedPercent),
      isFull: row.isFull === 'true'
    }))
}
