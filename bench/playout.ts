import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { readCpuByRole } from './cpu.ts'
import { listen } from './listener.ts'
import { startProgram } from './program.ts'
import { seedStations } from './seed.ts'
import { selectParts } from './settings.ts'
import { formatNumber, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

/**
 * Measures whether songs end on time: `npm run bench -- playout`. For each run, starts the whole program with
 * an empty data folder, creates stations and subscribes to a sample of them as player widgets do. Prints
 * advances per second, lateness (from the due time to the WebSocket frame) and CPU. `PARTS` selects runs.
 * Takes about eight minutes; all traffic is local.
 */
const runs = {
  steady: { name: '1,000, 10 s', stations: 1_000, songMs: 10_000, seconds: 60 },
  waiting: {
    name: '1,000, 10 s, one web hook each that does not fire',
    stations: 1_000,
    songMs: 10_000,
    seconds: 60,
    trigger: 'live_connect'
  },
  fired: {
    name: '1,000, 10 s, one web hook each that fires',
    stations: 1_000,
    songMs: 10_000,
    seconds: 60,
    trigger: 'song_changed'
  },
  large: { name: '10,000, 180 s', stations: 10_000, songMs: 180_000, seconds: 90 },
  ceiling: {
    name: '1,000, 1 s (overload)',
    stations: 1_000,
    songMs: 1_000,
    seconds: 30
  }
}
const parts = ['steady', 'waiting', 'fired', 'large', 'ceiling'] as const
const tracks = 60
const sampledStations = 1_000
const settleMs = 20_000
const analyzedAfterMs = 5_000
const port = 18_080

export async function playout(): Promise<void> {
  for (const part of selectParts(parts)) {
    const run: Run = runs[part]
    const program = await startProgram(port, { env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } })
    const receiver = createServer((_, response) => response.writeHead(204).end())
    const sql = postgres(program.databaseUrl, { max: 2, onnotice: () => {} })
    try {
      await seedStations(sql, { ...run, tracks, dueInMs: settleMs })
      await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
      if (run.trigger) await seedHooks(sql, run.trigger, receiver.address())
      await wait(settleMs)
      const sample = Array.from({ length: Math.min(run.stations, sampledStations) }, (_, index) =>
        Math.floor((index * run.stations) / Math.min(run.stations, sampledStations) + 1)
      )
      const listener = await listen(program.baseUrl, sample)
      // Autovacuum would do this within a minute. Until then, query plans are those of empty tables.
      await wait(analyzedAfterMs)
      await sql`analyze`
      const before = readCpuByRole(program.pid)
      const fromMs = Date.now()
      await wait(run.seconds * 1_000)
      const after = readCpuByRole(program.pid)
      const toMs = Date.now()
      listener.close()
      const plays = await sql<{ id: string; startedAtMs: string }[]>`
        select id, started_at_ms as "startedAtMs" from song_history where started_at_ms between ${fromMs} and ${toMs}`
      report(run, plays, listener.seenAtMs, (toMs - fromMs) / 1_000, before, after)
    } finally {
      receiver.close().closeAllConnections()
      await sql.end()
      await program.stop()
    }
  }
}

interface Run {
  readonly name: string
  readonly stations: number
  readonly songMs: number
  readonly seconds: number
  /** The trigger of the web hook of each station; none if it is not set. */
  readonly trigger?: string
}

async function seedHooks(
  sql: postgres.Sql,
  trigger: string,
  receiver: AddressInfo | string | null
): Promise<void> {
  const url = `http://127.0.0.1:${typeof receiver === 'object' ? (receiver?.port ?? 0) : 0}`
  await sql`
    insert into webhooks (station_id, type, triggers, config)
    select id, 'generic', ${sql.json([trigger])}, ${sql.json([{ key: 'webhook_url', value: url }])} from stations`
}

function report(
  { name, stations, songMs }: Run,
  plays: { id: string; startedAtMs: string }[],
  seenAtMs: ReadonlyMap<number, number>,
  seconds: number,
  before: Record<string, number>,
  after: Record<string, number>
): void {
  const lateness = sortAscending(
    plays.flatMap(({ id, startedAtMs }) => {
      const atMs = seenAtMs.get(Number(id))
      return atMs === undefined ? [] : [atMs - Number(startedAtMs)]
    })
  )
  const cpu = Object.entries(after)
    .filter(([role]) => role !== 'other')
    .map(([role, total]) => ({ role, seconds: total - (before[role] ?? 0) }))
  const totalCpu = cpu.reduce((sum, each) => sum + each.seconds, 0)
  const perThousand = (cpuSeconds: number) => formatNumber((cpuSeconds / plays.length) * 1_000, 2)
  console.log(
    `\n${plays.length} advances in ${seconds.toFixed(0)} s, ${lateness.length} of them in the sample`
  )
  printTable(
    [
      'stations, songs',
      'advances, of scheduled',
      'lateness p50 / p99 / max',
      'CPU per 1,000 advances',
      'cores in use'
    ],
    [
      [
        name,
        `${formatNumber(plays.length / seconds, 1)}/s of ${formatNumber((stations / songMs) * 1_000, 1)}/s`,
        `${[0.5, 0.99, 1].map(share => formatNumber(quantile(lateness, share))).join(' / ')} ms`,
        `${perThousand(totalCpu)} s: ${cpu.map(each => `${each.role} ${perThousand(each.seconds)}`).join(', ')}`,
        formatNumber(totalCpu / seconds, 2)
      ]
    ]
  )
}
