import { setTimeout as wait } from 'node:timers/promises'

import { readCpuSeconds } from './cpu.ts'
import { type ProgramOnAir, startProgramOnAir } from './on-air.ts'
import { marker } from './peers/publication.ts'
import { publishFor, waitForFrames } from './peers/push.ts'
import { serverCore } from './pin.ts'
import type { AddedServer } from './program.ts'
import { positiveInteger, seconds, selectParts } from './settings.ts'
import { openReceiver, type Receiver } from './sockets/receivers.ts'
import { formatSpread, median } from './statistics.ts'
import { measureStepCost } from './steps.ts'
import { printTable } from './table.ts'
import { findTool } from './tools.ts'
import { runWrk } from './wrk.ts'

/**
 * Measures what metrics cost: `npm run bench -- metrics` runs pairs with `METRICS_PORT`, scraped every 10 seconds as in
 * `ops/prometheus`, and without it (`SCRAPE_SECONDS`). Both of a pair are started anew, and run under the same load at
 * the same time on the same core, so that whatever slows the machine slows both. `get` and `push`: the CPU of a server
 * per request and per frame. `steps`: the CPU of the whole program per step. `PAIRS` sets the number of pairs.
 * `BASELINE` names the folder of another version that was built (`npm run build`): it runs instead of this one without
 * metrics. With `BASELINE=same` neither has metrics, which shows how far two equal programs differ.
 */
export async function metrics(): Promise<void> {
  const parts = selectParts(['get', 'push', 'steps'])
  const rows: string[][] = []
  if (parts.includes('get')) rows.push(await compareGets())
  if (parts.includes('push')) rows.push(await comparePush())
  if (parts.includes('steps')) rows.push(await compareSteps())
  printTable(['CPU', 'without', 'with metrics', 'median of the differences, %', 'all together, %'], rows)
}

const pairs = positiveInteger('PAIRS', 10)
const sockets = positiveInteger('SOCKETS', 1_000)
const connections = positiveInteger('CONNECTIONS', 32)
const baseline = process.env['BASELINE']
const isSame = baseline === 'same'
const port = 18_310
const stations = 100
const stepStations = 1_000
const stepsPerSecond = positiveInteger('STEPS', 80)
const publicationsPerSecond = 25
const warmUpSeconds = 3
const warmUpScrapes = 20
const settleMs = 1_000
const scrapeMs = positiveInteger('SCRAPE_SECONDS', 10) * 1_000

/** The two of a pair, in the order in which they start. */
interface Variant {
  readonly hasMetrics: boolean
  readonly port: number
  readonly env: Readonly<Record<string, string>>
  readonly folder: string | undefined
}

/** Work that was done, and the CPU that it took. */
interface Work {
  readonly count: number
  readonly cpuSeconds: number
}

type Pair = Readonly<Record<'without' | 'withMetrics', Work>>

/** Runs pairs. The order in which the two start changes from pair to pair. */
async function runPairs(
  measure: (variants: readonly Variant[]) => Promise<readonly Work[]>
): Promise<Pair[]> {
  const measured: Pair[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const without = { hasMetrics: false, port: port + 1, env: {}, folder: isSame ? undefined : baseline }
    const withMetrics = {
      ...without,
      hasMetrics: true,
      port: port + 2,
      env: isSame ? {} : { METRICS_PORT: String(port + 9) },
      folder: undefined
    }
    const variants = pair % 2 === 0 ? [without, withMetrics] : [withMetrics, without]
    const stopScraping = isSame ? () => {} : scrapeRegularly()
    const works = await measure(variants)
    stopScraping()
    const workOf = (hasMetrics: boolean) =>
      works[variants.findIndex(each => each.hasMetrics === hasMetrics)] ?? { count: 0, cpuSeconds: 0 }
    measured.push({ without: workOf(false), withMetrics: workOf(true) })
  }
  return measured
}

/** Scrapes until the returned function is called. */
function scrapeRegularly(): () => void {
  const timer = setInterval(() => void scrape().catch(() => {}), scrapeMs)
  return () => clearInterval(timer)
}

