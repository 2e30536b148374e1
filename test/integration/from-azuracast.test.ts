import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { beforeAll, describe, expect } from 'vitest'

import { migrateCommand } from '../../src/from-azuracast/command.ts'
import { writeBackup } from '../support/azuracast/backup.ts'
import { renderDump } from '../support/azuracast/dump.ts'
import { apiKeys, generateInstallation, uniqueIdOf } from '../support/azuracast/installation.ts'
import { commandRunner } from '../support/command.ts'
import { isolatedTest as test } from '../support/fixtures.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { waitFor } from '../support/wait.ts'
import { shared } from '../support/worker-process.ts'

const run = commandRunner('src/from-azuracast/main.ts', call =>
  migrateCommand(call, AbortSignal.timeout(60_000))
)
const sizes = { stations: 3, songs: 60, plays: 300, days: 20 }

test('try', async ({ program }) => {
  const folder = await scratchFolder()
  const backup = join(folder, 'backup.tgz')
  await writeBackup(backup, renderDump(generateInstallation(sizes)))
  const env = { ...shared, DATABASE_URL: program.databaseUrl, DATA_DIR: program.dataDir }
  const dry = await run(env, '--dry-run', backup)
  console.log(dry.code, dry.stdout, dry.stderr)
  const end = await run(env, backup)
  console.log(end.code, end.stdout, end.stderr)
  const again = await run(env, backup)
  console.log(again.code, again.stdout, again.stderr)
})
