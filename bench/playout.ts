import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { cpuSeconds } from './cpu.ts'
import { listen } from './listener.ts'
import { startProgram } from './program.ts'
import { seedStations } from './seed.ts'
import { wantedParts } from './settings.ts'

/**
 * How well tracks end on time: `npm run bench -- playout`. Starts the whole program on an empty folder for
 * each run, fills it with stations, listens to a sample of them as player widgets do, and reports steps per
 * second, lateness at the widget against the due time, and CPU. `PARTS` selects runs. Takes about eight
 * minutes; traffic stays on 127.0.0.1.
 */
const runs = {
  steady: { name: '1,000 stations, 10 s songs (100/s)', stations: 1_000, songMs: 10_000, seconds: 60 },
  waiting: {
    name: '1,000 stations, 10 s songs, a web hook each that does not fire',
    stations: 1_000,
    songMs: 10_000,
    seconds: 60,
    trigger: 'live_connect'
  },
  fired: {
    name: '1,000 stations, 10 s songs, a web hook each that is delivered',
    stations: 1_000,
    songMs: 10_000,
    seconds: 60,
    trigger: 'song_changed'
  },
  large: { name: '10,000 stations, 180 s songs (56/s)', stations: 10_000, songMs: 180_000, seconds: 90 },
  ceiling: {
    name: '1,000 stations, 1 s songs (1,000/s asked)',
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
  for (const part of wantedParts(parts)) {
    const run: Run = runs[part]
    const program = await startProgram(port, { env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } })
    const receiver = createServer((_, response) => response.writeHead(204).end())
    const sql = postgres(program.databaseUrl, { max: 2, onnotice: () => {} })
    try {
      await seedStations(sql, { ...run, tracks, firstDueMs: Date.now() + settleMs })
      await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
      if (run.trigger) await seedHooks(sql, run.trigger, receiver.address())
      await wait(settleMs)
      const sample = Array.from({ length: Math.min(run.stations, sampledStations) }, (_, index) =>
        Math.floor((index * run.stations) / Math.min(run.stations, sampledStations) + 1)
      )
      const listener = await listen(program.baseUrl, sample)
      // As autovacuum does within a minute: until then plans are those of empty tables.
      await wait(analyzedAfterMs)
      await sql`analyze`
      const before = cpuSeconds(program.pid)
      const fromMs = Date.now()
      await wait(run.seconds * 1_000)
      const after = cpuSeconds(program.pid)
      const toMs = Date.now()
      listener.close()
      const plays = await sql<{ id: string; startedAtMs: string }[]>`
        select id, started_at_ms as "startedAtMs" from song_history where started_at_ms between ${fromMs} and ${toMs}`
      report(run.name, plays, listener.seenAtMs, (toMs - fromMs) / 1_000, before, after)
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
  /** Each station has a web hook with this trigger. */
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
  name: string,
  plays: { id: string; startedAtMs: string }[],
  seenAtMs: ReadonlyMap<number, number>,
  seconds: number,
  before: Record<string, number>,
  after: Record<string, number>
): void {
  const lateness = plays
    .flatMap(({ id, startedAtMs }) => {
      const atMs = seenAtMs.get(Number(id))
      return atMs === undefined ? [] : [atMs - Number(startedAtMs)]
    })
    .toSorted((a, b) => a - b)
  const at = (share: number) => lateness[Math.min(lateness.length - 1, Math.floor(share * lateness.length))]
  const roles = Object.keys(after).filter(role => role !== 'other')
  const used = Object.fromEntries(roles.map(role => [role, (after[role] ?? 0) - (before[role] ?? 0)]))
  const total = Object.values(used).reduce((sum, each) => sum + each, 0)
  const perThousand = (cpu: number) => ((cpu / plays.length) * 1_000).toFixed(2)
  console.log(`\n${name}`)
  console.log(
    `  steps           ${plays.length} in ${seconds.toFixed(0)} s = ${(plays.length / seconds).toFixed(1)}/s`
  )
  console.log(
    `  lateness ms     p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} (${lateness.length} seen by widgets)`
  )
  console.log(
    `  CPU per 1,000   ${perThousand(total)} s = ${roles.map(role => `${role} ${perThousand(used[role] ?? 0)}`).join(', ')}`
  )
  console.log(`  cores in use    ${(total / seconds).toFixed(2)}`)
}
