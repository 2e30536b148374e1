import { join } from 'node:path'

import { expect } from 'vitest'

import { migrateFromAzuracastCommand } from '../../src/commands/from-azuracast/command.ts'
import { writeBackup } from '../support/azuracast/backup.ts'
import { compareResponses } from '../support/azuracast/compare.ts'
import { renderDump } from '../support/azuracast/dump.ts'
import { apiKeys, generateInstallation } from '../support/azuracast/installation.ts'
import { judgeDifferences, maxLines } from '../support/azuracast/known-differences.ts'
import { recordTypes } from '../support/azuracast/record-types.ts'
import { keepsAll, openWorld } from '../support/azuracast/world.ts'
import { commandRunner } from '../support/command.ts'
import { isolatedTest } from '../support/fixtures.ts'
import type { Program } from '../support/program.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { shared } from '../support/worker-process.ts'

const test = isolatedTest
  .extend('serverVariables', { scope: 'file' }, async () => ({ API_DIALECT: 'azuracast' }))
  // What was taken is old.
  .extend('workersVariables', { scope: 'file' }, async () => keepsAll)
const run = commandRunner('src/commands/from-azuracast/main.ts', call =>
  migrateFromAzuracastCommand(call, AbortSignal.timeout(600_000))
)

/** Waits until all stations play, and the AutoDJ has planned their next songs. */
const untilOnAir = ({ ask, sql }: Program, stations: number) =>
  waitFor(
    async () => {
      const { body } = await ask('GET', '/api/nowplaying', { key: apiKeys.administrator })
      const [planned] = await sql`
        select from queue where played_at_ms is null having count(distinct station_id) = ${stations}`
      return Array.isArray(body) && body.length === stations && planned !== undefined
    },
    { deadlineMs: 30_000, what: 'all stations on the air' }
  )

const atLeisure = { timeout: 240_000 }

test(
  'after a move the answers are those of AzuraCast, but for what the documentation lists',
  atLeisure,
  async ({ program }) => {
    const sizes = {
      stations: sized({ quick: 3, deep: 5 }),
      songs: sized({ quick: 60, deep: 3_000 }),
      plays: sized({ quick: 150, deep: 30_000 }),
      days: sized({ quick: 2, deep: 100 }),
      keptDays: 0
    }
    const backup = join(await scratchFolder(), 'backup.tgz')
    await writeBackup(backup, renderDump(generateInstallation(sizes)))
    const env = { ...shared, DATABASE_URL: program.databaseUrl, DATA_DIR: program.dataDir }
    expect(await run(env, backup)).toMatchObject({ code: 0 })
    await untilOnAir(program, sizes.stations)
    const comparison = await compareResponses(program, openWorld(sizes))
    const judgment = await judgeDifferences(comparison.differences)
    expect(judgment).toEqual({ lines: expect.any(Number), unknown: [], missing: [] })
    expect(judgment.lines).toBeLessThanOrEqual(maxLines)
    expect(comparison.types).toHaveLength(recordTypes.length)
    expect(comparison.types.filter(({ records, values }) => records === 0 || values === 0)).toEqual([])
  }
)
