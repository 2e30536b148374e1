import exec from 'k6/execution'
import http, { type RefinedResponse, type ResponseType } from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

import { momentNow, openClients } from './clients.ts'
import { counted, renderTrends, type Summary, trendStats } from './summary.ts'

/**
 * A k6 script, started by `npm run bench -- mixed`: what an installation sees on a busy evening. Polls at a
 * constant rate (of a hundred, 90 are of one station, 5 of its page, 5 of all stations), sockets spread over
 * all stations, reports of listeners.
 */
// k6 names it so.
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
const page = new Trend('page', true)
const all = new Trend('all', true)
const report = new Trend('report', true)
const arrived = new Trend('arrived', true)
const problems = new Counter('problems')

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
  thresholds: { problems: ['count==0'], dropped_iterations: ['count>=0'] },
  summaryTrendStats: trendStats
}

export function follow(): void {
  openClients({
    url: `${baseUrl.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`,
    stations: Array.from({ length: Math.min(sockets, socketsEach) }, (_, index) =>
      String((index % stations) + 1)
    ),
    seconds: openingSeconds + seconds + 2,
    arrived,
    onProblem: () => problems.add(1)
  })
}

export function poll(): void {
  const turn = exec.scenario.iterationInTest % 100
  const station = anyStation()
  if (turn < 90) measure(one, http.get(`${baseUrl}/api/nowplaying/${station}`, { timeout: '10s' }))
  else if (turn < 95) measure(page, http.get(`${baseUrl}/api/station/${station}`, { timeout: '10s' }))
  else measure(all, http.get(`${baseUrl}/api/nowplaying`, { timeout: '10s' }))
}

export function change(): void {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ total: momentNow() })
  const url = `${baseUrl}/api/station/${anyStation()}/listeners`
  measure(report, http.put(url, body, { headers, timeout: '10s' }))
}

const anyStation = () => Math.floor(Math.random() * stations) + 1

function measure(trend: Trend, response: RefinedResponse<ResponseType | undefined>): void {
  trend.add(response.timings.duration)
  if (response.status !== 200) problems.add(1)
}

export function handleSummary(summary: Summary) {
  const head = `${stations} stations, ${sockets} sockets, ${polls} polls/s, ${changes} changes/s, ${seconds} s`
  const rows = {
    'GET one station': 'one',
    'GET the station’s page': 'page',
    'GET all stations': 'all',
    'PUT listeners': 'report',
    'change at a socket': 'arrived'
  }
  return {
    stdout: [
      '',
      renderTrends(summary, head, rows),
      `  problems: ${counted(summary, 'problems')}, not sent in time: ${counted(summary, 'dropped_iterations')}`,
      ''
    ].join('\n')
  }
}
