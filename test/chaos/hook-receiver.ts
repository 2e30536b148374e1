import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

import { createSeededRandom } from '../../src/model/autodj/random.ts'
import type { Journal } from './journal.ts'
import type { ReceivedRequest } from './judge-deliveries.ts'

/** A receiver of web hooks that records all requests. */
export interface HookReceiver extends AsyncDisposable {
  /** The URL for a web hook; its requests are recorded under this name. */
  readonly urlOf: (name: string) => string
  /** The requests for a name. */
  readonly requestsOf: (name: string, hookId: number) => ReceivedRequest[]
}

const requestsKept = 20_000
/**
 * The share of requests that are refused, never two attempts in a row, so that a retry is due within six
 * seconds.
 */
const refusedShare = 0.05

/** Opens a receiver on 127.0.0.1. */
export async function openHookReceiver(seed: number, journal: Journal): Promise<HookReceiver> {
  const random = createSeededRandom(seed, 50)
  const received: (Omit<ReceivedRequest, 'hookId'> & { name: string })[] = []
  const tried = new Set<string>()
  const server = createServer((request, response) => {
    void json(request)
      .then(body => {
        const { now_playing: playing } = Object(body)
        const messageId = String(request.headers['webhook-id'])
        const triggers = String(request.headers['x-cuewire-event'] ?? '').split(',')
        // Only a first attempt is refused: after a second failure the next attempt would be minutes later.
        const wasAccepted = tried.has(messageId) || random() >= refusedShare
        tried.add(messageId)
        journal.count(wasAccepted ? 'deliveries accepted' : 'deliveries turned away')
        if (received.length < requestsKept)
          received.push({
            name: request.url?.slice(1) ?? '',
            messageId,
            shId: Number(playing?.sh_id),
            triggers,
            wasAccepted
          })
        response.statusCode = wasAccepted ? 204 : 503
        response.end()
      })
      .catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    urlOf: name => `http://127.0.0.1:${port}/${name}`,
    requestsOf: (name, hookId) =>
      received.filter(each => each.name === name).map(each => ({ ...each, hookId })),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}
