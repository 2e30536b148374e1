import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

import { momentNow, openClients } from './clients.ts'
import { counted, renderTrends, type Summary, trendStats } from './summary.ts'

/**
 * A k6 script, started by `npm run bench -- push`: sockets that follow one station, many on the event loop of
 * each virtual user, and changes at a constant rate by the public interface.
 */
// k6 names it so.
// oxlint-disable-next-line no-underscore-dangle
declare const __ENV: Readonly<Record<string, string | undefined>>

const { BASE_URL: baseUrl = '', KEY: key = '' } = __ENV
const sockets = Number(__ENV['SOCKETS'] ?? 1_000)
const rate = Number(__ENV['RATE'] ?? 2)
const seconds = Number(__ENV['SECONDS'] ?? 5)
const openingSeconds = Number(__ENV['OPENING_SECONDS'] ?? 10)
const socketsEach = 100
const station = '1'

const arrived = new Trend('arrived', true)
const problems = new Counter('problems')

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
  thresholds: { problems: ['count==0'] },
  summaryTrendStats: trendStats
}

export function follow(): void {
  openClients({
    url: `${baseUrl.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`,
    stations: Array.from({ length: Math.min(sockets, socketsEach) }, () => station),
    seconds: openingSeconds + seconds + 2,
    arrived,
    onProblem: () => problems.add(1)
  })
}

export function change(): void {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ total: momentNow() })
  const response = http.put(`${baseUrl}/api/station/${station}/listeners`, body, { headers, timeout: '10s' })
  if (response.status !== 200) problems.add(1)
}

export function handleSummary(summary: Summary) {
  const head = `${sockets} sockets, ${rate} changes/s for ${seconds} s`
  return {
    stdout: [
      '',
      renderTrends(summary, head, { 'request to frame': 'arrived' }),
      `  problems: ${counted(summary, 'problems')}, expected frames: ${sockets * rate * seconds}`,
      ''
    ].join('\n')
  }
}
