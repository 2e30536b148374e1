import type { Program } from '../program.ts'
import type { Target } from '../sockets/websocket.ts'

/** The target of clients that subscribe to one of the stations each, in turn. */
export function subscriberTarget({ baseUrl }: Program, stationIds: readonly number[]): Target {
  return {
    port: Number(new URL(baseUrl).port),
    path: '/api/live/nowplaying/websocket',
    connectMessages: stationIds.map(id => JSON.stringify({ subs: { [`station:${id}`]: { recover: true } } }))
  }
}
