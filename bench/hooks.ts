import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { nowMs } from './clock.ts'
import { readCpuByRole } from './cpu.ts'
import { listen } from './listener.ts'
import { type Program, startProgram } from './program.ts'
import { seedStations } from './seed.ts'
import { positiveInteger, runs, seconds, selectParts } from './settings.ts'
import { formatNumber, formatSpread, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_280
const receivers = 16
const env = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }
const timeoutMs = 120_000

/**
 * Measures web hooks: deliveries per second from a backlog, and the delay that hanging receivers cause for
 * others. `PARTS` selects from `rate` and `hang`; `HOOKS`, `RUNS` and `SECONDS` change the load. All traffic
 * is local.
 */
export async function hooks(): Promise<void> {
  for (const part of selectParts(['rate', 'hang'])) await { rate, hang }[part]()
}

type OnDelivery = (playId: number, atMs: number) => void

async function openReceivers(onDelivery: OnDelivery): Promise<{ urls: string[]; close: () => void }> {
  const servers = await Promise.all(Array.from({ length: receivers }, () => openReceiver(onDelivery)))
  return {
    urls: servers.map(({ url }) => url),
    close: () => servers.forEach(({ server }) => server.close().closeAllConnections())
  }
}

async function openReceiver(onDelivery: OnDelivery): Promise<{ server: Server; url: string }> {
  const receive = async (request: IncomingMessage) => {
    const atMs = Date.now()
    onDelivery(JSON.parse(await text(request)).now_playing.sh_id, atMs)
  }
  const server = createServer((request, response) => {
    // A hanging receiver never responds.
    if (request.url === '/hang') return
    void receive(request).then(() => response.writeHead(204).end())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { server, url: `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}` }
}

/** Creates one web hook per station; the web hooks use `urls` in turn. */
async function seedHooks(sql: postgres.Sql, stationIds: readonly number[], urls: readonly string[]) {
  const rows = stationIds.map((id, index) => ({
    station_id: id,
    type: 'generic',
    triggers: sql.json(['song_changed']),
    config: sql.json([
      { key: 'webhook_url', value: urls[index % urls.length] ?? '' },
      { key: 'timeout', value: 10 }
    ])
  }))
  await sql`insert into webhooks ${sql(rows)}`
}

async function rate(): Promise<void> {
  const hookCount = positiveInteger('HOOKS', 200)
  const each = 50
  const measured: { perSecond: number; cores: number }[] = []
  for (let run = 0; run < runs; run++) {
    const program = await startProgram(port, { env })
    const sql = postgres(program.databaseUrl, { max: 2, onnotice: () => {} })
    const opened = await openReceivers(() => {})
    try {
      await seedStations(sql, {
        stations: hookCount,
        tracks: 5,
        songMs: 3_600_000,
        dueInMs: settleMs - Math.round(3_600_000 / hookCount)
      })
      const ids = await readStationIds(sql)
      await seedHooks(sql, ids, opened.urls)
      measured.push(await measureBacklog(program, sql, hookCount, each))
    } finally {
      opened.close()
      await sql.end()
      await program.stop()
    }
  }
  console.log(
    `\nA backlog of ${each} events for each of ${hookCount} web hooks, ${receivers} receivers; ${runs} runs`
  )
  printTable(
    ['deliveries per second', 'cores in use'],
    [
      [
        formatSpread(measured.map(({ perSecond }) => perSecond)),
        formatSpread(
          measured.map(({ cores }) => cores),
          2
        )
      ]
    ]
  )
}

async function measureBacklog(program: Program, sql: postgres.Sql, hookCount: number, each: number) {
  const state = await readExampleState(sql)
  const before = readCpuByRole(program.pid)
  const fromMs = nowMs()
  await sql.begin(async tx => {
    await tx`
      insert into webhook_events (station_id, fact, happened_at_ms, state)
      select s.id, 'bench:' || n, 1767950000000 + n, jsonb_set(${state}::text::jsonb, '{stationId}', to_jsonb(s.id))
      from stations s, generate_series(1, ${each}::int) n`
    await tx`
      insert into webhook_deliveries (webhook_id, event_id, message_id, triggers, happened_at_ms, next_attempt_ms)
      select w.id, e.id, 'evt_' || e.id, '{song_changed}', e.happened_at_ms, e.happened_at_ms
      from webhooks w join webhook_events e on e.station_id = w.station_id`
  })
  const total = hookCount * each
  for (;;) {
    const [{ left } = { left: 0 }] = await sql<{ left: number }[]>`
      select count(*)::int as left from webhook_deliveries where state = 'pending'`
    if (left === 0) break
    if (nowMs() - fromMs > timeoutMs) {
      const attempts = await sql`
        select a.error, a.status, count(*)::int from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
        where d.state = 'pending' group by 1, 2`
      throw new Error(
        `${left} of ${total} deliveries are pending after ${timeoutMs} ms; attempts: ${JSON.stringify(attempts)}`
      )
    }
    await wait(50)
  }
  const elapsedSeconds = (nowMs() - fromMs) / 1_000
  const after = readCpuByRole(program.pid)
  const used = Object.keys(after).reduce((sum, role) => sum + (after[role] ?? 0) - (before[role] ?? 0), 0)
  return { perSecond: total / elapsedSeconds, cores: used / elapsedSeconds }
}

/** Waits for the event of the first song change and returns its state. */
async function readExampleState(sql: postgres.Sql): Promise<string> {
  const fromMs = nowMs()
  for (;;) {
    const [event] = await sql<{ state: string }[]>`select state::text from webhook_events limit 1`
    if (event) return event.state
    if (nowMs() - fromMs > timeoutMs) throw new Error(`no event was stored within ${timeoutMs} ms`)
    await wait(50)
  }
}

async function readStationIds(sql: postgres.Sql): Promise<number[]> {
  const rows = await sql<{ id: string }[]>`select id from stations order by id`
  return rows.map(({ id }) => Number(id))
}

const hangStations = 50
const songMs = 2_500
const settleMs = 5_000

async function hang(): Promise<void> {
  const arrivals = new Map<number, number>()
  const opened = await openReceivers((playId, atMs) => arrivals.set(playId, atMs))
  const hangingOnly = await openReceivers(() => {})
  const program = await startProgram(port, { env })
  const sql = postgres(program.databaseUrl, { max: 2, onnotice: () => {} })
  try {
    await seedStations(sql, { stations: hangStations, tracks: 20, songMs, dueInMs: settleMs })
    const ids = await readStationIds(sql)
    await seedHooks(sql, ids, opened.urls)
    const listener = await listen(program.baseUrl, ids)
    await wait(settleMs)
    const rows: string[][] = []
    for (let round = 0; round < 2; round++) {
      rows.push(['none', ...(await measureLatencies(sql, listener.seenAtMs, arrivals))])
      const hanging = await sql<{ id: string }[]>`
        insert into webhooks (station_id, type, triggers, config)
        select id, 'generic', '["song_changed"]', jsonb_build_array(jsonb_build_object('key', 'webhook_url',
          'value', case row_number() over (order by id) when 1 then ${opened.urls[0] ?? ''} else ${hangingOnly.urls[0] ?? ''} end || '/hang'))
        from stations order by id limit 10 returning id`
      await wait(1_000)
      rows.push(['10', ...(await measureLatencies(sql, listener.seenAtMs, arrivals))])
      await sql`update webhooks set is_enabled = false where id = any(${hanging.map(({ id }) => id)}::bigint[])`
      // Requests that hang now reach their timeout.
      await wait(11_000)
    }
    listener.close()
    console.log(
      `\n${hangStations} stations with songs of ${songMs} ms and one web hook each, ${seconds} s per row; a hanging web hook reaches its timeout of 10 s at each attempt, and one of the ten uses the receiver of other web hooks`
    )
    printTable(['hanging web hooks', 'song changes', 'push p50 / p99, ms', 'web hooks p50 / p99, ms'], rows)
  } finally {
    opened.close()
    hangingOnly.close()
    await sql.end()
    await program.stop()
  }
}

/** Measures from the start of a song to its WebSocket frame, and to its request at a receiver. */
async function measureLatencies(
  sql: postgres.Sql,
  seenAtMs: ReadonlyMap<number, number>,
  arrivals: ReadonlyMap<number, number>
): Promise<string[]> {
  const fromMs = Date.now()
  await wait(seconds * 1_000)
  const toMs = Date.now()
  await wait(1_000)
  const plays = await sql<{ id: string; startedAtMs: string }[]>`
    select id, started_at_ms as "startedAtMs" from song_history where started_at_ms between ${fromMs} and ${toMs}`
  const of = (times: ReadonlyMap<number, number>) => {
    const found = sortAscending(
      plays.flatMap(({ id, startedAtMs }) => {
        const atMs = times.get(Number(id))
        return atMs === undefined ? [] : [atMs - Number(startedAtMs)]
      })
    )
    const missing = plays.length - found.length
    const shown = `${formatNumber(quantile(found, 0.5))} / ${formatNumber(quantile(found, 0.99))}`
    return missing === 0 ? shown : `${shown} (${missing} missing)`
  }
  return [formatNumber(plays.length), of(seenAtMs), of(arrivals)]
}
