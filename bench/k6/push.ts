import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

import { openClients, requestTimeNow } from './clients.ts'
import { readCount, renderTrends, type Summary, trendStats } from './summary.ts'

/**
 * The k6 script of `npm run bench -- push`. Each virtual user opens up to 100 sockets that subscribe to one
 * station, while another changes its listener count at a constant rate by the REST API.
 */
// k6 defines this name.
// oxlint-disable-next-line no-underscore-dangle
declare const __ENV: Readonly<Record<string, string | undefined>>

const { BASE_URL: baseUrl = '', KEY: key = '' } = __ENV
const sockets = Number(__ENV['SOCKETS'] ?? 1_000)
const rate = Number(__ENV['RATE'] ?? 2)
const seconds = Number(__ENV['SECONDS'] ?? 5)
const openingSeconds = Number(__ENV['OPENING_SECONDS'] ?? 10)
const socketsEach = 100
const station = '1'

const latency = new Trend('latency', true)
const failed = new Counter('failed')

export const options = {
  scenarios: {
    sockets: {
      executor: 'per-vu-iterations',
      exec: 'follow',
      vus: Math.ceil(sockets / socketsEach),
      iterations: 1,
      maxDuration: `${openingSeconds + seconds + 30}s`
    },
    changes: {
      executor: 'constant-arrival-rate',
      exec: 'change',
      rate,
      timeUnit: '1s',
      startTime: `${openingSeconds}s`,
      duration: `${seconds}s`,
      preAllocatedVUs: 10
    }
  },
  thresholds: { failed: ['count==0'] },
  summaryTrendStats: trendStats
}

export function follow(): void {
  openClients({
    url: `${baseUrl.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`,
    stations: Array.from({ length: Math.min(sockets, socketsEach) }, () => station),
    seconds: openingSeconds + seconds + 2,
    latency,
    onError: () => failed.add(1)
  })
}

export function change(): void {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ total: requestTimeNow() })
  const response = http.put(`${baseUrl}/api/station/${station}/listeners`, body, { headers, timeout: '10s' })
  if (response.status !== 200) failed.add(1)
}

export function handleSummary(summary: Summary) {
  return {
    stdout: [
      '',
      renderTrends(summary, { before: ['sockets', 'frames'] }, [
        { before: [sockets, readCount(summary, 'latency')], metric: 'latency' }
      ]),
      `  errors: ${readCount(summary, 'failed')}, expected frames: ${sockets * rate * seconds}`,
      ''
    ].join('\n')
  }
}
