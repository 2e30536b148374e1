import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { constants, setPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

/** The number of addresses, and for all of them together: requests per second, and requests in flight. */
export interface AttackOptions {
  readonly addresses: number
  readonly perSecond: number
  readonly inFlight: number
}

/** `complete` responses had status 200 and were received in full; `refused` ones had status 429 or 503. */
export interface AttackCounts {
  sent: number
  complete: number
  refused: number
}

/**
 * The attacking process of `npm run bench -- attack`: sends expensive requests and reports counts to its
 * parent. Runs with the lowest priority, because real attackers do not use the CPU of the server.
 */
setPriority(constants.priority.PRIORITY_LOW)

const options: AttackOptions & { baseUrl: string; seconds: number; station: string } = JSON.parse(
  process.argv[2] ?? '{}'
)
const { station, baseUrl, seconds } = options
const paths = [
  `${station}/requests?per_page=0`,
  `${station}/requests`,
  `${station}/ondemand?per_page=0`,
  `${station}/requests?per_page=500&page=99`,
  `${station}/requests?per_page=500&searchPhrase=artist`,
  `${station}/ondemand?per_page=500&sort=album&sortOrder=DESC`,
  `${station}/requests?searchPhrase=nothing-like-it`,
  `${station}/requests?per_page=500`
]
const agent = new Agent({ keepAlive: true, maxSockets: options.inFlight })
const counts: AttackCounts = { sent: 0, complete: 0, refused: 0 }
let inFlight = 0

function send(n: number): void {
  inFlight++
  counts.sent++
  const done = () => void inFlight--
  const headers = { 'x-forwarded-for': `198.51.100.${n % options.addresses}` }
  const sent = request(
    `${baseUrl}${paths[n % paths.length]}`,
    { agent, headers, timeout: 30_000 },
    response => {
      response.resume()
      if (response.statusCode === 200) response.once('end', () => counts.complete++)
      if (response.statusCode === 429 || response.statusCode === 503) counts.refused++
      response.once('close', done)
    }
  )
  sent.once('timeout', () => sent.destroy())
  sent.once('error', done)
  sent.end()
}

// Waits for the parent, so that the CPU time of starting this process is not measured.
process.send?.('ready')
await once(process, 'message')
const startMs = performance.now()
for (let n = 0; performance.now() - startMs < seconds * 1_000;) {
  const due = ((performance.now() - startMs) / 1_000) * options.perSecond
  while (n < due) {
    if (inFlight < options.inFlight) send(n)
    n++
  }
  await wait(5)
}
process.send?.(counts, () => process.exit(0))
