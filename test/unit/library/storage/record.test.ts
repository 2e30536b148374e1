import { expect, test } from 'vitest'

import {
  blankLocation,
  type StoredLocation,
  openStoredSecret,
  passwordTarget,
  secretPurpose
} from '../../../../src/library/storage/record.ts'
import { openSecrets } from '../../../../src/stores/secrets/secrets.ts'

const secrets = openSecrets(new Uint8Array(32))
const server = { ...blankLocation, adapter: 'sftp', sftpHost: 'Files.example', sftpUsername: 'dj' } as const
const stored: StoredLocation = {
  ...server,
  sftpPassword: secrets.seal('secret', secretPurpose('sftpPassword')),
  sftpPrivateKey: secrets.seal('key', secretPurpose('sftpPrivateKey')),
  sftpPasswordFor: passwordTarget(server)
}
const openPassword = (change: Partial<StoredLocation>) =>
  openStoredSecret({ ...stored, ...change }, 'sftpPassword', secrets)

test('a password is only opened for the user and server it was entered for', () => {
  expect(openPassword({})).toBe('secret')
  expect(openPassword({ sftpHost: 'files.EXAMPLE', sftpPort: 22 })).toBe('secret')
  expect(openPassword({ sftpHost: 'elsewhere.example' })).toBe('')
  expect(openPassword({ sftpPort: 2222 })).toBe('')
  expect(openPassword({ sftpUsername: 'somebody' })).toBe('')
})

test('a private key is never sent, so it is always opened', () => {
  expect(openStoredSecret({ ...stored, sftpHost: 'elsewhere.example' }, 'sftpPrivateKey', secrets)).toBe(
    'key'
  )
})
