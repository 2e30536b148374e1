import { expect, test } from 'vitest'

import {
  blankLocation,
  type StoredLocation,
  unsealStoredSecret,
  passwordTarget,
  locationSecretPurpose
} from '../../../../src/library/storage/location-record.ts'
import { openSecrets } from '../../../../src/stores/secrets/secrets.ts'

const secrets = openSecrets(new Uint8Array(32))
const server = { ...blankLocation, adapter: 'sftp', sftpHost: 'Files.example', sftpUsername: 'dj' } as const
const stored: StoredLocation = {
  ...server,
  sftpPassword: secrets.seal('secret', locationSecretPurpose('sftpPassword')),
  sftpPrivateKey: secrets.seal('key', locationSecretPurpose('sftpPrivateKey')),
  sftpPasswordFor: passwordTarget(server)
}
const openPassword = (change: Partial<StoredLocation>) =>
  unsealStoredSecret({ ...stored, ...change }, 'sftpPassword', secrets)

test('a password is only opened for the user and server it was entered for', () => {
  expect(openPassword({})).toBe('secret')
  expect(openPassword({ sftpHost: 'files.EXAMPLE', sftpPort: 22 })).toBe('secret')
  expect(openPassword({ sftpHost: 'elsewhere.example' })).toBe('')
  expect(openPassword({ sftpPort: 2222 })).toBe('')
  expect(openPassword({ sftpUsername: 'somebody' })).toBe('')
})

test('a private key is never sent, so it is always opened', () => {
  expect(unsealStoredSecret({ ...stored, sftpHost: 'elsewhere.example' }, 'sftpPrivateKey', secrets)).toBe(
    'key'
  )
})
