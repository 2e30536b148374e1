import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

import postgres from 'postgres'

import { compareResponses, type Comparison } from '../test/support/azuracast/compare.ts'
import { renderDump } from '../test/support/azuracast/dump.ts'
import { generateInstallation, type InstallationSizes } from '../test/support/azuracast/installation.ts'
import { judgeDifferences, maxLines } from '../test/support/azuracast/known-differences.ts'
import { keepsAll, openWorld } from '../test/support/azuracast/world.ts'
import { adminKey, connectToProgram } from '../test/support/program.ts'
import { readPeakMb, runMeasured } from './measured-command.ts'
import { type Program, startProgram } from './program.ts'
import { positiveInteger, selectParts } from './settings.ts'
import { formatNumber } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_360

/**
 * Takes over a generated AzuraCast from a `.tgz` while Cuewire runs, and compares its answers: `npm run bench --
 * migrate`. `STATIONS`, `SONGS` and `PLAYS` change its size, `PARTS` selects runs. Exits with 1 if a row is missing, or
 * if an answer differs that docs/azuracast.md does not list.
 */
export async function migrate(): Promise<void> {
  const sizes = {
    stations: positiveInteger('STATIONS', 50),
    songs: positiveInteger('SONGS', 100_000),
    plays: positiveInteger('PLAYS', 5_000_000),
    days: 1_000,
    // Older plays would be deleted during the runs.
    keptDays: 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-'))
  try {
    const { backup, dumpBytes } = await writeBackup(folder, sizes)
    const { size } = await stat(backup)
    const program = await startProgram(port, { env })
    try {
      const parts = selectParts(['dry run', 'migration', 'again', 'comparison'])
      const runs = []
      for (const part of parts.filter(each => each !== 'comparison'))
        runs.push([
          part,
          await runMeasured(
            'src/commands/from-azuracast/main.js',
            part === 'dry run' ? ['--dry-run', backup] : [backup],
            {
              DATABASE_URL: program.databaseUrl,
              DATA_DIR: program.dataDir,
              STORAGE_ROOTS: env.STORAGE_ROOTS
            }
          )
        ] as const)
      printTable(
        ['', 'seconds', 'peak memory, MB'],
        runs.map(([name, { seconds, peakMb }]) => [name, formatNumber(seconds, 1), formatNumber(peakMb)])
      )
      console.log(
        `${sizes.stations} stations, ${sizes.songs} songs, ${sizes.plays} plays: a dump of ${formatNumber(dumpBytes / 1e6)} MB, ` +
          `${formatNumber(size / 1e6)} MB as .tgz`
      )
      await checkCounts(program, sizes)
      if (parts.includes('comparison')) await compare(program, sizes)
    } finally {
      await program.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The server answers in the dialect of AzuraCast, and its limits count per address of the comparison. */
const env = {
  API_DIALECT: 'azuracast',
  ADMIN_API_KEY: adminKey,
  TRUSTED_PROXIES: '127.0.0.1',
  STORAGE_ROOTS: '/var/azuracast',
  ...keepsAll
}

async function writeBackup(folder: string, sizes: InstallationSizes) {
  const dumpFolder = join(folder, 'tmp', 'azuracast_backup_mariadb')
  const dump = join(dumpFolder, 'db.sql')
  const backup = join(folder, 'backup.tgz')
  await mkdir(dumpFolder, { recursive: true })
  await pipeline(Readable.from(renderDump(generateInstallation(sizes))), createWriteStream(dump))
  const { size: dumpBytes } = await stat(dump)
  await promisify(execFile)('tar', ['czf', backup, '-C', folder, 'tmp'])
  await rm(dumpFolder, { recursive: true })
  return { backup, dumpBytes }
}

async function checkCounts(
  { databaseUrl }: Program,
  { stations, songs, plays }: InstallationSizes
): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const [counts] = await sql<{ stations: string; songs: string; plays: string }[]>`
    select (select count(*) from stations) as stations, (select count(*) from media where remote_playlist_id is null) as songs,
      (select count(*) from song_history where ended_at_ms is not null and id <= ${plays}) as plays`
  await sql.end()
  const found = [counts?.stations, counts?.songs, counts?.plays].map(Number)
  if (found.join() === [stations, songs, plays].join()) return
  console.log(`Missing rows: found ${found.join(', ')}.`)
  process.exitCode = 1
}

async function compare(started: Program, sizes: InstallationSizes): Promise<void> {
  const startedMs = performance.now()
  const program = connectToProgram(started.baseUrl, started.databaseUrl, started.dataDir)
  const comparison = await compareResponses(program, openWorld(sizes))
  await program.sql.end()
  const seconds = (performance.now() - startedMs) / 1_000
  printComparison(comparison)
  console.log(
    `Compared in ${formatNumber(seconds)} s; peak memory: server ${formatNumber(readPeakMb(started.serverPid()))} MB, ` +
      `comparison ${formatNumber(readPeakMb(process.pid))} MB`
  )
  const { lines, unknown, missing } = await judgeDifferences(comparison.differences)
  for (const [name, example] of unknown) console.log(`Not in the list of differences: ${name}: ${example}`)
  for (const name of missing) console.log(`In the list of differences, but not found: ${name}`)
  console.log(
    `${comparison.differences.size} members differ, which ${lines} lines list (at most ${maxLines}).`
  )
  if (unknown.length > 0 || missing.length > 0 || lines > maxLines) process.exitCode = 1
}

function printComparison({ types }: Comparison): void {
  printTable(
    ['', 'lists', 'records', 'values', 'seconds'],
    types.map(({ table, lists, records, values, seconds }) => [
      table,
      formatNumber(lists),
      formatNumber(records),
      formatNumber(values),
      formatNumber(seconds, 1)
    ])
  )
}
