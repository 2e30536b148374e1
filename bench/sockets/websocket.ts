import { connect, type Socket } from 'node:net'

/** Called with a frame: the bytes from `start` to `end`. The buffer is reused after the call. */
export type OnFrame = (bytes: Buffer, start: number, end: number) => void

export interface Target {
  readonly port: number
  readonly path: string
  /**
   * Messages that clients send after the handshake, assigned by client index in turn. Nothing is sent if
   * empty.
   */
  readonly connectMessages: readonly string[]
}

export interface Client {
  readonly socket: Socket
  /** Resolves after the handshake; rejects if it fails. */
  readonly ready: Promise<void>
}

const host = '127.0.0.1'
/** Number of client addresses, from 127.0.0.2 on, because an address has only 28,000 ports for clients. */
const addresses = 20

const text = 1
const ping = 9
/** The read buffer of all clients. */
const shared = Buffer.allocUnsafe(256 * 1024)
const emptyBuffer = Buffer.alloc(0)

const renderUpgrade = (path: string) =>
  [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    '',
    ''
  ].join('\r\n')

/**
 * Opens a WebSocket client that uses as little CPU as possible, because it shares a core: it emits no events,
 * copies nothing, and parses only the frame headers. Responds to pings.
 */
export function openClient(target: Target, index: number, onFrame: OnFrame): Client {
  let rest = emptyBuffer
  let isUpgraded = false
  let resolve: () => void
  let reject: (error: Error) => void
  const ready = new Promise<void>((resolveReady, rejectReady) => {
    resolve = resolveReady
    reject = rejectReady
  })

  function read(count: number): boolean {
    const chunk = shared.subarray(0, count)
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const consumed = isUpgraded ? readFrames(bytes, 0) : readHandshake(bytes)
    rest = consumed === bytes.length ? emptyBuffer : Buffer.from(bytes.subarray(consumed))
    return true
  }

  function readHandshake(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) return 0
    const status = bytes.toString('latin1', 0, bytes.indexOf('\r\n'))
    if (!status.startsWith('HTTP/1.1 101')) {
      reject(new Error(status))
      socket.destroy()
      return bytes.length
    }
    isUpgraded = true
    const message = target.connectMessages[index % Math.max(1, target.connectMessages.length)] ?? ''
    if (message !== '') socket.write(encodeFrame(text, Buffer.from(message)))
    resolve()
    return readFrames(bytes, end + 4)
  }

  /** Returns the end of the last complete frame. */
  function readFrames(bytes: Buffer, from: number): number {
    for (let at = from; ;) {
      if (bytes.length - at < 2) return at
      const opcode = bytes.readUInt8(at) & 15
      let length = bytes.readUInt8(at + 1) & 127
      let start = at + 2
      if (length === 126) {
        if (bytes.length - at < 4) return at
        length = bytes.readUInt16BE(start)
        start += 2
      } else if (length === 127) {
        if (bytes.length - at < 10) return at
        length = Number(bytes.readBigUInt64BE(start))
        start += 8
      }
      const end = start + length
      if (end > bytes.length) return at
      if (opcode === text) onFrame(bytes, start, end)
      else if (opcode === ping) socket.write(encodeFrame(10, Buffer.from(bytes.subarray(start, end))))
      at = end
    }
  }

  const socket = connect({
    host,
    port: target.port,
    localAddress: `127.0.0.${2 + (index % addresses)}`,
    noDelay: true,
    onread: { buffer: shared, callback: read }
  })
  socket.write(renderUpgrade(target.path))
  socket.on('error', error => reject(error))
  socket.on('close', () => reject(new Error('closed')))
  return { socket, ready }
}

/** Encodes a frame of a client, with a mask of zeros. Throws if the payload has 64 KiB or more. */
function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  if (length >= 65_536) throw new Error(`the payload must be shorter than 64 KiB (got ${length} bytes)`)
  const isShort = length < 126
  const head = Buffer.alloc(isShort ? 6 : 8)
  head.writeUInt8(0x80 | opcode, 0)
  head.writeUInt8(0x80 | (isShort ? length : 126), 1)
  if (!isShort) head.writeUInt16BE(length, 2)
  return Buffer.concat([head, payload])
}
