import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { endWithUs } from './children.ts'
import { cpuSeconds, memoryOf, pidOf } from './cpu.ts'
import { type Program, startProgram } from './program.ts'
import { wantedParts, whole } from './settings.ts'
import { number, quantile, sorted } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_380
const adminKey = '00000000000bec00:000000000000000000000000000bec00'
const stations = whole('STATIONS', 1_000)
const measuredMs = whole('SECONDS', 120) * 1_000
const settleMs = 30_000
/** A key may write 100 times a second. */
const madePerSecond = 80

/** Of 20 stations this many have a server that is not there, and this many one that hangs. */
const parts = { good: { dead: 0, hanging: 0 }, bad: { dead: 1, hanging: 1 } }

/**
 * Asking the streaming servers of 1,000 stations, half of which have listeners, from one worker process: `npm
 * run bench -- polls`. `PARTS` is `good` or `bad` (every twentieth server is not there, and every twentieth
 * hangs); `STATIONS` and `SECONDS` change the load. Traffic stays on 127.0.0.1.
 */
export async function polls(): Promise<void> {
  for (const part of wantedParts(['good', 'bad'])) await measure(part)
}

async function measure(part: keyof typeof parts): Promise<void> {
  const icecasts = await startIcecasts()
  const program = await startProgram(port, { env: { ADMIN_API_KEY: adminKey, LOG_LEVEL: 'error' } })
  try {
    const { dead, hanging } = parts[part]
    for (let n = 1; n <= stations; n++) {
      const place = n % 20 < dead ? 'http://127.0.0.1:1024' : `http://127.0.0.1:${icecasts.port}`
      const path = n % 20 >= dead && n % 20 < dead + hanging ? `hang/${n}` : `${n}`
      await makeStation(program, n, `${place}/${path}`)
      await wait(1_000 / madePerSecond)
    }
    await wait(settleMs)
    await icecasts.report()
    const before = cpuSeconds(program.pid)
    const fromMs = Date.now()
    await wait(measuredMs)
    const after = cpuSeconds(program.pid)
    const seconds = (Date.now() - fromMs) / 1_000
    report(part, await icecasts.report())
    const roles = ['workers', 'postgres', 'redis', 'server']
    const used = roles.map(
      role => `${role} ${number(((after[role] ?? 0) - (before[role] ?? 0)) / seconds, 2)}`
    )
    console.log(`  cores in use: ${used.join(', ')}`)
    console.log(`  memory of the workers: ${number(memoryOf(pidOf(program.pid, 'workers')) / 1e6)} MB`)
  } finally {
    await icecasts.stop()
    await program.stop()
  }
}

type Asked = Readonly<Record<string, readonly number[]>>

async function startIcecasts() {
  const file = fileURLToPath(new URL('icecasts/server.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  endWithUs(child)
  const [ready]: { port: number }[] = await once(child, 'message')
  return {
    port: ready?.port ?? 0,
    /** When each server was asked since the last report. */
    report: async (): Promise<Asked> => {
      const told = once(child, 'message', { signal: AbortSignal.timeout(10_000) })
      child.send('report')
      const [answer]: { asked: Asked }[] = await told
      return answer?.asked ?? {}
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  }
}

async function makeStation(program: Program, n: number, url: string): Promise<void> {
  const answer = await fetch(`${program.baseUrl}/api/admin/stations`, {
    method: 'POST',
    headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      name: `Bench ${n}`,
      backend: n % 2 === 1 ? 'none' : 'clock',
      frontend_url: url,
      frontend_admin_password: 'hush'
    }),
    signal: AbortSignal.timeout(60_000)
  })
  if (!answer.ok) throw new Error(`station ${n}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

function report(part: string, asked: Asked): void {
  const gapsOf = (isMeant: (n: number) => boolean) =>
    sorted(
      Object.entries(asked)
        .filter(([name]) => isMeant(Number(name)))
        .flatMap(([, times]) => times.slice(1).map((atMs, index) => (atMs - (times[index] ?? 0)) / 1_000))
    )
  console.log(
    `\n${stations} stations, ${part === 'good' ? 'all servers answer' : '5 % of the servers are not there, 5 % hang'}`
  )
  printTable(
    ['those that answer', 'asked again after, s: meant', 'times', 'p50', 'p99', 'max'],
    [
      row(
        'with listeners',
        5,
        gapsOf(n => n % 2 === 1)
      ),
      row(
        'idle',
        15,
        gapsOf(n => n % 2 === 0)
      )
    ]
  )
}

const row = (name: string, periodS: number, gaps: readonly number[]) => [
  name,
  `${number(periodS * 0.9, 1)} to ${number(periodS * 1.1, 1)}`,
  number(gaps.length),
  ...[0.5, 0.99, 1].map(share => number(quantile(gaps, share), 2))
]
