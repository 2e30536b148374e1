import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { nowMs } from './clock.ts'
import { findPid, readCpuSeconds, readMemoryBytes } from './cpu.ts'
import { startProgram } from './program.ts'
import { seedLibraries } from './seed-libraries.ts'
import { positiveInteger, runs } from './settings.ts'
import { formatSpread } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_260
const stations = positiveInteger('STATIONS', 1_000)
const shape = { playlists: 5, tracks: 200, played: 200, songMs: 7_200_000 }
const queueLength = 3
const timeoutMs = 120_000

interface RefillResult {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly memoryMb: number
}

/**
 * Measures the time until the queues of all stations are filled and committed: `npm run bench -- refill`.
 * First all stations are enabled at once with empty queues; the workers have not read their libraries yet.
 * Then all queues are emptied and filled again from cached libraries. `STATIONS` and `RUNS` change the load;
 * each run starts a new program.
 */
export async function refill(): Promise<void> {
  const measured: { uncached: RefillResult; cached: RefillResult }[] = []
  for (let run = 0; run < runs; run++) measured.push(await measure())
  console.log(
    `\n${stations} stations: ${shape.playlists} playlists of ${shape.tracks} songs, ${shape.played} plays, ${queueLength} rows each; ${runs} runs`
  )
  printTable(
    ['libraries', 'all queues filled after, s', 'CPU of the workers, s', 'memory of the workers, MB'],
    [
      ['cached', ...columns(measured.map(({ cached }) => cached))],
      ['not cached', ...columns(measured.map(({ uncached }) => uncached))]
    ]
  )
}

function columns(filled: readonly RefillResult[]): string[] {
  return [
    formatSpread(
      filled.map(({ seconds }) => seconds),
      2
    ),
    formatSpread(
      filled.map(({ cpuSeconds }) => cpuSeconds),
      2
    ),
    formatSpread(filled.map(({ memoryMb }) => memoryMb))
  ]
}

async function measure() {
  const program = await startProgram(port)
  const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    await seedLibraries(sql, { stations, ...shape, dueMs: Date.now() + shape.songMs })
    const workers = findPid(program.pid, 'workers')
    const uncached = await measureRefill(sql, workers, () => sql`update stations set is_enabled = true`)
    const cached = await measureRefill(sql, workers, async () => {
      await sql.begin(async tx => {
        await tx`delete from queue`
        await tx`update stations set filled_version = -1`
      })
    })
    return { uncached, cached }
  } finally {
    await sql.end()
    await program.stop()
  }
}

async function measureRefill(
  sql: postgres.Sql,
  workers: number,
  start: () => Promise<unknown>
): Promise<RefillResult> {
  // Lets the sweep finish its current run.
  await wait(2_000)
  const cpuBefore = readCpuSeconds(workers)
  const fromMs = nowMs()
  await start()
  for (;;) {
    const [{ rows } = { rows: 0 }] = await sql<{ rows: number }[]>`select count(*)::int as rows from queue`
    if (rows >= stations * queueLength) break
    if (nowMs() - fromMs > timeoutMs)
      throw new Error(`${rows} of ${stations * queueLength} queue rows after ${timeoutMs} ms`)
    await wait(20)
  }
  const seconds = (nowMs() - fromMs) / 1_000
  return {
    seconds,
    cpuSeconds: readCpuSeconds(workers) - cpuBefore,
    memoryMb: readMemoryBytes(workers) / 2 ** 20
  }
}
