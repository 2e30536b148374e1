import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

import type { Waits } from './attack-bodies.ts'

/**
 * The other client of `npm run bench -- attack`, in a process of its own, so that what sends bodies does not delay it. Polls a URL without
 * pause, and answers each message with the waits since the last one.
 */
const { url }: { url: string } = JSON.parse(process.argv[2] ?? '{}')
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const none: Waits = { polls: 0, longestMs: 0 }
let waits = none

process.on('message', () => {
  process.send?.(waits)
  waits = none
})

async function poll(): Promise<void> {
  await new Promise<void>(resolve => {
    const sent = request(url, { agent, timeout: 60_000 }, response => {
      response.resume()
      response.once('close', resolve)
    })
    sent.once('timeout', () => sent.destroy())
    sent.once('error', () => resolve())
    sent.end()
  })
}

await poll()
process.send?.('ready')
for (;;) {
  const startMs = performance.now()
  await poll()
  const waitedMs = performance.now() - startMs
  waits = { polls: waits.polls + 1, longestMs: Math.max(waits.longestMs, waitedMs) }
  await wait(1)
}
