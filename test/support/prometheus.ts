import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { prometheus } from './foreign-programs.ts'
import { alertsFile } from './operations.ts'
import { waitFor } from './wait.ts'

const promtool = '/usr/bin/promtool'

/** Runs `promtool check` with this input. Returns its output; null if it has no complaint. */
export async function findComplaint(args: readonly string[], input = ''): Promise<string | null> {
  return new Promise(resolve => {
    const child = execFile(promtool, ['check', ...args], { timeout: 20_000 }, (error, stdout, stderr) =>
      resolve(error === null && stderr === '' ? null : `${stdout}${stderr}` || 'promtool failed')
    )
    child.stdin?.end(input)
  })
}

/** A real Prometheus with the rules of `ops/prometheus/alerts.yml`. */
export interface Prometheus extends AsyncDisposable {
  /** Returns the values of a query that are numbers. */
  readonly query: (expr: string) => Promise<number[]>
  /** Returns the series of a query over the last `seconds` seconds. */
  readonly range: (expr: string, seconds: number) => Promise<Series[]>
  /** Returns the names of the firing alerts. */
  readonly firing: () => Promise<Set<string>>
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>
  /** Unix seconds and value. */
  readonly points: readonly (readonly [at: number, value: number])[]
}

export interface PrometheusOptions {
  readonly targets: readonly string[]
  /** Replaces `for` of all alerts. */
  readonly pendingFor: string
  /** Replaces the windows of all rates. */
  readonly window: string
  /** Interval and timeout of scrapes; two by default. */
  readonly scrapeSeconds?: number
}

/** Evaluates every two seconds. */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-prometheus-'))
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}/api/v1`
  const scrape = `${options.scrapeSeconds ?? 2}s`
  const rules = readFileSync(alertsFile, 'utf8')
    .replace(/^(\s+for:).*$/gm, `$1 ${options.pendingFor}`)
    .replace(/\[\d+m\]/g, `[${options.window}]`)
  await writeFile(join(folder, 'alerts.yml'), rules)
  await writeFile(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: scrape, scrape_timeout: scrape, evaluation_interval: '2s' },
      rule_files: ['alerts.yml'],
      scrape_configs: [{ job_name: 'cuewire', static_configs: [{ targets: options.targets }] }]
    })
  )
  const child = spawn(
    prometheus,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error'
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] }
  )
  const read = async (path: string): Promise<unknown> => {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(5_000) })
    const body: { data: unknown; error?: string } = JSON.parse(await response.text())
    if (body.error !== undefined) throw new Error(body.error)
    return body.data
  }
  await waitFor(async () => (await read('/status/buildinfo')) !== null, {
    deadlineMs: 20_000,
    what: 'Prometheus to start'
  })
  return {
    query: async expr => {
      const data = await read(`/query?query=${encodeURIComponent(expr)}`)
      return numbersIn(data)
    },
    range: async (expr, seconds) => {
      const end = Math.floor(Date.now() / 1_000)
      const data = await read(
        `/query_range?query=${encodeURIComponent(expr)}&start=${end - seconds}&end=${end}&step=2`
      )
      return seriesIn(data)
    },
    firing: async () => namesIn(await read('/alerts')),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    }
  }
}

interface QueryData {
  readonly result: readonly { readonly value: readonly [number, string] }[]
}

function numbersIn(data: unknown): number[] {
  const { result }: QueryData = JSON.parse(JSON.stringify(data))
  return result.map(({ value }) => Number(value[1])).filter(value => !Number.isNaN(value))
}

interface RangeData {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>
    readonly values: readonly (readonly [number, string])[]
  }[]
}

function seriesIn(data: unknown): Series[] {
  const { result }: RangeData = JSON.parse(JSON.stringify(data))
  return result.map(({ metric, values }) => ({
    labels: metric,
    points: values
      .map(([at, value]) => [at, Number(value)] as const)
      .filter(([, value]) => !Number.isNaN(value))
  }))
}

interface AlertData {
  readonly alerts: readonly { readonly state: string; readonly labels: { readonly alertname: string } }[]
}

function namesIn(data: unknown): Set<string> {
  const { alerts }: AlertData = JSON.parse(JSON.stringify(data))
  return new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname))
}
