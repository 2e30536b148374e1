import type { Trend } from 'k6/metrics'
import { WebSocket } from 'k6/websockets'

/**
 * The moment a change was asked for travels in the count of listeners: milliseconds, which repeat every 28
 * hours.
 */
const momentsFrom = 100_000_000

export const momentNow = () => Date.now() % momentsFrom

const counts = /\},"listeners":\{"total":(\d+)/
const staleMs = 60_000

/**
 * Opens player widgets on the event loop of one virtual user, for so many seconds, and adds the time from the
 * request of each change to its arrival. What was there before is no change.
 */
export function openClients(options: {
  url: string
  stations: readonly string[]
  seconds: number
  arrived: Trend
  onProblem: () => void
}): void {
  const { url, stations, seconds, arrived, onProblem } = options
  for (const station of stations) {
    const socket = new WebSocket(url)
    let newest = ''
    socket.addEventListener('open', () => {
      socket.send(JSON.stringify({ subs: { [`station:${station}`]: { recover: true } } }))
      setTimeout(() => socket.close(), seconds * 1_000)
    })
    socket.addEventListener('error', onProblem)
    socket.addEventListener('message', event => {
      const data: unknown = 'data' in event ? event.data : null
      if (typeof data !== 'string') return
      const moment = counts.exec(data)?.[1]
      // A heartbeat repeats what is known.
      if (moment === undefined || moment === newest) return
      newest = moment
      const lateMs = (momentNow() - Number(moment) + momentsFrom) % momentsFrom
      if (!data.startsWith('{"connect"') && lateMs < staleMs) arrived.add(lateMs)
    })
  }
}
