import { setMaxListeners } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { WebSocket } from 'ws'

import { readFrame } from './live-frames.ts'
import { livePath } from './live-ways.ts'

export interface CrowdShape {
  readonly baseUrl: string
  /** The short name of the station that all clients follow. */
  readonly shortName: string
  readonly sockets: number
  readonly streams: number
  readonly pollers: number
  readonly longPollers: number
  /** WebSockets that subscribe and then neither read nor respond. */
  readonly frozen?: number
}

/** Statistics of all clients of a crowd. */
export interface Crowd extends Disposable {
  /** Resolves when every client has received a state. */
  readonly settle: (deadlineMs: number) => Promise<void>
  /** The clients that are not connected or have not received this position. */
  readonly behind: (position: Position) => readonly Member[]
  /** The number of clients without a connection, or waiting to reconnect. */
  readonly away: () => number
  /** Offsets that decreased within an epoch, and unexpected responses. */
  readonly faults: readonly string[]
  readonly epochs: ReadonlySet<string>
  readonly counts: Readonly<Counts>
  /** Pauses pollers while no server listens. Other clients are refused meanwhile and reconnect. */
  readonly pausePolling: (isPaused: boolean) => void
}

export interface Position {
  readonly epoch: string
  readonly offset: number
}

interface Counts {
  connects: number
  /** The number of connections that ended, by the code of the disconnect frame; 0 for those without. */
  ends: Record<string, number>
  gets: number
  longPolls: number
  /**
   * Requests repeated because a reused connection was reset before any byte of the response: RFC 9110 section
   * 9.2.2.
   */
  retried: number
}

/** One client with all its connections. */
interface Member {
  readonly name: string
  position: Position | null
  isAway: boolean
}

/**
 * Many lightweight clients. WebSockets and streams reconnect after a delay, half of them with their position;
 * pollers keep their connections alive and honor `Connection: close`.
 */
