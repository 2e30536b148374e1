import { execFile, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { argon2id, argon2Verify } from 'hash-wasm'
import { describe, expect, test } from 'vitest'

import { matchesSshPublicKey, parseSshPublicKeys } from '../../src/api/admin/ssh-public-keys.ts'
import { hashPassword, verifyPassword } from '../../src/api/auth/passwords.ts'
import { sshKeys } from '../support/ssh-keys.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { sized } from '../support/tier.ts'

const run = promisify(execFile)
const timeout = 20_000
/** A key of ssh-keygen's default size takes a second of CPU or more. */
const rsaBits = sized({ quick: '2048', deep: '3072' })
const hasKeygen = spawnSync('ssh-keygen', ['-l', '-f', '/dev/null'], { timeout }).error === undefined

describe.skipIf(!hasKeygen)('the local ssh-keygen', () => {
  test.for([
    ['ed25519', '256', 'ssh-ed25519'],
    ['rsa', '2048', 'ssh-rsa'],
    ['rsa', rsaBits, 'ssh-rsa'],
    ['ecdsa', '256', 'ecdsa-sha2-nistp256'],
    ['ecdsa', '384', 'ecdsa-sha2-nistp384'],
    ['ecdsa', '521', 'ecdsa-sha2-nistp521']
  ] as const)('generates a key that is parsed: %s %s', async ([kind, bits, type]) => {
    await using folder = await openTempFolder()
    const file = join(folder.path, 'key')
    await run('ssh-keygen', ['-q', '-t', kind, '-b', bits, '-N', '', '-C', 'a comment', '-f', file], {
      timeout
    })
    const text = await readFile(`${file}.pub`, 'utf8')
    const { keys, problems } = parseSshPublicKeys(text)
    expect(problems).toEqual([])
    expect(keys.map(key => key.type)).toEqual([type])
    expect(matchesSshPublicKey(keys, text)).toBe(true)
  })

  test.for(Object.values(sshKeys))('accepts the key of the unit tests: %s', async key => {
    await using folder = await openTempFolder()
    const file = join(folder.path, 'key.pub')
    await writeFile(file, key)
    const { stdout } = await run('ssh-keygen', ['-l', '-f', file], { timeout })
    expect(stdout).toContain('SHA256:')
  })
})

test('another argon2 library verifies our hashes', async () => {
  const phc = await hashPassword('pa\u00DFwort \u{1F399}')
  expect(await argon2Verify({ password: 'pa\u00DFwort \u{1F399}', hash: phc })).toBe(true)
  expect(await argon2Verify({ password: 'passwort', hash: phc })).toBe(false)
})

test('a hash of another argon2 library with other parameters is verified', async () => {
  const phc = await argon2id({
    password: 'mic check',
    salt: Buffer.from('sixteen byte salt'),
    memorySize: 32_768,
    iterations: 3,
    parallelism: 4,
    hashLength: 32,
    outputType: 'encoded'
  })
  expect(await verifyPassword(phc, 'mic check')).toBe(true)
  expect(await verifyPassword(phc, 'mic chec')).toBe(false)
})
