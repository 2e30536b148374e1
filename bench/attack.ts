import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import postgres from 'postgres'

import { isObjectOrArray } from '../src/model/fields/schema-alternatives.ts'
import { attackWithBodies } from './attack-bodies.ts'
import type { AttackCounts, AttackOptions } from './attackers.ts'
import { killOnExit } from './children.ts'
import { readCpuByRole } from './cpu.ts'
import { type Program, startProgram } from './program.ts'
import { seedLibraries } from './seed-libraries.ts'
import { positiveInteger, selectParts } from './settings.ts'
import { formatNumber, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

const port = 4_171
const adminKey = `${'a'.repeat(16)}:${'b'.repeat(32)}`
const station = '/api/station/bench_1'
const seconds = positiveInteger('SECONDS', 20)
const tracks = positiveInteger('TRACKS', 50_000)

/**
 * Requests of legitimate clients during the attack: paths in turn, total rate, headers of the nth request.
 */
interface Load {
  readonly name: string
  readonly paths: readonly string[]
  readonly perSecond: number
  readonly headers: (n: number) => Readonly<Record<string, string>>
}

const loads: readonly Load[] = [
  {
    name: 'operators',
    paths: [
      `${station}/playlists`,
      `${station}/queue`,
      `${station}/history?per_page=25`,
      `${station}/webhooks`,
      '/api/admin/station/1',
      '/api/v1/main/notifications?per_page=10'
    ],
    perSecond: 20,
    headers: () => ({ 'x-api-key': adminKey, 'x-forwarded-for': '192.0.2.1' })
  },
  {
    name: 'now playing',
    paths: ['/api/nowplaying/bench_1'],
    perSecond: 20,
    headers: n => ({ 'x-forwarded-for': `203.0.113.${n % 200}` })
  },
  {
    name: 'visitors',
    paths: [`${station}/requests?per_page=25`, `${station}/requests?per_page=25&searchPhrase=title%20777`],
    perSecond: 4,
    headers: n => ({ 'x-forwarded-for': `203.0.113.${n % 200}` })
  }
]

const attacks: readonly (AttackOptions & { readonly name: string })[] = [
  { name: 'none', addresses: 0, perSecond: 0, inFlight: 0 },
  { name: '1 address', addresses: 1, perSecond: 100, inFlight: 100 },
  { name: '50 addresses', addresses: 50, perSecond: 500, inFlight: 400 }
]

interface LoadResult {
  readonly latenciesMs: number[]
  failures: number
}

/**
 * Measures what attackers do to others, with the default limits: anonymous requests for a whole library
 * (`PARTS=requests`), and bodies that cost as much as possible (`PARTS=bodies`).
 */
export async function attack(): Promise<void> {
  const parts = selectParts(['requests', 'bodies'])
  const stallFolder = mkdtempSync(join(tmpdir(), 'cuewire-stalls-'))
  const env = {
    TRUSTED_PROXIES: '127.0.0.1',
    ADMIN_API_KEY: adminKey,
    LOG_LEVEL: 'fatal',
    ...(parts.includes('bodies') && {
      STALL_FOLDER: stallFolder,
      NODE_OPTIONS: `--import ${new URL('stall-probe.mjs', import.meta.url).href}`
    })
  }
  const program = await startProgram(port, { env })
  try {
    await seed(program)
    if (parts.includes('requests')) await attackWithRequests(program)
    if (
      parts.includes('bodies') &&
      !(await attackWithBodies(program, { ...(await findTarget(program)), stallFolder }))
    )
      process.exitCode = 1
  } finally {
    await program.stop()
    rmSync(stallFolder, { recursive: true })
  }
}

/** Attackers and visitors are told apart by their addresses in `X-Forwarded-For`. */
async function attackWithRequests(program: Program): Promise<void> {
  const rows: string[][] = []
  for (const options of attacks) {
    rows.push(await measure(program, options))
    await wait(5_000)
  }
  const columns = loads.flatMap(({ name }) => [`${name} p50 ms`, 'p99 ms', 'failed'])
  printTable(
    [
      'attackers',
      'requests',
      'answered in full',
      '429 or 503',
      ...columns,
      'server cores',
      'Postgres cores',
      'server, MB'
    ],
    rows
  )
}

/** The station whose key the attacker has: one for each dialect. */
async function findTarget({ baseUrl }: Program) {
  const response = await fetch(`${baseUrl}/api/v1/main/api-keys`, {
    method: 'POST',
    headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Attack', permissions: ['administer all'], dialect: 'azuracast' })
  })
  const created: unknown = await response.json()
  if (!isObjectOrArray(created)) throw new Error('no key was created')
  return { station: 1, keys: { documented: adminKey, azuracast: String(created['key']) } }
}

async function seed({ databaseUrl, baseUrl }: Program): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const dueMs = Date.now() + 180_000
  const perPlaylist = Math.ceil(tracks / 5)
  await seedLibraries(sql, {
    stations: 1,
    playlists: 5,
    tracks: perPlaylist,
    played: 500,
    songMs: 180_000,
    dueMs
  })
  await sql`update playlists set include_in_on_demand = true`
  await sql`update stations set is_enabled = true, revision = revision + 1, station_revision = revision + 1,
    playback_revision = revision + 1`
  await sql.end()
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await wait(200)) {
    const response = await fetch(`${baseUrl}/api/nowplaying/bench_1`)
    const body = response.ok ? await response.text() : ''
    if (body.includes('"playing_next":{')) return
  }
  throw new Error('station bench_1 had no next song after 60 s')
}

