import { randomBytes } from 'node:crypto'
import net from 'node:net'

/** A frame of RFC 6455 section 5.2 that can violate every rule. */
export interface RawFrame {
  readonly payload?: string | Uint8Array
  readonly opcode?: number
  readonly fin?: boolean
  /** The three reserved bits, 0 to 7. */
  readonly rsv?: number
  readonly isMasked?: boolean
  /** A declared length that may be wrong; always in the longest form. */
  readonly claimed?: bigint
}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export function rawFrame(frame: RawFrame): Buffer {
  const { opcode = opcodes.text, fin = true, rsv = 0, isMasked = true, claimed } = frame
  const payload = Buffer.from(frame.payload ?? '')
  const first = (fin ? 0x80 : 0) | (rsv << 4) | opcode
  const mask = randomBytes(4)
  const body = isMasked ? payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)) : payload
  return Buffer.concat([
    Buffer.from([first]),
    lengthOf(claimed ?? BigInt(payload.length), isMasked ? 0x80 : 0, claimed !== undefined),
    isMasked ? mask : Buffer.alloc(0),
    body
  ])
}

function lengthOf(length: bigint, maskBit: number, isLong: boolean): Buffer {
  if (!isLong && length < 126n) return Buffer.from([maskBit | Number(length)])
  if (!isLong && length < 65_536n) {
    const bytes = Buffer.from([maskBit | 126, 0, 0])
    bytes.writeUInt16BE(Number(length), 1)
    return bytes
  }
  const bytes = Buffer.alloc(9, maskBit | 127)
  bytes.writeBigUInt64BE(length, 1)
  return bytes
}

/** The request that opens a WebSocket at the live address, to be sent at once or in parts. */
export function handshake(baseUrl: string, query = ''): string {
  const { host } = new URL(baseUrl)
  return [
    `GET /api/live/nowplaying/websocket${query} HTTP/1.1`,
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    '\r\n'
  ].join('\r\n')
}

/** A connection with full control of its bytes. It answers no ping and no close frame. */
export interface RawSocket extends Disposable {
  readonly socket: net.Socket
  readonly send: (...parts: (string | Uint8Array)[]) => void
  /** The HTTP status; 0 if the connection ended without one. */
  readonly status: () => Promise<number>
  /** The texts of all received frames. */
  readonly texts: readonly string[]
  /** Returns the next text frame; null if the connection ends or a close frame arrives first. */
  readonly nextText: (deadlineMs?: number) => Promise<string | null>
  /** The code of the close frame: 1005 for an empty one, 1006 without one. */
  readonly ended: (deadlineMs?: number) => Promise<number>
  /** How long after its close frame the server closes the connection, in milliseconds. */
  readonly closedAfterMs: () => Promise<number>
}

export function openRaw(baseUrl: string, localAddress?: string): RawSocket {
  const { hostname, port } = new URL(baseUrl)
  const socket = net.connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    ...(localAddress === undefined ? {} : { localAddress })
  })
  const texts: string[] = []
  let received = Buffer.alloc(0)
  let status: number | null = null
  let closeCode: number | null = null
  let closeFrameAtMs: number | null = null
  let endedAtMs: number | null = null
  let isOver = false
  let taken = 0
  const wakers = new Set<() => void>()
  const wake = () => {
    for (const waker of wakers) waker()
    wakers.clear()
  }
  socket.on('error', () => {})
  socket.on('data', chunk => {
    received = Buffer.concat([received, chunk])
    if (status === null) readHead()
    if (status === 101) readFrames()
    wake()
  })
  socket.on('end', () => {
    endedAtMs = performance.now()
    wake()
  })
  socket.on('close', () => {
    isOver = true
    wake()
  })

  function readHead(): void {
    const end = received.indexOf('\r\n\r\n')
    if (end < 0) return
    status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received.toString('latin1', 0, end))?.[1] ?? 0)
    received = received.subarray(end + 4)
  }

  function readFrames(): void {
    for (;;) {
      const [first = 0, second = 0] = received
      const short = second & 0x7f
      const head = short === 126 ? 4 : short === 127 ? 10 : 2
      if (received.length < head) return
      const length =
        short === 126 ? received.readUInt16BE(2) : short === 127 ? Number(received.readBigUInt64BE(2)) : short
      if (received.length < head + length) return
      const payload = received.subarray(head, head + length)
      received = received.subarray(head + length)
      if ((first & 0x0f) === opcodes.text) texts.push(payload.toString())
      if ((first & 0x0f) === opcodes.close) closeFrameAtMs ??= performance.now()
      if ((first & 0x0f) === opcodes.close) closeCode ??= length >= 2 ? payload.readUInt16BE(0) : 1005
    }
  }

  async function when<Value>(value: () => Value | null, deadlineMs: number, what: string): Promise<Value> {
    const deadline = AbortSignal.timeout(deadlineMs)
    for (;;) {
      const found = value()
      if (found !== null) return found
      if (deadline.aborted) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`)
      await new Promise<void>(resolve => {
        wakers.add(resolve)
        deadline.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }

  return {
    socket,
    texts,
    send: (...parts) => void socket.write(Buffer.concat(parts.map(part => Buffer.from(part)))),
    status: () => when(() => status ?? (isOver ? 0 : null), 5_000, 'an answer'),
    nextText: async (deadlineMs = 5_000) => {
      const isReady = () => (texts.length > taken || isOver || closeCode !== null ? true : null)
      await when(isReady, deadlineMs, 'a text frame')
      return texts[taken++] ?? null
    },
    ended: (deadlineMs = 5_000) =>
      when(() => closeCode ?? (isOver ? 1006 : null), deadlineMs, 'the end of the connection'),
    closedAfterMs: async () => {
      const endMs = await when(() => endedAtMs, 20_000, 'the server to close the connection')
      return endMs - (closeFrameAtMs ?? Number.NaN)
    },
    [Symbol.dispose]: () => void socket.destroy()
  }
}

/** Connects and completes the handshake. */
export async function openRawWebSocket(baseUrl: string, query = ''): Promise<RawSocket> {
  const raw = openRaw(baseUrl)
  raw.send(handshake(baseUrl, query))
  const status = await raw.status()
  if (status !== 101) throw new Error(`no upgrade but ${status}`)
  return raw
}