async function scrape(): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port + 9}/metrics`)
  await response.text()
}

/** `perSecond` is the unit: 1,000 for milliseconds of CPU. */
function renderRow(name: string, measured: readonly Pair[], perSecond: number): string[] {
  const cost = ({ cpuSeconds, count }: Work) => (cpuSeconds / count) * perSecond
  const differences = measured.map(pair => (cost(pair.withMetrics) / cost(pair.without) - 1) * 100)
  const sum = (works: readonly Work[]) =>
    cost(works.reduce((a, b) => ({ count: a.count + b.count, cpuSeconds: a.cpuSeconds + b.cpuSeconds })))
  const without = measured.map(pair => pair.without)
  const withMetrics = measured.map(pair => pair.withMetrics)
  return [
    name,
    formatSpread(without.map(cost), 2),
    formatSpread(withMetrics.map(cost), 2),
    `${median(differences).toFixed(1)} (${Math.min(...differences).toFixed(1)} to ${Math.max(...differences).toFixed(1)})`,
    ((sum(withMetrics) / sum(without) - 1) * 100).toFixed(1)
  ]
}

/** Starts the servers of each pair beside the program, which only writes. */
async function compareServers(
  measure: (program: ProgramOnAir, servers: readonly AddedServer[]) => Promise<readonly Work[]>
): Promise<Pair[]> {
  const program = await startProgramOnAir(port, { stations })
  try {
    return await runPairs(async variants => {
      const servers: AddedServer[] = []
      try {
        for (const { port: own, env, folder } of variants)
          servers.push(await program.addServer(own, serverCore, { env, folder }))
        // The first scrapes of a process compile their code.
        if (!isSame) for (let each = 0; each < warmUpScrapes; each++) await scrape()
        return await measure(program, servers)
      } finally {
        await Promise.all(servers.map(async server => server.stop()))
      }
    })
  } finally {
    await program.stop()
  }
}

async function compareGets(): Promise<string[]> {
  const wrk = findTool('wrk', 'metrics: GET')
  if (wrk === null) return ['GET of one station: wrk is missing']
  const load = async ({ baseUrl }: AddedServer, forSeconds: number) =>
    runWrk(wrk, `${baseUrl}/api/nowplaying/1`, { connections, seconds: forSeconds })
  const measured = await compareServers(async (_, servers) => {
    await Promise.all(servers.map(async server => load(server, warmUpSeconds)))
    return Promise.all(
      servers.map(async server => {
        const before = readCpuSeconds(server.pid)
        const { requests } = await load(server, seconds)
        return { count: requests, cpuSeconds: readCpuSeconds(server.pid) - before }
      })
    )
  })
  return renderRow('GET of one station, us', measured, 1e6)
}

async function comparePush(): Promise<string[]> {
  const receivers = [openReceiver(), openReceiver()]
  try {
    const measured = await compareServers(async (program, servers) => {
      const publish = async (total: number) => program.reportListeners(1, total)
      await everyReceiver(receivers, servers, sockets)
      await publishFor(publish, publicationsPerSecond, warmUpSeconds)
      await wait(settleMs)
      for (const receiver of receivers)
        await receiver.run({ type: 'count', sampling: { marker, isLast: false, every: sockets } })
      const before = servers.map(({ pid }) => readCpuSeconds(pid))
      const sent = await publishFor(publish, publicationsPerSecond, seconds)
      for (const receiver of receivers) await waitForFrames(receiver, sent.size * sockets)
      const after = servers.map(({ pid }) => readCpuSeconds(pid))
      const reports = await Promise.all(receivers.map(async receiver => receiver.run({ type: 'read' })))
      await everyReceiver(receivers, servers, 0)
      return reports.map(({ frames }, index) => ({
        count: frames,
        cpuSeconds: (after[index] ?? 0) - (before[index] ?? 0)
      }))
    })
    return renderRow(`frame of one of ${sockets} sockets, us`, measured, 1e6)
  } finally {
    for (const receiver of receivers) await receiver.close()
  }
}

/** Opens sockets to the server of each receiver, or closes them. */
async function everyReceiver(receivers: readonly Receiver[], servers: readonly AddedServer[], count: number) {
  for (const [index, { baseUrl }] of servers.entries())
    await receivers[index]?.run({
      type: 'open',
      target: {
        port: Number(new URL(baseUrl).port),
        path: '/api/live/nowplaying/websocket',
        connectMessages: ['{"subs":{"station:1":{"recover":true}}}']
      },
      count
    })
}

async function compareSteps(): Promise<string[]> {
  const measured = await runPairs(variants =>
    Promise.all(
      variants.map(async ({ port: own, env, folder }) => {
        const { count, cpuMs } = await measureStepCost(stepStations, {
          port: own,
          stepsPerSecond,
          program: { env, folder }
        })
        const perStepMs = Object.values(cpuMs).reduce((sum, each) => sum + each, 0)
        return { count, cpuSeconds: (perStepMs * count) / 1_000 }
      })
    )
  )
  return renderRow('step of the whole program, ms', measured, 1_000)
}
