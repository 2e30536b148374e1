import { setTimeout as wait } from 'node:timers/promises'

import { readCpuSeconds } from './cpu.ts'
import { type ProgramOnAir, startProgramOnAir } from './on-air.ts'
import { marker } from './peers/publication.ts'
import type { PushServer } from './peers/push-servers.ts'
import { measurePushRun } from './peers/push.ts'
import { serverCore } from './pin.ts'
import type { AddedServer } from './program.ts'
import { positiveInteger, seconds, selectParts } from './settings.ts'
import { openReceiver } from './sockets/receivers.ts'
import { formatSpread, median } from './statistics.ts'
import { measureStepCost } from './steps.ts'
import { printTable } from './table.ts'
import { findTool } from './tools.ts'
import { runWrk } from './wrk.ts'

/**
 * Measures what metrics cost: `npm run bench -- metrics` runs pairs with `METRICS_PORT`, scraped once a second, and
 * without it. `get` and `push`: the CPU of a server per request and per frame; both servers of a pair run all the time,
 * one is under load. `steps`: the CPU of the whole program per step, which is started anew for each run. `PAIRS` sets
 * the number of pairs. `BASELINE` names the folder of another version that was built (`npm run build`): it runs instead
 * of this one without metrics.
 */
export async function metrics(): Promise<void> {
  const parts = selectParts(['get', 'push', 'steps'])
  const rows: string[][] = []
  if (parts.includes('get')) rows.push(...(await compareServers('GET of one station, us', measureGets)))
  if (parts.includes('push')) rows.push(...(await comparePush()))
  if (parts.includes('steps')) rows.push(...(await compareSteps()))
  printTable(['CPU', 'without', 'with metrics', 'median of the differences, %'], rows)
}

const pairs = positiveInteger('PAIRS', 10)
const sockets = positiveInteger('SOCKETS', 2_000)
const connections = positiveInteger('CONNECTIONS', 64)
const baseline = process.env['BASELINE']
const port = 18_310
const metricsPort = 18_319
const stations = 100
const stepStations = 1_000
const scrapeMs = 1_000

/** Scrapes once a second until the returned function is called. */
function scrape(): () => void {
  const timer = setInterval(() => {
    fetch(`http://127.0.0.1:${metricsPort}/metrics`)
      .then(async response => response.text())
      .catch(() => {})
  }, scrapeMs)
  return () => clearInterval(timer)
}

type Measure = (program: ProgramOnAir, server: AddedServer) => Promise<number>

/** Compares two servers of one program. `measure` returns microseconds of CPU per unit of work. */
async function compareServers(name: string, measure: Measure): Promise<string[][]> {
  const program = await startProgramOnAir(port, { stations })
  try {
    const without = await program.addServer(port + 1, serverCore, { folder: baseline })
    const withMetrics = await program.addServer(port + 2, serverCore, {
      env: { METRICS_PORT: String(metricsPort) }
    })
    const stopScraping = scrape()
    await wait(3_000)
    const measured = await alternate(
      () => measure(program, without),
      () => measure(program, withMetrics)
    )
    stopScraping()
    return [renderRow(name, measured, 2)]
  } finally {
    await program.stop()
  }
}

/** Runs pairs. The order changes from pair to pair, so that a drift of the machine affects both alike. */
async function alternate(without: () => Promise<number>, withMetrics: () => Promise<number>) {
  const measured: { without: number; withMetrics: number }[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const isFirst = pair % 2 === 0
    const first = await (isFirst ? without() : withMetrics())
    const second = await (isFirst ? withMetrics() : without())
    measured.push(isFirst ? { without: first, withMetrics: second } : { without: second, withMetrics: first })
  }
  return measured
}

function renderRow(name: string, measured: Awaited<ReturnType<typeof alternate>>, digits: number): string[] {
  const differences = measured.map(pair => (pair.withMetrics / pair.without - 1) * 100)
  return [
    name,
    formatSpread(
      measured.map(pair => pair.without),
      digits
    ),
    formatSpread(
      measured.map(pair => pair.withMetrics),
      digits
    ),
    `${median(differences).toFixed(1)} (${Math.min(...differences).toFixed(1)} to ${Math.max(...differences).toFixed(1)})`
  ]
}

async function measureGets(_: ProgramOnAir, { baseUrl, pid }: AddedServer): Promise<number> {
  const wrk = findTool('wrk', 'metrics: GET')
  if (wrk === null) return Number.NaN
  const url = `${baseUrl}/api/nowplaying/1`
  await runWrk(wrk, url, { connections, seconds: 1 })
  const before = readCpuSeconds(pid)
  const { requests } = await runWrk(wrk, url, { connections, seconds })
  return ((readCpuSeconds(pid) - before) / requests) * 1e6
}

async function comparePush(): Promise<string[][]> {
  const receiver = openReceiver()
  try {
    return await compareServers(
      `frame of one of ${sockets} sockets, us`,
      async (program, { baseUrl, pid }) => {
        const server: PushServer = {
          name: 'Cuewire',
          pid,
          target: {
            port: Number(new URL(baseUrl).port),
            path: '/api/live/nowplaying/websocket',
            connectMessages: ['{"subs":{"station:1":{"recover":true}}}']
          },
          marker,
          garbage: null,
          publish: total => program.reportListeners(1, total),
          stop: () => Promise.resolve()
        }
        const { cpuMicroseconds } = await measurePushRun(server, sockets, receiver, 0)
        return cpuMicroseconds
      }
    )
  } finally {
    await receiver.close()
  }
}

async function compareSteps(): Promise<string[][]> {
  const measured = await alternate(
    () => measureSteps({}, baseline),
    async () => {
      const stopScraping = scrape()
      try {
        return await measureSteps({ METRICS_PORT: String(metricsPort) })
      } finally {
        stopScraping()
      }
    }
  )
  return [renderRow('step of the whole program, ms', measured, 2)]
}

/** Returns the milliseconds of CPU of a step, in all processes. */
async function measureSteps(env: Record<string, string>, folder?: string): Promise<number> {
  const { cpuMs } = await measureStepCost(stepStations, { env, folder })
  return Object.values(cpuMs).reduce((sum, each) => sum + each, 0)
}
