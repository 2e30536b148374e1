import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { ensureAdminKey } from '../../src/admin-key.ts'
import { openKeys } from '../../src/api/keys.ts'
import { parseConfig } from '../../src/config.ts'
import { test } from '../support/fixtures.ts'
import { openTempFolder } from '../support/temp-folder.ts'

const one = '0123456789abcdef:0123456789abcdef0123456789abcdef'
const two = 'fedcba9876543210:0123456789abcdef0123456789abcdef'

test('a key is made once, told once, and kept for its owner only', async ({ sql }) => {
  await using folder = await openTempFolder()
  const config = parseConfig({ DATA_DIR: folder.path })
  const key = await ensureAdminKey(sql, config)
  expect(key).toMatch(/^[0-9a-f]{16}:[0-9a-f]{32}$/)
  const file = join(folder.path, 'admin-key')
  expect((await readFile(file, 'utf8')).trim()).toBe(key)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await ensureAdminKey(sql, config)).toBeNull()
  await expect(openKeys(sql).find(key ?? '')).resolves.toMatchObject({ permissions: ['administer all'] })
})

test('a revoked key stays revoked, however often the program starts with it', async ({ sql }) => {
  await using folder = await openTempFolder()
  const config = parseConfig({ DATA_DIR: folder.path, ADMIN_API_KEY: one })
  await ensureAdminKey(sql, config)
  await sql`update api_keys set revoked_at = now()`
  await ensureAdminKey(sql, config)
  expect(await openKeys(sql).find(one)).toBeNull()
})

test('another ADMIN_API_KEY ends the former one, also for processes that still start with that', async ({
  sql
}) => {
  await using folder = await openTempFolder()
  for (const ADMIN_API_KEY of [one, two, one]) {
    await ensureAdminKey(sql, parseConfig({ DATA_DIR: folder.path, ADMIN_API_KEY }))
  }
  const keys = openKeys(sql)
  expect(await keys.find(one)).toBeNull()
  expect(await keys.find(two)).not.toBeNull()
})
