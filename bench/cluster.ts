import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { Redis } from 'ioredis'
import postgres from 'postgres'

import { putListeners, startFollowers, startReports } from './cluster/load.ts'
import { type Machine, type Network, openNetwork } from './cluster/network.ts'
import { latencyMs, postgresPort, redisPassword, redisPort, serverPort } from './cluster/ports.ts'
import { readCpuByRole } from './cpu.ts'
import { programCommand, waitUntilReady } from './program.ts'
import { seedStations } from './seed.ts'
import { positiveInteger } from './settings.ts'
import { formatNumber, median, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

const adminKey = '00000000000c0de5:000000000000000000000000000c0de5'
const stations = positiveInteger('STATIONS', 3_000)
const sockets = Math.min(positiveInteger('SOCKETS', 1_000), stations)
const reportsPerSecond = positiveInteger('RATE', 1_000)
const phaseSeconds = positiveInteger('SECONDS', 20)
const songMs = 60_000
const tracks = 20
const slots = 16_384
/** Every station, or some that are spread evenly. */
const followed = Array.from({ length: sockets }, (_, index) => Math.floor((index * stations) / sockets) + 1)
const mostLateMs = 100
const noFault = 'no fault'

/**
 * A cluster on one machine: `npm run bench -- cluster` starts three Redis masters, a Postgres, four servers and two
 * workers processes in network namespaces of their own, with 1 ms each way between the stores and the rest. One
 * of each kind is killed by SIGKILL and replaced, and a fourth master is added, while stations play, sockets follow
 * them and listeners are reported. Prints what each phase cost, and compares all servers with Postgres at the end.
 * Needs root, `ip` and `redis-cli`. `STATIONS`, `SOCKETS`, `RATE` (reports a second) and `SECONDS` (of a phase) change
 * the load.
 */
export async function cluster(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-'))
  try {
    using network = openNetwork()
    await measure(await startCluster(network, folder))
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const storeCommand = (...args: readonly string[]) => [
  process.execPath,
  ...process.execArgv,
  fileURLToPath(new URL('cluster/store-machine.ts', import.meta.url)),
  ...args
]

type Cluster = Awaited<ReturnType<typeof startCluster>>

async function startCluster(network: Network, folder: string) {
  const startRedis = async (machine: Machine) => {
    await readLine(machine.start(storeCommand('redis', machine.address, folder)))
    const options = { password: redisPassword, maxRetriesPerRequest: null, retryStrategy: () => 50 }
    const client = new Redis(redisPort, machine.address, options)
    client.on('error', () => {})
    return { machine, client }
  }
  const postgresMachine = network.addMachine('postgres')
  const startPostgres = () =>
    readLine(
      postgresMachine.start(storeCommand('postgres', postgresMachine.address, join(folder, 'postgres')))
    )
  const password = await startPostgres()
  const databaseUrl = `postgres://cuewire:${password}@${postgresMachine.address}:${postgresPort}/cuewire`
  const masters = await Promise.all(
    [1, 2, 3].map(async number => startRedis(network.addMachine(`redis ${number}`)))
  )
  for (const [index, { client }] of masters.entries())
    await client.call(
      'CLUSTER',
      'ADDSLOTSRANGE',
      Math.ceil((slots * index) / 3),
      Math.ceil((slots * (index + 1)) / 3) - 1
    )
  const nodes = masters.map(({ machine }) => machine.address)
  for (const address of nodes.slice(1)) await masters[0]?.client.call('CLUSTER', 'MEET', address, redisPort)
  for (const { client } of masters)
    await waitFor(async () => /cluster_state:ok[^]*cluster_slots_ok:16384/.test(await client.cluster('INFO')))
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: nodes.map(address => `redis://:${redisPassword}@${address}:${redisPort}`).join(','),
    ADMIN_API_KEY: adminKey,
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'error',
    LIVE_MAX_CONNECTIONS_PER_ADDRESS: '100000'
  }
  const servers = new Set<string>()
  const startServer = async (name: string) => {
    const machine = network.addMachine(name)
    const url = `http://${machine.address}:${serverPort}`
    const child = machine.start(programCommand('src/server.js'), {
      ...env,
      HOST: machine.address,
      PORT: String(serverPort)
    })
    await waitUntilReady(child, `${url}/api/status`)
    servers.add(url)
    return { machine, url, pid: child.pid ?? 0 }
  }
  const startWorkers = (name: string) => {
    const machine = network.addMachine(name)
    machine.start(programCommand('workers/main.js'), env)
    return machine
  }
  const firstServers: Awaited<ReturnType<typeof startServer>>[] = []
  for (const number of [1, 2, 3, 4]) firstServers.push(await startServer(`server ${number}`))
  const workers = [1, 2].map(number => startWorkers(`workers ${number}`))
  return {
    network,
    databaseUrl,
    postgresMachine,
    startPostgres,
    masters,
    startRedis,
    servers,
    startServer,
    firstServers,
    workers,
    startWorkers
  }
}

async function measure(running: Cluster): Promise<void> {
  const {
    databaseUrl,
    postgresMachine,
    startPostgres,
    masters,
    startRedis,
    network,
    servers,
    firstServers,
    workers
  } = running
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {}, connect_timeout: 5 })
  await seedStations(sql, { stations, tracks, songMs, dueInMs: 25_000 })
  await sql`analyze`
  const followers = startFollowers(servers, followed)
  await wait(25_000)
  const reports = startReports(servers, adminKey, stations, reportsPerSecond)
  await wait(5_000)
  const phases: Phase[] = []
  const phase = async (name: string, fault: () => Promise<void>) => {
    const before = await readFigures(running)
    const fromMs = Date.now()
    await Promise.all([fault(), wait(phaseSeconds * 1_000)])
    phases.push({ name, fromMs, toMs: Date.now(), before, after: await readFigures(running) })
    console.log(`${name}: ${followers.open()} of ${sockets} sockets open`)
  }
  await phase(noFault, async () => {})
  await phase('a server is killed, another added', async () => {
    const [, , , last] = firstServers
    last?.machine.kill()
    servers.delete(last?.url ?? '')
    await running.startServer('server 5')
  })
  await phase('workers are killed, others added', async () => {
    workers[0]?.kill()
    await wait(3_000)
    running.startWorkers('workers 3')
  })
  await phase('Postgres is killed, and back after 3 s', async () => {
    postgresMachine.kill()
    await wait(3_000)
    await startPostgres()
  })
  await phase('a Redis master is killed, and back without its data after 3 s', async () => {
    const [, master] = masters
    master?.machine.kill()
    await wait(3_000)
    // The first client connects again.
    if (master) (await startRedis(master.machine)).client.disconnect()
  })
  await phase('a fourth Redis master is added, and gets a quarter of the slots', async () => {
    const added = await startRedis(network.addMachine('redis 4'))
    masters.push(added)
    const address = `${added.machine.address}:${redisPort}`
    const first = `${masters[0]?.machine.address}:${redisPort}`
    await redisCli('--cluster', 'add-node', address, first)
    await waitFor(async () => /cluster_known_nodes:4/.test(await added.client.cluster('INFO')))
    await wait(2_000)
    await redisCli(
      '--cluster',
      'rebalance',
      first,
      '--cluster-use-empty-masters',
      '--cluster-pipeline',
      '100'
    )
  })
  await phase(noFault, async () => {})
  await reports.stop()
  await printPhases(sql, phases, followers.seenAtMs, reports)
  await checkAgreement(sql, [...servers])
  followers.stop()
  await sql.end()
  for (const { client } of masters) client.disconnect()
}

