import { expect, test } from 'vitest'

import { openSecrets } from '../../../src/security/secrets.ts'
import { blank, type KeptRecord, openKept, passwordTarget, purposeOf } from '../../../src/storage/record.ts'

const secrets = openSecrets(new Uint8Array(32))
const server = { ...blank, adapter: 'sftp', sftpHost: 'Files.example', sftpUsername: 'dj' } as const
const kept: KeptRecord = {
  ...server,
  sftpPassword: secrets.seal('secret', purposeOf('sftpPassword')),
  sftpPrivateKey: secrets.seal('key', purposeOf('sftpPrivateKey')),
  sftpPasswordFor: passwordTarget(server)
}
const opened = (change: Partial<KeptRecord>) => openKept({ ...kept, ...change }, 'sftpPassword', secrets)

test('a kept password is for the user and the server it was entered for', () => {
  expect(opened({})).toBe('secret')
  expect(opened({ sftpHost: 'files.EXAMPLE', sftpPort: 22 })).toBe('secret')
  expect(opened({ sftpHost: 'elsewhere.example' })).toBe('')
  expect(opened({ sftpPort: 2222 })).toBe('')
  expect(opened({ sftpUsername: 'somebody' })).toBe('')
})

test('a key never leaves this machine, so it stays of use', () => {
  expect(openKept({ ...kept, sftpHost: 'elsewhere.example' }, 'sftpPrivateKey', secrets)).toBe('key')
})
