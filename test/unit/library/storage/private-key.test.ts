import { assert, nat, property, string, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'

import { parseKdfRounds } from '../../../../src/library/storage/sftp.ts'

const salt = Buffer.alloc(16, 7)

test('the KDF rounds of an encrypted key are read', () => {
  assert(
    property(nat(), rounds => {
      expect(parseKdfRounds(keyOf('bcrypt', optionsOf(rounds)))).toBe(rounds)
    })
  )
  expect(parseKdfRounds(keyOf('bcrypt', optionsOf(0xffff_ffff)))).toBe(0xffff_ffff)
})

test('a key without a passphrase has 0 rounds', () => {
  expect(parseKdfRounds(keyOf('none', Buffer.alloc(0)))).toBe(0)
})

test('any text is handled', () => {
  assert(
    property(uint8Array(), string(), nat(70), (bytes, text, length) => {
      const cut = Buffer.from(contentOf('bcrypt', optionsOf(16))).subarray(0, length)
      for (const key of [text, armored(Buffer.from(bytes)), armored(Buffer.concat([cut, bytes]))]) {
        expect(parseKdfRounds(key)).toBeGreaterThanOrEqual(0)
      }
    })
  )
})

function keyOf(kdf: string, options: Buffer): string {
  return armored(contentOf(kdf, options))
}

function contentOf(kdf: string, options: Buffer): Buffer {
  const rest = [Buffer.from('aes256-ctr'), Buffer.from(kdf), options].map(framed)
  return Buffer.concat([Buffer.from('openssh-key-v1\0'), ...rest, Buffer.alloc(40)])
}

function optionsOf(rounds: number): Buffer {
  return Buffer.concat([framed(salt), numberOf(rounds)])
}

function framed(bytes: Buffer): Buffer {
  return Buffer.concat([numberOf(bytes.length), bytes])
}

function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function armored(content: Buffer): string {
  const text = content.toString('base64').replace(/(.{70})/g, '$1\n')
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${text}\n-----END OPENSSH PRIVATE KEY-----\n`
}
