import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import postgres from 'postgres'

import { verifyArchive } from '../src/upkeep/archives/read-archive.ts'
import { runMeasured } from './measured-command.ts'
import { startProgram } from './program.ts'
import { seedStations } from './seed.ts'
import { positiveInteger } from './settings.ts'
import { formatNumber } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_370
const entry = 'src/commands/backup/main.js'

/**
 * Backs up an installation whose stations play, and restores it to an empty database: `npm run bench -- backup`.
 * `STATIONS` and `PLAYS` change its size. Exits with 1 if a table has another number of rows.
 */
export async function backup(): Promise<void> {
  const stations = positiveInteger('STATIONS', 1_000)
  const plays = positiveInteger('PLAYS', 5_000_000)
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-'))
  const program = await startProgram(port)
  const { databaseUrl, dataDir } = program
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    await seedStations(sql, {
      stations,
      tracks: 100,
      songMs: 180_000,
      // Writing the plays takes longer than a minute.
      dueInMs: 240_000,
      played: Math.ceil(plays / stations)
    })
    const archive = join(folder, 'backup.tar.gz')
    const written = await runMeasured(entry, ['backup', archive], {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir
    })
    const restoredUrl = new URL(databaseUrl)
    restoredUrl.pathname = '/restored'
    await sql`create database restored template template0`
    const env = { DATABASE_URL: restoredUrl.href, REDIS_URL: '', DATA_DIR: join(folder, 'data') }
    const restored = await runMeasured(entry, ['restore', archive], env)
    const { size } = await stat(archive)
    const runs = [
      { name: 'backup, with its check', ...written },
      { name: 'restore, with its check', ...restored }
    ]
    printTable(
      ['', 'seconds', 'peak memory, MB'],
      runs.map(({ name, seconds, peakMb }) => [name, formatNumber(seconds, 1), formatNumber(peakMb)])
    )
    const [database] = await sql<
      { mb: number }[]
    >`select (pg_database_size(current_database()) / 1e6)::float8 as mb`
    console.log(
      `${stations} stations that play, ${plays} plays: a database of ${formatNumber(database?.mb ?? 0)} MB, ` +
        `${formatNumber(size / 1e6)} MB as .tar.gz`
    )
    await compareCounts(archive, restoredUrl.href)
  } finally {
    await sql.end({ timeout: 1 })
    await program.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function compareCounts(archive: string, restoredUrl: string): Promise<void> {
  const { manifest } = await verifyArchive(archive, { signal: AbortSignal.timeout(3_600_000) })
  const sql = postgres(restoredUrl, { max: 1, onnotice: () => {} })
  const differing: string[] = []
  for (const { name, rows } of manifest.tables) {
    const [row] = await sql<{ count: string }[]>`select count(*) from ${sql(name)}`
    if (Number(row?.count) !== rows) differing.push(`${name}: ${row?.count} instead of ${rows}`)
  }
  await sql.end()
  console.log(
    differing.length === 0
      ? 'All tables have the rows of the backup.'
      : `Differences: ${differing.join(', ')}`
  )
  if (differing.length > 0) process.exitCode = 1
}
