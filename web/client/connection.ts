import type { Fetch, WebSocketClass } from './interface.ts'
import type { Message } from './message.ts'
import type { End } from './moves.ts'

/** What a connection is opened with. */
export interface Wish {
  /** The server's address, with a slash at its end. */
  readonly server: URL
  readonly station: string
  readonly apiKey: string
  /** What is known already: nothing older is of interest. Asked anew whenever it is needed. */
  readonly position: () => { readonly epoch: string; readonly offset: number } | null
  /** Messages that belong together. */
  readonly onMessages: (messages: readonly Message[]) => void
  /** The connection ended by itself, and says nothing more. */
  readonly onEnd: (end: End) => void
}

/** A way to follow a station. Gives the function that closes the connection, after which nothing is heard of it. */
export type Way = (wish: Wish, means: Means) => () => void

/** What the surroundings offer. */
export interface Means {
  readonly WebSocket: WebSocketClass | undefined
  readonly fetch: Fetch | undefined
}

export const channelOf = ({ station }: Wish) => `station:${station}`

/** What is sent to subscribe. */
export function subscription(wish: Wish): string {
  const options = { recover: true, delta: 'merge-patch', ...wish.position() }
  return JSON.stringify({
    subs: { [channelOf(wish)]: options },
    ...(wish.apiKey === '' ? {} : { token: wish.apiKey })
  })
}

/** Headers of a request, which tell the key, if there is one. */
export function headersOf({ apiKey }: Wish): Record<string, string> {
  return apiKey === '' ? {} : { 'X-API-Key': apiKey }
}
