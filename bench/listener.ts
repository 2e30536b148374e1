import { WebSocket } from 'ws'

const stationsPerSocket = 100

export interface Listener {
  /** Unix milliseconds of the first frame of each play, by `sh_id`. */
  readonly seenAtMs: ReadonlyMap<number, number>
  close(): void
}

/** Subscribes to stations as player widgets do. Resolves when every socket has received its connect frame. */
export async function listen(baseUrl: string, stationIds: readonly number[]): Promise<Listener> {
  const seenAtMs = new Map<number, number>()
  const sockets: WebSocket[] = []
  for (let start = 0; start < stationIds.length; start += stationsPerSocket) {
    const ids = stationIds.slice(start, start + stationsPerSocket)
    sockets.push(await connect(baseUrl, ids, seenAtMs))
  }
  return { seenAtMs, close: () => sockets.forEach(socket => socket.terminate()) }
}

function connect(baseUrl: string, stationIds: number[], seenAtMs: Map<number, number>): Promise<WebSocket> {
  const socket = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`, {
    perMessageDeflate: false
  })
  socket.on('open', () => {
    const subs = Object.fromEntries(stationIds.map(id => [`station:${id}`, { recover: true }]))
    socket.send(JSON.stringify({ subs }))
  })
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (data: Buffer) => {
      const atMs = Date.now()
      const frame = JSON.parse(data.toString())
      if ('connect' in frame) resolve(socket)
      const playId = frame.pub?.data?.np?.now_playing?.sh_id
      if (typeof playId === 'number' && !seenAtMs.has(playId)) seenAtMs.set(playId, atMs)
    })
  })
}
