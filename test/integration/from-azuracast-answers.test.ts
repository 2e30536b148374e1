import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { migrateCommand } from '../../src/from-azuracast/command.ts'
import { writeBackup } from '../support/azuracast/backup.ts'
import { compareAnswers } from '../support/azuracast/compare.ts'
import { renderDump } from '../support/azuracast/dump.ts'
import { generateInstallation } from '../support/azuracast/installation.ts'
import { commandRunner } from '../support/command.ts'
import { isolatedTest } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { sized } from '../support/tier.ts'
import { shared } from '../support/worker-process.ts'

const test = isolatedTest.extend('serverVariables', { scope: 'file' }, async () => ({
  API_DIALECT: 'azuracast'
}))
const run = commandRunner('src/from-azuracast/main.ts', call =>
  migrateCommand(call, AbortSignal.timeout(600_000))
)

/** The lines of a table in docs/azuracast.md. */
/** Lines of one or several members. */
async function readKnownDifferences(): Promise<string[][]> {
  const text = await readFile(new URL('../../docs/azuracast.md', import.meta.url), 'utf8')
  const [, section = ''] = /\n### What differs after a move\n(.*?)\n##/s.exec(text) ?? []
  return [...section.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  )
}

test('after a move the answers are those of AzuraCast, but for what the documentation lists', async ({
  program
}) => {
  const installation = () =>
    generateInstallation({
      stations: 3,
      songs: sized({ quick: 60, deep: 3_000 }),
      plays: sized({ quick: 300, deep: 30_000 }),
      days: 2
    })
  const backup = join(await scratchFolder(), 'backup.tgz')
  await writeBackup(backup, renderDump(installation()))
  const env = { ...shared, DATABASE_URL: program.databaseUrl, DATA_DIR: program.dataDir }
  expect(await run(env, backup)).toMatchObject({ code: 0 })
  const { differences, compared } = await compareAnswers(program, installation(), [1, 2, 3])
  const lines = await readKnownDifferences()
  const known = lines.flat()
  expect(compared).toBeGreaterThan(2_000)
  expect([...differences].filter(([name]) => !known.includes(name))).toEqual([])
  expect(lines.length).toBeLessThanOrEqual(20)
  expect(known.filter(name => !differences.has(name))).toEqual([])
})
