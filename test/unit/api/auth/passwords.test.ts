import { expect, test } from 'vitest'

import { hashPassword, verifyDummyPassword, verifyPassword } from '../../../../src/api/auth/passwords.ts'

test('a hash is argon2id with at least 19 MiB, two passes and a random salt', async () => {
  const [one, other] = await Promise.all([hashPassword('mic check'), hashPassword('mic check')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(other).not.toBe(one)
})

test.for([' pa\u00DFwort \u{1F399} ', 'with\0zero', 'x'.repeat(255)])(
  'only the same password matches: %j',
  async password => {
    const phc = await hashPassword(password)
    expect(await verifyPassword(phc, password)).toBe(true)
    expect(await verifyPassword(phc, `${password}x`)).toBe(false)
    expect(await verifyPassword(phc, password.slice(0, -1))).toBe(false)
  }
)

test('no password matches for a user without one', async () => {
  expect(await verifyDummyPassword('mic check')).toBe(false)
})

test.for([
  '',
  'mic check',
  '$2b$10$abcdefghijklmnopqrstuuW9Zc1xVYsZlqfT7zKb0K2hPj6fC8m2G',
  '$argon2id$v=19$m=19456,t=2,p=1$AAAA'
])('an invalid hash is refused: %j', async phc => {
  await expect(verifyPassword(phc, 'mic check')).rejects.toThrow(Error)
})

test.for([
  'm=4294967295,t=2,p=1',
  'm=65537,t=8,p=4',
  'm=65536,t=9,p=4',
  'm=65536,t=8,p=5',
  'm=19456,t=2,p=255'
])('a hash with an excessive cost is refused: %s', async parameters => {
  const phc = `$argon2id$v=19$${parameters}$${'A'.repeat(22)}$${'A'.repeat(43)}`
  await expect(verifyPassword(phc, 'mic check')).rejects.toThrow('higher cost')
})
