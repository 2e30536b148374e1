import { check } from 'k6'
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

import { counted, renderTrends, type Summary, trendStats } from './summary.ts'

/**
 * A k6 script, started by `npm run bench -- get`: one path is polled at a constant rate, whether answers come
 * or not.
 */
// k6 names it so.
// oxlint-disable-next-line no-underscore-dangle
declare const __ENV: Readonly<Record<string, string | undefined>>

const url = __ENV['URL'] ?? ''
const label = __ENV['LABEL'] ?? ''
const rate = Number(__ENV['RATE'] ?? 1_000)
const seconds = Number(__ENV['SECONDS'] ?? 5)
const warmUpSeconds = 2

const answered = new Trend('answered', true)
const refused = new Counter('refused')

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
  // A threshold makes k6 keep the count of this scenario apart.
  thresholds: { refused: ['count==0'], 'dropped_iterations{scenario:get}': ['count>=0'] },
  summaryTrendStats: trendStats
}

export default function poll(): void {
  const response = http.get(url, { timeout: '10s' })
  if (exec.scenario.name === 'get') answered.add(response.timings.duration)
  if (!check(response, { 'answered 200': ({ status }) => status === 200 })) refused.add(1)
}

export function handleSummary(summary: Summary) {
  const late = counted(summary, 'dropped_iterations{scenario:get}')
  return {
    stdout: [
      '',
      renderTrends(summary, `GET at ${rate}/s for ${seconds} s`, { [label]: 'answered' }),
      `  not 200: ${counted(summary, 'refused')}, not sent in time: ${late}`,
      ''
    ].join('\n')
  }
}
