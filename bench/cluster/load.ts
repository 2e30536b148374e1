import { setTimeout as wait } from 'node:timers/promises'

import { WebSocket } from 'ws'

/** The base URLs of the servers that are running, which changes while the load lasts. */
export type Servers = ReadonlySet<string>

/** Requests with this many stations each. */
const listed = 20
const timeoutMs = 10_000

export interface LoadReport {
  readonly sentAtMs: number
  /** Null: the server refused it, or did not answer. */
  readonly respondedAfterMs: number | null
}

/** Sends lists of reports at a constant rate, to one server after the other. `stop` resolves when all are answered. */
export function startReports(servers: Servers, key: string, stations: number, perSecond: number) {
  const reports: LoadReport[] = []
  const inFlight = new Set<Promise<void>>()
  const stopping = new AbortController()
  let next = 0

  async function send(): Promise<void> {
    const urls = [...servers]
    const url = urls[next % urls.length] ?? ''
    const listeners = Array.from({ length: listed }, (_, index) => ({
      station: ((next * listed + index) % stations) + 1,
      total: next % 1_000
    }))
    next++
    const sentAtMs = Date.now()
    const isAccepted = await putListeners(url, key, listeners)
    reports.push({ sentAtMs, respondedAfterMs: isAccepted ? Date.now() - sentAtMs : null })
  }

  async function run(): Promise<void> {
    const startMs = performance.now()
    for (let sent = 0; !stopping.signal.aborted; await wait(2)) {
      const due = ((performance.now() - startMs) * perSecond) / listed / 1_000
      for (; sent < due; sent++) {
        const running = send().finally(() => inFlight.delete(running))
        inFlight.add(running)
      }
    }
    await Promise.all(inFlight)
  }

  const running = run()
  return {
    reports,
    listed,
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}

/** Returns whether the server accepted all of them. */
export async function putListeners(
  url: string,
  key: string,
  stations: readonly { readonly station: number; readonly total: number }[]
): Promise<boolean> {
  try {
    const response = await fetch(`${url}/api/listeners`, {
      method: 'PUT',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ stations }),
      signal: AbortSignal.timeout(timeoutMs)
    })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

/**
 * Subscribes sockets to one station each, as player widgets do. Sockets that are closed connect to another server
 * within half a second. `seenAtMs`: Unix milliseconds of the first frame with each play, by `sh_id`.
 */
export function startFollowers(servers: Servers, stations: readonly number[]) {
  const seenAtMs = new Map<number, number>()
  const sockets = new Set<WebSocket>()
  let isStopped = false

  function follow(station: number, attempt: number): void {
    const urls = [...servers]
    const url = urls[(station + attempt) % urls.length] ?? ''
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`, {
      perMessageDeflate: false,
      handshakeTimeout: timeoutMs
    })
    sockets.add(socket)
    socket.on('open', () =>
      socket.send(JSON.stringify({ subs: { [`station:${station}`]: { recover: true } } }))
    )
    socket.on('message', (data: Buffer) => {
      const atMs = Date.now()
      const [, play] = /"now_playing":\{"sh_id":(\d+)/.exec(data.toString()) ?? []
      if (play !== undefined && !seenAtMs.has(Number(play))) seenAtMs.set(Number(play), atMs)
    })
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      sockets.delete(socket)
      if (!isStopped) setTimeout(() => follow(station, attempt + 1), 500 * Math.random())
    })
  }

  for (const station of stations) follow(station, 0)
  return {
    seenAtMs,
    open: () => [...sockets].filter(({ readyState }) => readyState === WebSocket.OPEN).length,
    stop: () => {
      isStopped = true
      for (const socket of sockets) socket.terminate()
    }
  }
}