export function openCrowd(shape: CrowdShape): Crowd {
  const { baseUrl, shortName } = shape
  const { hostname, port } = new URL(baseUrl)
  const channel = `station:${shortName}`
  const life = new AbortController()
  const { signal } = life
  // Each client adds some.
  setMaxListeners(0, signal)
  const members: Member[] = []
  const faults: string[] = []
  const epochs = new Set<string>()
  const counts: Counts = { connects: 0, ends: {}, gets: 0, longPolls: 0, retried: 0 }
  let isPaused = false

  function add(kind: string): { member: Member; address: string; index: number } {
    const index = members.length
    const member: Member = { name: `${kind} ${index}`, position: null, isAway: true }
    members.push(member)
    // Servers limit the number of connections per address.
    return { member, index, address: `127.0.0.${2 + (index % 100)}` }
  }

  function note(member: Member, position: Position): void {
    const { epoch, offset } = position
    if (epoch === '' || !Number.isInteger(offset)) faults.push(`${member.name}: no position`)
    const before = member.position
    if (before?.epoch === epoch && offset < before.offset)
      faults.push(`${member.name}: ${epoch} ${before.offset}, then ${offset}`)
    member.position = position
    member.isAway = false
    epochs.add(epoch)
  }

  /** Reads the frames of one connection. Returns a function that handles a frame. */
  function follow(member: Member): (text: string) => void {
    let epoch = ''
    return text => {
      const { kind, frame } = readFrame(text)
      if (kind === 'connect') {
        const entry = Object(frame.connect.subs?.[channel])
        epoch = String(entry.epoch ?? '')
        counts.connects++
        note(member, { epoch, offset: entry.offset ?? entry.publications?.[0]?.offset })
      } else if (kind === 'pub') note(member, { epoch, offset: frame.pub.offset })
      else if (kind === 'disconnect') {
        const code = String(frame.disconnect.code)
        counts.ends[code] = (counts.ends[code] ?? 0) + 1
      }
    }
  }

  function messageOf(member: Member, index: number): string {
    const options = index % 2 === 0 ? { recover: true, ...member.position } : { recover: true }
    return JSON.stringify({ subs: { [channel]: options } })
  }

  /** Opens connections in sequence until the crowd is closed. */
  async function comeBack(
    member: Member,
    connect: () => Promise<{ waitMs: number }>,
    startMs: number
  ): Promise<void> {
    await sleep(startMs)
    while (!signal.aborted) {
      const { waitMs } = await connect()
      member.isAway = true
      await sleep(waitMs)
    }
  }

  function joinSocket(): void {
    const { member, address, index } = add('socket')
    const connect = async () =>
      new Promise<{ waitMs: number }>(resolve => {
        const socket = new WebSocket(`${baseUrl.replace('http', 'ws')}${livePath}/websocket`, {
          localAddress: address,
          perMessageDeflate: false
        })
        const receive = follow(member)
        const leave = () => socket.terminate()
        signal.addEventListener('abort', leave, { once: true })
        socket.on('open', () => socket.send(messageOf(member, index)))
        socket.on('message', data => Buffer.isBuffer(data) && receive(data.toString()))
        socket.on('error', () => {})
        socket.on('close', () => {
          signal.removeEventListener('abort', leave)
          resolve({ waitMs: 100 + Math.random() * 1_500 })
        })
      })
    void comeBack(member, connect, index)
  }

  function joinStream(): void {
    const { member, address, index } = add('stream')
    const connect = async () =>
      new Promise<{ waitMs: number }>(resolve => {
        let waitMs = 500 + Math.random() * 1_500
        const receive = follow(member)
        const path = `${livePath}/sse?cf_connect=${encodeURIComponent(messageOf(member, index))}`
        const request = http.get({ hostname, port, path, localAddress: address, agent: false, signal })
        request.on('response', response => {
          let text = ''
          if (response.statusCode !== 200) faults.push(`${member.name}: ${response.statusCode}`)
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => {
            text += chunk
            for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
              const line = text.slice(0, end)
              text = text.slice(end + 1)
              if (line.startsWith('data: ')) receive(line.slice(6))
              if (line.startsWith('retry: ')) waitMs = Number(line.slice(7))
            }
          })
          response.on('error', () => {})
          response.on('close', () => resolve({ waitMs }))
        })
        request.on('error', () => resolve({ waitMs }))
      })
    void comeBack(member, connect, index)
  }

  /** Sends a GET on a kept-alive connection, and repeats it once if RFC 9110 allows that. */
  async function get(agent: http.Agent, address: string, path: string): Promise<PollResponse> {
    const ask = async () =>
      new Promise<PollResponse>((resolve, reject) => {
        const request = http.get({ hostname, port, path, agent, localAddress: address })
        request.setTimeout(75_000, () => request.destroy(new Error('no answer')))
        signal.addEventListener('abort', () => request.destroy(), { once: true })
        let hasResponse = false
        request.on('error', error => {
          if (request.reusedSocket && !hasResponse) reject(new ResetError(error.message))
          else reject(error)
        })
        request.on('response', response => {
          hasResponse = true
          response.on('error', reject)
          response.resume().on('end', () => {
            const { 'x-cuewire-epoch': epoch = '', 'x-cuewire-offset': offset = '' } = response.headers
            resolve({
              status: response.statusCode ?? 0,
              position: { epoch: String(epoch), offset: Number(offset === '' ? Number.NaN : offset) }
            })
          })
        })
      })
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ResetError) || signal.aborted) throw error
      counts.retried++
      return ask()
    }
  }

  async function poll(
    name: string,
    pathOf: (member: Member) => string,
    statuses: readonly number[],
    pauseMs: number
  ) {
    const { member, address, index } = add(name)
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    signal.addEventListener('abort', () => agent.destroy(), { once: true })
    await sleep(index)
    while (!signal.aborted) {
      if (!isPaused) {
        try {
          const { status, position } = await get(agent, address, pathOf(member))
          if (name === 'poller') counts.gets++
          else counts.longPolls++
          if (!statuses.includes(status)) faults.push(`${member.name}: ${status}`)
          else if (status === 200) note(member, position)
        } catch (error) {
          if (!signal.aborted && !isPaused) faults.push(`${member.name}: ${String(error)}`)
        }
      }
      await sleep(pauseMs)
    }
  }

  function joinFrozen(): void {
    const address = `127.0.0.${200 + Math.floor(Math.random() * 50)}`
    const socket = net.connect({ host: hostname, port: Number(port), localAddress: address })
    socket.on('error', () => {})
    const message = encodeURIComponent(JSON.stringify({ subs: { [channel]: { recover: true } } }))
    socket.write(
      `GET ${livePath}/websocket?cf_connect=${message} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n`
    )
    socket.pause()
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
  }

  const path = `/api/nowplaying/${shortName}`
  const longPath = ({ position }: Member) =>
    position === null
      ? `${path}?wait=30&since=0`
      : `${path}?wait=30&since=${position.offset}&epoch=${encodeURIComponent(position.epoch)}`
  for (let count = 0; count < shape.sockets; count++) joinSocket()
  for (let count = 0; count < shape.streams; count++) joinStream()
  for (let count = 0; count < shape.pollers; count++) void poll('poller', () => path, [200], 700)
  for (let count = 0; count < shape.longPollers; count++) void poll('long poller', longPath, [200, 304], 20)
  for (let count = 0; count < (shape.frozen ?? 0); count++) joinFrozen()

  const behind = ({ epoch, offset }: Position) =>
    members.filter(({ position, isAway }) => isAway || position?.epoch !== epoch || position.offset < offset)

  return {
    faults,
    epochs,
    counts,
    behind,
    away: () => members.filter(({ isAway }) => isAway).length,
    pausePolling: value => {
      isPaused = value
    },
    settle: async deadlineMs => {
      const deadline = Date.now() + deadlineMs
      for (;;) {
        const away = members.filter(({ position }) => position === null)
        if (away.length === 0) return
        if (Date.now() > deadline)
          throw new Error(`${away.length} clients saw nothing; ${faults.slice(0, 5).join('; ')}`)
        await sleep(50)
      }
    },
    [Symbol.dispose]: () => life.abort()
  }
}

interface PollResponse {
  readonly status: number
  readonly position: Position
}

/** A kept-alive connection was closed before any byte of the response. */
class ResetError extends Error {}
