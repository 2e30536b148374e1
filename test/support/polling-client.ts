import { Agent as PlainAgent, request as requestPlainly } from 'node:http'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A client in a process of its own, so that the event loop of a test does not delay it: polls the URL of its argument
 * until its input ends, then prints a `PollingResult`.
 */
export interface PollingResult {
  /** Statuses and errors other than 200. */
  readonly wrong: readonly (number | string)[]
  /** Milliseconds, ascending. */
  readonly times: readonly number[]
}

const url = process.argv[2] ?? ''
const pollEveryMs = 20
const isTls = url.startsWith('https:')
const agent = isTls
  ? new Agent({ keepAlive: true, rejectUnauthorized: false })
  : new PlainAgent({ keepAlive: true })
const wrong: (number | string)[] = []
const times: number[] = []
const ended = new AbortController()
process.stdin.resume().once('end', () => ended.abort())

while (!ended.signal.aborted) {
  const startedMs = performance.now()
  const status = await new Promise<number | string>(resolve => {
    const sent = (isTls ? request : requestPlainly)(url, { agent }, response => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', error => resolve(String(error))).end()
  })
  if (status !== 200) wrong.push(status)
  times.push(performance.now() - startedMs)
  await sleep(pollEveryMs)
}
agent.destroy()
process.stdout.write(
  JSON.stringify({ wrong, times: times.toSorted((a, b) => a - b) } satisfies PollingResult)
)
