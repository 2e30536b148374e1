import { connect, type Socket } from 'node:net'

/** A frame as the bytes from `start` to `end` of `bytes`, which are gone after the call. */
export type OnFrame = (bytes: Buffer, start: number, end: number) => void

export interface Target {
  readonly port: number
  readonly path: string
  /** What a client says after the handshake: the index of the client picks one. Empty: nothing. */
  readonly firsts: readonly string[]
}

export interface Client {
  readonly socket: Socket
  /** Settles when the handshake is done; rejects if it fails. */
  readonly ready: Promise<void>
}

const host = '127.0.0.1'
/** Client addresses 127.0.0.2 and on: an address has 28,000 ports for clients. */
const addresses = 20

const text = 1
const ping = 9
/** What has arrived is read here, by all clients in turn. */
const shared = Buffer.allocUnsafe(256 * 1024)
const nothing = Buffer.alloc(0)

const upgradeOf = (path: string) =>
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
 * A WebSocket client that costs as little as Node allows, because the core it runs on is shared: no events,
 * no copies, frames are told apart by their headers and given to `onFrame`. Answers pings. A close is the end
 * of the socket.
 */
export function openClient(target: Target, index: number, onFrame: OnFrame): Client {
  let rest = nothing
  let isUpgraded = false
  let resolve: () => void
  let reject: (error: Error) => void
  const ready = new Promise<void>((done, failed) => {
    resolve = done
    reject = failed
  })

  function read(count: number): boolean {
    const chunk = shared.subarray(0, count)
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const taken = isUpgraded ? readFrames(bytes, 0) : readHandshake(bytes)
    rest = taken === bytes.length ? nothing : Buffer.from(bytes.subarray(taken))
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
    const first = target.firsts[index % Math.max(1, target.firsts.length)] ?? ''
    if (first !== '') socket.write(frameOf(text, Buffer.from(first)))
    resolve()
    return readFrames(bytes, end + 4)
  }

  /** Gives how far the bytes hold whole frames. */
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
      else if (opcode === ping) socket.write(frameOf(10, Buffer.from(bytes.subarray(start, end))))
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
  socket.write(upgradeOf(target.path))
  socket.on('error', error => reject(error))
  socket.on('close', () => reject(new Error('closed')))
  return { socket, ready }
}

/** A frame of a client, masked with zeros. */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  if (length >= 65_536) throw new Error('the frame is too long')
  const isShort = length < 126
  const head = Buffer.alloc(isShort ? 6 : 8)
  head.writeUInt8(0x80 | opcode, 0)
  head.writeUInt8(0x80 | (isShort ? length : 126), 1)
  if (!isShort) head.writeUInt16BE(length, 2)
  return Buffer.concat([head, payload])
}
