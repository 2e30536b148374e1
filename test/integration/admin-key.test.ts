import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect } from 'vitest'

import { ensureAdminKey } from '../../src/api/auth/admin-key.ts'
import { openKeyChecker } from '../../src/api/auth/key-checker.ts'
import { parseConfig } from '../../src/config.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'
import { wordsFor } from '../support/compiled-program.ts'
import { test } from '../support/fixtures.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

const one = '0123456789abcdef:0123456789abcdef0123456789abcdef'
const two = 'fedcba9876543210:0123456789abcdef0123456789abcdef'

test('a key is generated once, returned once, and stored in a file for its owner only', async ({ sql }) => {
  await using folder = await openTempFolder()
  const config = parseConfig({ DATA_DIR: folder.path })
  const key = await ensureAdminKey(sql, config)
  expect(key).toMatch(/^[0-9a-f]{16}:[0-9a-f]{32}$/)
  const file = join(folder.path, 'admin-key')
  expect((await readFile(file, 'utf8')).trim()).toBe(key)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await ensureAdminKey(sql, config)).toBeNull()
  await expect(openKeyChecker(sql).find(key ?? '')).resolves.toMatchObject({
    permissions: ['administer all']
  })
})

test('a revoked key remains revoked when the program starts with it again', async ({ sql }) => {
  await using folder = await openTempFolder()
  const config = parseConfig({ DATA_DIR: folder.path, ADMIN_API_KEY: one })
  await ensureAdminKey(sql, config)
  await sql`update api_keys set revoked_at = now()`
  await ensureAdminKey(sql, config)
  expect(await openKeyChecker(sql).find(one)).toBeNull()
})

test('a new ADMIN_API_KEY revokes the previous one, even if processes still start with that', async ({
  sql
}) => {
  await using folder = await openTempFolder()
  for (const ADMIN_API_KEY of [one, two, one]) {
    await ensureAdminKey(sql, parseConfig({ DATA_DIR: folder.path, ADMIN_API_KEY }))
  }
  const keys = openKeyChecker(sql)
  expect(await keys.find(one)).toBeNull()
  expect(await keys.find(two)).not.toBeNull()
})

/**
 * Runs a command on a new database until it has reported its key, with its output on a terminal or in a pipe.
 */
async function outputOf(
  command: readonly string[],
  where: 'terminal' | 'pipe',
  variables: { DATABASE_URL: string; REDIS_URL: string; DATA_DIR: string }
): Promise<string> {
  const quoted = command.map(word => `'${word}'`).join(' ')
  const onTerminal = [script, '--quiet', '--return', '--command', quoted, '/dev/null']
  const [program = '', ...args] = where === 'terminal' ? onTerminal : command
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PORT: String(await findFreePort()), ...variables }
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const ended = new Promise(resolve => child.once('close', resolve))
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const hasReported = () => /admin-key[^]*\n/.test(output)
    await waitFor(hasReported, { deadlineMs: 40_000, what: 'the report of the key' })
    child.kill('SIGTERM')
    await ended
    return output
  } finally {
    child.kill('SIGKILL')
  }
}

const script = '/usr/bin/script'
const server = () => [process.execPath, ...wordsFor('src/server.ts')]
const wholeProgram = () => [
  process.execPath,
  join(import.meta.dirname, '../../scripts/run.mjs'),
  'src/main.ts'
]

test('the log has the file of a new key, never the key', async ({ databaseUrl, redisUrl }) => {
  await using folder = await openTempFolder()
  const variables = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR: folder.path }
  const output = await outputOf(server(), 'pipe', variables)
  const file = join(folder.path, 'admin-key')
  const key = (await readFile(file, 'utf8')).trim()
  expect(output).not.toContain(key.slice(17))
  expect(
    output
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  ).toEqual([
    expect.objectContaining({
      adminKeyFile: file,
      msg: 'created an API key with all permissions in a file of mode 600'
    }),
    expect.objectContaining({ msg: 'ready' })
  ])
})

describe.skipIf(process.platform !== 'linux' || !existsSync(script))(
  'on a terminal',
  { timeout: 60_000 },
  () => {
    for (const [name, command] of Object.entries({ 'a server': server, 'the whole program': wholeProgram })) {
      test(`${name} prints a new key once`, async ({ databaseUrl, redisUrl }) => {
        await using folder = await openTempFolder()
        const variables = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR: folder.path }
        const output = await outputOf(command(), 'terminal', variables)
        const key = (await readFile(join(folder.path, 'admin-key'), 'utf8')).trim()
        expect(output.split(key)).toHaveLength(2)
        expect(output).toContain(join(folder.path, 'admin-key'))
      })
    }
  }
)
