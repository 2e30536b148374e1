import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { constants, setPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * How an attack goes: addresses, requests a second and requests in flight are those of all attackers
 * together.
 */
export interface AttackOptions {
  readonly addresses: number
  readonly perSecond: number
  readonly inFlight: number
}

/** What came of it: `whole` answers were 200, `refused` ones 429 or 503. */
export interface AttackCounts {
  sent: number
  whole: number
  refused: number
}

/**
 * A process of `npm run bench -- attack`: asks for all that is expensive, and sends its counts to its parent.
 * It has the lowest priority, since attackers bring machines of their own.
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
const counts: AttackCounts = { sent: 0, whole: 0, refused: 0 }
let inFlight = 0

function send(n: number): void {
  inFlight++
  counts.sent++
  const done = () => void inFlight--
  const headers = { 'x-forwarded-for': `198.51.100.${n % options.addresses}` }
  const sent = request(
    `${baseUrl}${paths[n % paths.length]}`,
    { agent, headers, timeout: 30_000 },
    answer => {
      answer.resume()
      if (answer.statusCode === 200) answer.once('end', () => counts.whole++)
      if (answer.statusCode === 429 || answer.statusCode === 503) counts.refused++
      answer.once('close', done)
    }
  )
  sent.once('timeout', () => sent.destroy())
  sent.once('error', done)
  sent.end()
}

// The start of a process takes CPU time that is not part of the attack.
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
