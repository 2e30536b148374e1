import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { OperatorError } from '../../src/platform/runtime/operator-error.ts'
import { loadSecretsKey } from '../../src/stores/secrets/secrets-key.ts'
import { stageSecretsKey } from '../../src/upkeep/archives/keep-secrets-key.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const digits = '0123456789abcdef'.repeat(4)

test('the key of the environment is used, and no file is created', async () => {
  const folder = await scratchFolder()
  const key = await loadSecretsKey(folder, digits.toUpperCase())
  expect(Buffer.from(key).toString('hex')).toBe(digits)
  await expect(stat(join(folder, 'secrets-key'))).rejects.toThrow('ENOENT')
})

test('concurrent starts create one key, readable only by its owner', async () => {
  const folder = join(await scratchFolder(), 'made', 'too')
  const keys = await Promise.all(Array.from({ length: 20 }, async () => loadSecretsKey(folder, undefined)))
  const [first] = keys
  expect(first).toHaveLength(32)
  expect(new Set(keys.map(String)).size).toBe(1)
  expect(await loadSecretsKey(folder, '')).toEqual(first)
  expect((await stat(join(folder, 'secrets-key'))).mode & 0o777).toBe(0o600)
})

test('a file that another process is still writing is awaited', async () => {
  const folder = await scratchFolder()
  const file = join(folder, 'secrets-key')
  await writeFile(file, digits.slice(0, 10))
  const loading = loadSecretsKey(folder, undefined)
  await writeFile(file, `${digits}\n`)
  expect(Buffer.from(await loading).toString('hex')).toBe(digits)
})

test('a file without a valid key is refused and kept', async () => {
  const folder = await scratchFolder()
  const file = join(folder, 'secrets-key')
  await writeFile(file, `${digits.slice(1)}x\n`)
  await expect(loadSecretsKey(folder, undefined)).rejects.toThrow(OperatorError)
  expect(await readFile(file, 'utf8')).toBe(`${digits.slice(1)}x\n`)
  await expect(loadSecretsKey(folder, 'secret')).rejects.toThrow(/^(?!.*secret\b).*64 hex digits/)
})

test('a key that another one replaces is kept, also if one was kept before', async () => {
  const folder = await scratchFolder()
  const keys = ['aa', 'bb', 'cc'].map(digitPair => digitPair.repeat(32))
  for (const key of keys) {
    await using staged = await stageSecretsKey(key, { DATA_DIR: folder })
    await staged.install()
  }
  {
    // A restore that fails.
    await using _ = await stageSecretsKey(digits, { DATA_DIR: folder })
  }
  const names = await readdir(folder)
  const texts = await Promise.all(names.map(async name => [name, await readFile(join(folder, name), 'utf8')]))
  expect(Object.fromEntries(texts)).toEqual({
    'secrets-key.replaced': `${keys[0]}\n`,
    'secrets-key.replaced-2': `${keys[1]}\n`,
    'secrets-key': `${keys[2]}\n`
  })
  expect((await stat(join(folder, 'secrets-key.replaced-2'))).mode & 0o777).toBe(0o600)
})
