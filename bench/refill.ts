import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { nowMs } from './clock.ts'
import { cpuOf, memoryOf, pidOf } from './cpu.ts'
import { startProgram } from './program.ts'
import { seedLibraries } from './seed-libraries.ts'
import { runs, whole } from './settings.ts'
import { spread } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_260
const stations = whole('STATIONS', 1_000)
const shape = { playlists: 5, tracks: 200, played: 200, songMs: 7_200_000 }
const queueLength = 3
const timeoutMs = 120_000

interface Filled {
  readonly seconds: number
  readonly workers: number
  readonly memoryMb: number
}

/**
 * From rows in Postgres to committed queues: all stations are switched on at once with empty queues, and the
 * workers, which know none of their libraries, fill them; then all queues are emptied, and filled by workers
 * that know them. `STATIONS` and `RUNS` change it; each run begins with workers that know nothing.
 */
export async function refill(): Promise<void> {
  const measured: { unknown: Filled; known: Filled }[] = []
  for (let run = 0; run < runs; run++) measured.push(await measure())
  console.log(
    `\n${stations} stations: ${shape.playlists} playlists of ${shape.tracks} songs, ${shape.played} plays, ${queueLength} rows each; ${runs} runs`
  )
  printTable(
    ['libraries', 'all queues filled after, s', 'CPU of the workers, s', 'memory of the workers, MB'],
    [
      ['known', ...columns(measured.map(({ known }) => known))],
      ['not known', ...columns(measured.map(({ unknown }) => unknown))]
    ]
  )
}

function columns(filled: readonly Filled[]): string[] {
  return [
    spread(
      filled.map(({ seconds }) => seconds),
      2
    ),
    spread(
      filled.map(({ workers }) => workers),
      2
    ),
    spread(filled.map(({ memoryMb }) => memoryMb))
  ]
}

async function measure() {
  const program = await startProgram(port)
  const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    await seedLibraries(sql, { stations, ...shape, dueMs: Date.now() + shape.songMs })
    const workers = pidOf(program.pid, 'workers')
    const unknown = await timed(sql, workers, () => sql`update stations set is_enabled = true`)
    const known = await timed(sql, workers, async () => {
      await sql.begin(async tx => {
        await tx`delete from queue`
        await tx`update stations set filled_version = -1`
      })
    })
    return { unknown, known }
  } finally {
    await sql.end()
    await program.stop()
  }
}

async function timed(sql: postgres.Sql, workers: number, begin: () => Promise<unknown>): Promise<Filled> {
  // The sweep has seen that there is nothing to do.
  await wait(2_000)
  const cpuBefore = cpuOf(workers)
  const fromMs = nowMs()
  await begin()
  for (;;) {
    const [{ rows } = { rows: 0 }] = await sql<{ rows: number }[]>`select count(*)::int as rows from queue`
    if (rows >= stations * queueLength) break
    if (nowMs() - fromMs > timeoutMs) throw new Error(`${rows} rows after ${timeoutMs} ms`)
    await wait(20)
  }
  const seconds = (nowMs() - fromMs) / 1_000
  return { seconds, workers: cpuOf(workers) - cpuBefore, memoryMb: memoryOf(workers) / 2 ** 20 }
}
