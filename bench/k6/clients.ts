import type { Trend } from 'k6/metrics'
import { WebSocket } from 'k6/websockets'

/**
 * The listener count of a change encodes the time of its request: Unix milliseconds modulo this range (28
 * hours).
 */
const requestTimeRange = 100_000_000

export const requestTimeNow = () => Date.now() % requestTimeRange

const listenerCount = /\},"listeners":\{"total":(\d+)/
const staleMs = 60_000

/**
 * Opens sockets of player widgets on the event loop of one virtual user for `seconds`. Adds to `latency` the
 * time from the request of each change to its frame. The state in the connect frame is not a change.
 */
export function openClients(options: {
  url: string
  stations: readonly string[]
  seconds: number
  latency: Trend
  onError: () => void
}): void {
  const { url, stations, seconds, latency, onError } = options
  for (const station of stations) {
    const socket = new WebSocket(url)
    let newest = ''
    socket.addEventListener('open', () => {
      socket.send(JSON.stringify({ subs: { [`station:${station}`]: { recover: true } } }))
      setTimeout(() => socket.close(), seconds * 1_000)
    })
    socket.addEventListener('error', onError)
    socket.addEventListener('message', event => {
      const data: unknown = 'data' in event ? event.data : null
      if (typeof data !== 'string') return
      const requestTime = listenerCount.exec(data)?.[1]
      // Heartbeats repeat the newest state.
      if (requestTime === undefined || requestTime === newest) return
      newest = requestTime
      const latencyMs = (requestTimeNow() - Number(requestTime) + requestTimeRange) % requestTimeRange
      if (!data.startsWith('{"connect"') && latencyMs < staleMs) latency.add(latencyMs)
    })
  }
}
