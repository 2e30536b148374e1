import { assert, nat, property, string, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'

import { openSecrets } from '../../../../src/stores/secrets/secrets.ts'

const key = uint8Array({ minLength: 32, maxLength: 32 })
const text = string({ unit: 'grapheme' })
const refusal = /not a sealed secret|cannot be opened/
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

test('a sealed text opens with the same key and purpose', () => {
  assert(
    property(key, text, text, (bytes, secret, purpose) => {
      const sealed = openSecrets(bytes).seal(secret, purpose)
      expect(sealed).toMatch(/^v1\.[\w-]{38,}$/)
      expect(openSecrets(bytes).open(sealed, purpose)).toBe(secret)
    })
  )
})

test('sealing the same text twice gives different results', () => {
  const secrets = openSecrets(new Uint8Array(32))
  expect(secrets.seal('password', 'sftp')).not.toBe(secrets.seal('password', 'sftp'))
})

test('a sealed text does not open with another key or purpose', () => {
  assert(
    property(key, text, nat(31), (bytes, secret, at) => {
      const sealed = openSecrets(bytes).seal(secret, 'one')
      const other = Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ 1 : byte))
      expect(() => openSecrets(bytes).open(sealed, 'two')).toThrow('cannot be opened')
      expect(() => openSecrets(other).open(sealed, 'one')).toThrow('cannot be opened')
    })
  )
})

test('changed, added and removed characters are detected', () => {
  const secrets = openSecrets(new Uint8Array(32))
  assert(
    property(text, nat(), nat(62), (secret, position, step) => {
      const sealed = secrets.seal(secret, 'one')
      const at = 3 + (position % (sealed.length - 3))
      const other = alphabet[(alphabet.indexOf(sealed.charAt(at)) + 1 + step) % 64]
      expect(() => secrets.open(sealed.slice(0, at) + other + sealed.slice(at + 1), 'one')).toThrow(refusal)
      expect(() => secrets.open(sealed.slice(0, at) + sealed.slice(at + 1), 'one')).toThrow(refusal)
      expect(() => secrets.open(`${sealed.slice(0, at)}!${sealed.slice(at)}`, 'one')).toThrow(refusal)
    })
  )
})

test('only sealed texts of this version are accepted', () => {
  const secrets = openSecrets(new Uint8Array(32))
  const sealed = secrets.seal('password', 'one')
  for (const wrong of ['', 'v1.', 'password', `v2.${sealed.slice(3)}`, sealed.slice(3)]) {
    expect(() => secrets.open(wrong, 'one')).toThrow('not a sealed secret')
  }
})

test('an error does not contain the text', () => {
  const secrets = openSecrets(new Uint8Array(32))
  const sealed = secrets.seal('hunter2', 'one')
  expect(() => secrets.open(sealed, 'two')).toThrow(/^(?!.*hunter2).*$/)
})

test('a key has 32 bytes', () => {
  expect(() => openSecrets(new Uint8Array(16))).toThrow('16 bytes')
})
