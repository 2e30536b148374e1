import type { Program } from '../program.ts'
import type { Target } from '../sockets/websocket.ts'

/** Player widgets that follow one station each, these in turn. */
export function followers({ baseUrl }: Program, stationIds: readonly number[]): Target {
  return {
    port: Number(new URL(baseUrl).port),
    path: '/api/live/nowplaying/websocket',
    firsts: stationIds.map(id => JSON.stringify({ subs: { [`station:${id}`]: { recover: true } } }))
  }
}
