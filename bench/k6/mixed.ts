import exec from 'k6/execution'
import http, { type RefinedResponse, type ResponseType } from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

import { openClients, requestTimeNow } from './clients.ts'
import { readCount, renderTrends, type Summary, trendStats } from './summary.ts'

/**
 * The k6 script of `npm run bench -- mixed`. Sends polls at a constant rate (90 % of one station, 5 % of `GET
 * /api/station/{id}`, 5 % of all stations) and listener counts, and opens sockets for all stations.
 */
// k6 defines this name.
// oxlint-disable-next-line no-underscore-dangle
declare const __ENV: Readonly<Record<string, string | undefined>>

const { BASE_URL: baseUrl = '', KEY: key = '' } = __ENV
const stations = Number(__ENV['STATIONS'] ?? 100)
const sockets = Number(__ENV['SOCKETS'] ?? 1_000)
const polls = Number(__ENV['POLLS'] ?? 500)
const changes = Number(__ENV['CHANGES'] ?? 20)
const seconds = Number(__ENV['SECONDS'] ?? 10)
const openingSeconds = 5
const socketsEach = 100

const one = new Trend('one', true)
const station = new Trend('station', true)
const all = new Trend('all', true)
const report = new Trend('report', true)
const latency = new Trend('latency', true)
const failed = new Counter('failed')

const arrivals = {
  executor: 'constant-arrival-rate',
  timeUnit: '1s',
  startTime: `${openingSeconds}s`,
  duration: `${seconds}s`,
  preAllocatedVUs: 50,
  maxVUs: 200
}

export const options = {
  discardResponseBodies: true,
  scenarios: {
    sockets: {
      executor: 'per-vu-iterations',
      exec: 'follow',
      vus: Math.ceil(sockets / socketsEach),
      iterations: 1,
      maxDuration: `${openingSeconds + seconds + 30}s`
    },
    polls: { ...arrivals, exec: 'poll', rate: polls },
    changes: { ...arrivals, exec: 'change', rate: changes }
  },
  thresholds: { failed: ['count==0'], dropped_iterations: ['count>=0'] },
  summaryTrendStats: trendStats
}

export function follow(): void {
  openClients({
    url: `${baseUrl.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`,
    stations: Array.from({ length: Math.min(sockets, socketsEach) }, (_, index) =>
      String((index % stations) + 1)
    ),
    seconds: openingSeconds + seconds + 2,
    latency,
    onError: () => failed.add(1)
  })
}

export function poll(): void {
  const percentile = exec.scenario.iterationInTest % 100
  const id = pickStation()
  if (percentile < 90) measure(one, http.get(`${baseUrl}/api/nowplaying/${id}`, { timeout: '10s' }))
  else if (percentile < 95) measure(station, http.get(`${baseUrl}/api/station/${id}`, { timeout: '10s' }))
  else measure(all, http.get(`${baseUrl}/api/nowplaying`, { timeout: '10s' }))
}

export function change(): void {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ total: requestTimeNow() })
  const url = `${baseUrl}/api/station/${pickStation()}/listeners`
  measure(report, http.put(url, body, { headers, timeout: '10s' }))
}

const pickStation = () => Math.floor(Math.random() * stations) + 1

function measure(trend: Trend, response: RefinedResponse<ResponseType | undefined>): void {
  trend.add(response.timings.duration)
  if (response.status !== 200) failed.add(1)
}

export function handleSummary(summary: Summary) {
  const head = `${stations} stations, ${sockets} sockets, ${polls} polls/s, ${changes} changes/s, ${seconds} s`
  const rows = {
    'GET one station': 'one',
    'GET /api/station/{id}': 'station',
    'GET all stations': 'all',
    'PUT listeners': 'report',
    'change at a socket': 'latency'
  }
  return {
    stdout: [
      '',
      renderTrends(
        summary,
        { before: [head, 'count'] },
        Object.entries(rows).map(([label, metric]) => ({
          before: [label, readCount(summary, metric)],
          metric
        }))
      ),
      `  errors: ${readCount(summary, 'failed')}, dropped by k6: ${readCount(summary, 'dropped_iterations')}`,
      ''
    ].join('\n')
  }
}