interface Figures {
  readonly cpu: Readonly<Record<string, number>>
  /** Commands so far, by master; 0 for one that does not answer. */
  readonly commands: readonly number[]
  readonly bytesIntoServer: number
}

interface Phase {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
  readonly before: Figures
  readonly after: Figures
}

async function readFigures({ masters, firstServers }: Cluster): Promise<Figures> {
  const commands = await Promise.all(
    masters.map(async ({ client }) =>
      Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1])
    )
  )
  return {
    cpu: readCpuByRole(process.pid),
    commands,
    bytesIntoServer: readReceivedBytes(firstServers[0]?.pid ?? 0)
  }
}

/** Bytes that the machine of a process has received. */
function readReceivedBytes(pid: number): number {
  const line = /eth0:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/net/dev`, 'utf8'))
  return Number(line?.[1])
}

async function printPhases(
  sql: postgres.Sql,
  phases: readonly Phase[],
  seenAtMs: ReadonlyMap<number, number>,
  { reports, listed }: ReturnType<typeof startReports>
): Promise<void> {
  const rows: string[][] = []
  for (const { name, fromMs, toMs, before, after } of phases) {
    const elapsedS = (toMs - fromMs) / 1_000
    const plays = await sql<{ id: string; startedAtMs: string }[]>`
      select id, started_at_ms as "startedAtMs" from song_history
      where started_at_ms >= ${fromMs} and started_at_ms < ${toMs} and station_id = any(${followed}::bigint[])`
    const seen = plays.map(({ id, startedAtMs }) => ({
      atMs: Number(startedAtMs),
      lateMs: (seenAtMs.get(Number(id)) ?? Infinity) - Number(startedAtMs)
    }))
    const lateness = sortAscending(seen.map(({ lateMs }) => lateMs))
    const lastLateMs = Math.max(
      fromMs,
      ...seen.filter(({ lateMs }) => lateMs > mostLateMs).map(({ atMs }) => atMs)
    )
    const sent = reports.filter(({ sentAtMs }) => sentAtMs >= fromMs && sentAtMs < toMs)
    const responded = sortAscending(sent.flatMap(({ respondedAfterMs }) => respondedAfterMs ?? []))
    const commands = after.commands.map((count, index) => {
      const earlier = before.commands[index] ?? 0
      return count >= earlier ? count - earlier : count
    })
    const mean = commands.reduce((sum, count) => sum + count, 0) / commands.length
    const cpu = ['workers', 'server', 'Postgres', 'Redis'].map(
      role => Math.max(0, (after.cpu[role] ?? 0) - (before.cpu[role] ?? 0)) / elapsedS
    )
    rows.push([
      name,
      formatNumber((responded.length * listed) / elapsedS),
      formatNumber((sent.length - responded.length) * listed),
      formatNumber(quantile(responded, 0.99)),
      formatNumber(plays.length / elapsedS),
      formatNumber(median(lateness)),
      formatNumber(quantile(lateness, 0.99)),
      lastLateMs === fromMs ? '0' : formatNumber((lastLateMs - fromMs) / 1_000, 1),
      formatNumber(lateness.filter(late => late === Infinity).length),
      formatNumber(Math.max(...commands) / mean, 2),
      formatNumber((after.bytesIntoServer - before.bytesIntoServer) / elapsedS / 1_000),
      // The CPU of processes that have ended is not known.
      name === noFault ? cpu.map(cores => formatNumber(cores, 2)).join(', ') : '-'
    ])
  }
  console.log(
    `${stations} stations, ${sockets} sockets, ${reportsPerSecond} reports/s in lists of ${listed}, ${latencyMs} ms each way to the stores`
  )
  printTable(
    [
      'phase',
      'reports/s',
      'refused',
      'p99, ms',
      'followed steps/s',
      'lateness p50',
      'p99, ms',
      `last over ${mostLateMs} ms after, s`,
      'never seen',
      'commands of a master, max/mean',
      'into a server, kB/s',
      'cores: workers, servers, Postgres, Redis'
    ],
    rows
  )
}

/** Reports a last count of each station, and throws unless all servers show it and the play of Postgres. */
async function checkAgreement(sql: postgres.Sql, urls: readonly string[]): Promise<void> {
  const [first = ''] = urls
  for (let from = 1; from <= stations; from += 500) {
    const last = Array.from({ length: Math.min(500, stations - from + 1) }, (_, index) => ({
      station: from + index,
      total: ((from + index) % 50) + 7
    }))
    if (!(await putListeners(first, adminKey, last))) throw new Error('the last reports were refused')
  }
  const differing = async () => {
    const plays = await sql<{ station: string; play: string }[]>`
      select station_id as station, max(id) as play from song_history where ended_at_ms is null group by station_id`
    const playOf = new Map(plays.map(({ station, play }) => [Number(station), Number(play)]))
    const wrong = new Set<string>()
    for (const url of urls) {
      const shown: ShownStation[] = JSON.parse(await (await fetch(`${url}/api/nowplaying`)).text())
      if (shown.length !== stations) wrong.add(`${url} shows ${shown.length} stations`)
      for (const { station, now_playing: playing, listeners } of shown) {
        const isWrong = playing.sh_id !== playOf.get(station.id) || listeners.total !== (station.id % 50) + 7
        if (isWrong)
          wrong.add(`${url} station ${station.id}: play ${playing.sh_id}, ${listeners.total} listeners`)
      }
    }
    return wrong
  }
  // A song may change between the two reads: only what stays wrong is wrong.
  let wrong: readonly string[] = []
  let before = await differing()
  for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
    await wait(1_000)
    const now = await differing()
    wrong = [...now].filter(each => before.has(each))
    before = now
    if (wrong.length === 0) break
  }
  if (wrong.length > 0) throw new Error(`after 30 s without faults: ${wrong.slice(0, 5).join('; ')}`)
  const [gaps] = await sql<{ count: string }[]>`
    select count(*) from song_history a join song_history b on b.station_id = a.station_id and b.id > a.id
    where a.ended_at_ms is null or (b.started_at_ms < a.ended_at_ms)`
  console.log(
    `${urls.length} servers show the play of Postgres and the last report of all stations; overlapping plays: ${gaps?.count}`
  )
}

interface ShownStation {
  readonly station: { readonly id: number }
  readonly now_playing: { readonly sh_id: number }
  readonly listeners: { readonly total: number }
}

/** Moving a quarter of the slots takes minutes on a busy machine. */
const redisCliMs = 600_000

async function redisCli(...args: readonly string[]): Promise<void> {
  const child = spawn('redis-cli', ['-a', redisPassword, '--no-auth-warning', ...args], {
    timeout: redisCliMs
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (output += data))
  const [status] = await once(child, 'exit')
  const problem =
    status === null ? `did not end within ${redisCliMs / 1_000} s` : `failed: ${output.slice(-2_000)}`
  if (status !== 0) throw new Error(`redis-cli ${args.join(' ')} ${problem}`)
}

/** The first line that a program prints. */
async function readLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no output')
  const exited = once(child, 'exit').then(() => {
    throw new Error('a store did not start')
  })
  const printed = once(child.stdout, 'data')
  const [data] = await Promise.race([printed, exited])
  exited.catch(() => {})
  return String(data).trim()
}

async function waitFor(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await wait(100))
    if (await isTrue()) return
  throw new Error('the Redis Cluster is not ready after 30 s')
}
