import { check } from 'k6'
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

import { readCount, renderTrends, type Summary, trendStats } from './summary.ts'

/**
 * The k6 script of `npm run bench -- get`. Sends GET requests for one path at a constant rate, regardless of
 * responses.
 */
// k6 defines this name.
// oxlint-disable-next-line no-underscore-dangle
declare const __ENV: Readonly<Record<string, string | undefined>>

const url = __ENV['URL'] ?? ''
const label = __ENV['LABEL'] ?? ''
const rate = Number(__ENV['RATE'] ?? 1_000)
const seconds = Number(__ENV['SECONDS'] ?? 5)
const warmUpSeconds = 2

const duration = new Trend('duration', true)
const failed = new Counter('failed')

const arrivals = {
  executor: 'constant-arrival-rate',
  rate,
  timeUnit: '1s',
  preAllocatedVUs: 50,
  maxVUs: 200
}

export const options = {
  discardResponseBodies: true,
  scenarios: {
    'warm-up': { ...arrivals, duration: `${warmUpSeconds}s` },
    get: { ...arrivals, startTime: `${warmUpSeconds}s`, duration: `${seconds}s` }
  },
  // k6 counts dropped iterations per scenario only if a threshold refers to them; this one always passes.
  thresholds: { failed: ['count==0'], 'dropped_iterations{scenario:get}': ['count>=0'] },
  summaryTrendStats: trendStats
}

export default function poll(): void {
  const response = http.get(url, { timeout: '10s' })
  if (exec.scenario.name === 'get') duration.add(response.timings.duration)
  if (!check(response, { 'status is 200': ({ status }) => status === 200 })) failed.add(1)
}

export function handleSummary(summary: Summary) {
  const dropped = readCount(summary, 'dropped_iterations{scenario:get}')
  return {
    stdout: [
      '',
      renderTrends(summary, { before: ['GET', 'rate'], after: ['dropped by k6'] }, [
        { before: [label, `${rate}/s`], metric: 'duration', after: [dropped] }
      ]),
      `  not 200: ${readCount(summary, 'failed')}`,
      ''
    ].join('\n')
  }
}
