import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import postgres from 'postgres'

import { cpuSeconds, endedChildrenSeconds } from './cpu.ts'
import { startProgram } from './program.ts'
import { seedStations } from './seed.ts'

/**
 * How fast records are read and written: `npm run bench:crud`. Starts the whole program on an empty folder with ten
 * stations that play, lets k6 (`bench/crud.ts`) send 1,000 requests a second for a minute, and reports latencies and
 * CPU. The program and k6 share the machine. `RATE` and `SECONDS` change the load. Ends with k6's exit code: 99
 * if a threshold was missed.
 */
const k6 = process.env['K6'] ?? 'k6'
const port = 18_081
const stations = 10
const songMs = 180_000
const settleMs = 5_000
/** A key may write 100 times a second. */
const keyCount = 8
const adminKey = '00000000000bec00:000000000000000000000000000bec00'

if (spawnSync(k6, ['version']).error) {
  console.error(
    'k6 2 is not on the PATH. Get it with: go install go.k6.io/k6/v2@v2.2.0 (or set K6 to where it is)'
  )
  process.exit(1)
}

const program = await startProgram(port, { env: { ADMIN_API_KEY: adminKey } })
const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
try {
  await seedStations(sql, { stations, tracks: 60, songMs, firstDueMs: Date.now() + settleMs })
  const ids = await sql<{ id: string }[]>`select id from stations order by id`
  await wait(settleMs)
  const keys: string[] = []
  for (let number = 1; number <= keyCount; number++) keys.push(await createKey(`Bench ${number}`))
  const before = { ...cpuSeconds(program.pid), k6: endedChildrenSeconds() }
  const fromMs = Date.now()
  process.exitCode = await runK6({
    BASE_URL: program.baseUrl,
    KEYS: keys.join(),
    STATIONS: ids.map(({ id }) => id).join()
  })
  const after = { ...cpuSeconds(program.pid), k6: endedChildrenSeconds() }
  reportCores(before, after, (Date.now() - fromMs) / 1_000)
} finally {
  await sql.end()
  await program.stop()
}

async function createKey(name: string): Promise<string> {
  const answer = await fetch(`${program.baseUrl}/api/v1/main/api-keys`, {
    method: 'POST',
    headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, permissions: ['administer all'] }),
    signal: AbortSignal.timeout(5_000)
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`no key was made: ${answer.status} ${text}`)
  const { key }: { key: string } = JSON.parse(text)
  return key
}

function reportCores(before: Record<string, number>, after: Record<string, number>, seconds: number): void {
  const cores = Object.entries(after)
    .filter(([role]) => role !== 'other')
    .map(([role, cpu]) => `${role} ${((cpu - (before[role] ?? 0)) / seconds).toFixed(2)}`)
  console.log(`  cores in use: ${cores.join(', ')}`)
}

async function runK6(env: Record<string, string>): Promise<number> {
  const script = fileURLToPath(new URL('crud.ts', import.meta.url))
  const args = ['run', '--quiet', '--log-output', 'file=/dev/stderr,level=error', script]
  const offline = { K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' }
  const child = spawn(k6, args, {
    env: { ...process.env, ...offline, ...env },
    stdio: ['ignore', 'inherit', 'inherit']
  })
  const [code] = await once(child, 'exit')
  return Number(code ?? 1)
}
