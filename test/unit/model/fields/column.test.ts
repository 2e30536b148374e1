import { expect, test } from 'vitest'

import { toColumnName, sealingPurpose } from '../../../../src/model/fields/field.ts'

test.for([
  ['name', 'name'],
  ['s3Bucket', 's3_bucket'],
  ['sftpPrivateKeyPassPhrase', 'sftp_private_key_pass_phrase']
] as const)('the field %s has the column %s', ([field, column]) => {
  expect(toColumnName(field)).toBe(column)
})

test('a secret is sealed for its table and column', () => {
  expect(sealingPurpose('storage_locations', 's3CredentialSecret')).toBe(
    'storage_locations.s3_credential_secret'
  )
})