/** Returns one row of the table. */
async function measure(program: Program, { name, ...options }: (typeof attacks)[number]): Promise<string[]> {
  const memory = watchMemory(program.serverPid())
  const fromMs = performance.now()
  const before = readCpuByRole(program.pid)
  const attackers = options.addresses === 0 ? null : await startAttackers(program.baseUrl, options)
  // The first seconds of an attack are the slowest, so legitimate requests start together with it.
  const measured = await Promise.all(loads.map(load => runLoad(program.baseUrl, load)))
  const counts = (await attackers?.counts()) ?? { sent: 0, complete: 0, refused: 0 }
  const maxKib = memory.stop()
  const after = readCpuByRole(program.pid)
  const coresOf = (role: string) =>
    ((after[role] ?? 0) - (before[role] ?? 0)) / ((performance.now() - fromMs) / 1_000)
  return [
    name,
    ...[counts.sent, counts.complete, counts.refused].map(count => formatNumber(count)),
    ...measured.flatMap(({ latenciesMs, failures }) => {
      const ordered = sortAscending(latenciesMs)
      return [
        formatNumber(quantile(ordered, 0.5), 1),
        formatNumber(quantile(ordered, 0.99), 1),
        formatNumber(failures)
      ]
    }),
    formatNumber(coresOf('server'), 2),
    formatNumber(coresOf('Postgres'), 2),
    formatNumber(maxKib / 1_024)
  ]
}

/** Starts the attack in a process of its own. `counts` resolves when the attack has ended. */
async function startAttackers(
  baseUrl: string,
  options: AttackOptions
): Promise<{ readonly counts: () => Promise<AttackCounts> }> {
  const file = fileURLToPath(new URL('attackers.ts', import.meta.url))
  const argument = JSON.stringify({ ...options, baseUrl, seconds, station })
  const child = spawn(process.execPath, ['--import', 'tsx', file, argument], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  killOnExit(child)
  const deadline = { signal: AbortSignal.timeout((seconds + 60) * 1_000) }
  await once(child, 'message', deadline)
  const counted = once(child, 'message', deadline)
  child.send('start')
  return {
    counts: async () => {
      const [counts] = await counted
      return counts
    }
  }
}

/** Sends requests at a constant rate without waiting for responses in between, then waits for all of them. */
async function runLoad(baseUrl: string, { paths, perSecond, headers }: Load): Promise<LoadResult> {
  const result: LoadResult = { latenciesMs: [], failures: 0 }
  const sent: Promise<void>[] = []
  for (let n = 0; n < perSecond * seconds; n++) {
    sent.push(sendRequest(`${baseUrl}${paths[n % paths.length]}`, headers(n), result))
    await wait(1_000 / perSecond)
  }
  await Promise.all(sent)
  return result
}

async function sendRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  result: LoadResult
): Promise<void> {
  const startMs = performance.now()
  const status = await new Promise<number>(resolve => {
    const sent = request(url, { headers, timeout: 20_000 }, response => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', () => resolve(0))
    })
    sent.once('timeout', () => sent.destroy())
    sent.once('error', () => resolve(0))
    sent.end()
  })
  result.latenciesMs.push(performance.now() - startMs)
  if (status !== 200) result.failures++
}

/** Samples the resident memory of a process. `stop` returns the maximum in KiB. Linux only. */
function watchMemory(pid: number) {
  let maxKib = 0
  const sample = () => {
    const [, size] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    maxKib = Math.max(maxKib, Number(size))
  }
  const timer = setInterval(sample, 100)
  return {
    stop: () => {
      clearInterval(timer)
      return maxKib
    }
  }
}
