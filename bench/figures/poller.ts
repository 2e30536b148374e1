import { Agent, get } from 'node:http'

import { nowMs } from '../clock.ts'

/**
 * Polls one address at a constant rate, whether answers come or not: `poller.ts URL RATE SECONDS`, in a process of its
 * own so that nothing else delays its clock. Sends its parent the latencies in milliseconds; one that failed is infinite,
 * which JSON turns into null.
 */
const [url = '', rate = '0', seconds = '0'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const count = Number(rate) * Number(seconds)
const latencies: number[] = []
const fromMs = nowMs()
let sent = 0

function sendDue(): void {
  const due = Math.min(count, ((nowMs() - fromMs) / 1_000) * Number(rate))
  while (sent < due) {
    sent++
    send()
  }
  if (sent < count) setTimeout(sendDue, 1)
}

function done(latencyMs: number): void {
  latencies.push(latencyMs)
  if (latencies.length === count) process.send?.(latencies, () => process.exit())
}

function send(): void {
  const sentMs = nowMs()
  get(url, { agent, timeout: 10_000 }, response => {
    response.resume()
    response.on('end', () => done(response.statusCode === 200 ? nowMs() - sentMs : Infinity))
  })
    .on('error', () => done(Infinity))
    .on('timeout', () => done(Infinity))
}

sendDue()
