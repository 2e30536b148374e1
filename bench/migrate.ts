import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

import postgres from 'postgres'

import { renderDump } from '../test/support/azuracast/dump.ts'
import { generateInstallation } from '../test/support/azuracast/installation.ts'
import { runMeasured } from './measured-command.ts'
import { type Program, startProgram } from './program.ts'
import { positiveInteger, selectParts } from './settings.ts'
import { formatNumber } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_360

/**
 * Takes over a generated AzuraCast from a `.tgz` while Cuewire runs: `npm run bench -- migrate`. `STATIONS`, `SONGS` and `PLAYS`
 * change its size, `PARTS` selects runs. Exits with 1 if a row is missing.
 */
export async function migrate(): Promise<void> {
  const sizes = {
    stations: positiveInteger('STATIONS', 50),
    songs: positiveInteger('SONGS', 100_000),
    plays: positiveInteger('PLAYS', 5_000_000),
    days: 1_000
  }
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-'))
  try {
    const { backup, dumpBytes } = await writeBackup(folder, sizes)
    const { size } = await stat(backup)
    const program = await startProgram(port)
    try {
      const runs = []
      for (const part of selectParts(['dry run', 'migration', 'again']))
        runs.push([
          part,
          await runMeasured(
            'src/from-azuracast/main.js',
            part === 'dry run' ? ['--dry-run', backup] : [backup],
            {
              DATABASE_URL: program.databaseUrl,
              DATA_DIR: program.dataDir
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
    } finally {
      await program.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Sizes = Parameters<typeof generateInstallation>[0]

async function writeBackup(folder: string, sizes: Sizes) {
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

async function checkCounts({ databaseUrl }: Program, { stations, songs, plays }: Sizes): Promise<void> {
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
