import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * The other client of `npm run bench -- attack`, in a process of its own, so that what sends bodies does not delay it.
 * Polls a URL without pause, and answers each message with the longest wait since the last one, in milliseconds.
 */
const { url }: { url: string } = JSON.parse(process.argv[2] ?? '{}')
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let longestMs = 0

process.on('message', () => {
  process.send?.(longestMs)
  longestMs = 0
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
  longestMs = Math.max(longestMs, performance.now() - startMs)
  await wait(1)
}
