import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { measureCores } from './cores.ts'
import { runK6 } from './k6.ts'
import { startProgram } from './program.ts'
import { seedStations } from './seed.ts'
import { findTool } from './tools.ts'

const port = 18_081
const stations = 10
const songMs = 180_000
const settleMs = 5_000
/** A key may write 100 times a second. */
const keyCount = 8
const adminKey = '00000000000bec00:000000000000000000000000000bec00'

/**
 * Measures how fast records are read and written: `npm run bench -- crud`. Starts the whole program with an
 * empty data folder and ten playing stations. k6 (`bench/k6/crud.ts`) sends 1,000 requests a second for a
 * minute. Prints latencies and CPU. The program and k6 share the machine. `RATE` and `SECONDS` change the
 * load. Exits with the code of k6: 99 if a threshold was crossed.
 */
export async function crud(): Promise<void> {
  if (findTool('k6', 'crud') === null) return
  const program = await startProgram(port, { env: { ADMIN_API_KEY: adminKey } })
  const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    await seedStations(sql, { stations, tracks: 60, songMs, dueInMs: settleMs })
    const ids = await sql<{ id: string }[]>`select id from stations order by id`
    await wait(settleMs)
    const keys: string[] = []
    for (let number = 1; number <= keyCount; number++)
      keys.push(await createKey(program.baseUrl, `Bench ${number}`))
    const printCores = measureCores(program.pid)
    const env = {
      BASE_URL: program.baseUrl,
      KEYS: keys.join(),
      STATIONS: ids.map(({ id }) => id).join()
    }
    process.exitCode = (await runK6('crud.ts', env, { isPinned: false })) ?? 1
    printCores()
  } finally {
    await sql.end()
    await program.stop()
  }
}

async function createKey(baseUrl: string, name: string): Promise<string> {
  const response = await fetch(`${baseUrl}/api/v1/main/api-keys`, {
    method: 'POST',
    headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, permissions: ['administer all'] }),
    signal: AbortSignal.timeout(5_000)
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`creating an API key failed: ${response.status} ${text}`)
  const { key }: { key: string } = JSON.parse(text)
  return key
}
