import { connect, type Socket } from 'node:net'

import { nowMs } from './clock.ts'

/**
 * Polls one address at a constant rate, whether answers come or not: `poller.ts URL CONNECTIONS RATE
 * SECONDS`, in a process of its own so that nothing else delays its clock. Each millisecond sends what is
 * due, each poll on a connection of its own; one for which none is free counts from when it was due. Sends
 * its parent the latencies in milliseconds, without those of the first second, in which both ends become
 * warm. Any answer but a whole 200 ends it with an error.
 */
const [address = '', connections = '1', rate = '1', seconds = '1'] = process.argv.slice(2)
const url = new URL(address)
const request = Buffer.from(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`, 'latin1')
const warmUp = Number(rate)
const count = warmUp + Number(rate) * Number(seconds)
const latencies: number[] = []
const idle: Connection[] = []
const waiting: number[] = []
let begun = 0

interface Connection {
  readonly socket: Socket
  sentMs: number
  /** Bytes of the answer that have not come; null until its head has. */
  missing: number | null
}

function send(connection: Connection, sentMs: number): void {
  connection.sentMs = sentMs
  connection.missing = null
  connection.socket.write(request)
}

function onBytes(connection: Connection, chunk: Buffer): void {
  connection.missing = (connection.missing ?? answerBytes(chunk)) - chunk.length
  if (connection.missing > 0) return
  if (connection.missing < 0) throw new Error(`${address} answered more than it said`)
  latencies.push(nowMs() - connection.sentMs)
  const next = waiting.shift()
  if (next === undefined) idle.push(connection)
  else send(connection, next)
  if (latencies.length === count) process.send?.(latencies.slice(warmUp), () => process.exit())
}

/** Of the head and the body. Heads are small enough to come whole. */
function answerBytes(chunk: Buffer): number {
  const headBytes = chunk.indexOf('\r\n\r\n') + 4
  const head = chunk.subarray(0, headBytes).toString('latin1')
  const [, bodyBytes] = /^content-length: *(\d+)/im.exec(head) ?? []
  if (!head.startsWith('HTTP/1.1 200 ') || bodyBytes === undefined)
    throw new Error(`${address} answered ${head}`)
  return headBytes + Number(bodyBytes)
}

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(url.port), host: url.hostname, noDelay: true }, resolve)
    const connection: Connection = { socket, sentMs: 0, missing: 0 }
    socket.on('error', reject)
    socket.on('data', chunk => onBytes(connection, chunk))
    idle.push(connection)
  })
}

function sendDue(fromMs: number): void {
  const now = nowMs()
  const due = Math.min(count, ((now - fromMs) / 1_000) * Number(rate))
  for (; begun < due; begun++) {
    const connection = idle.shift()
    if (connection) send(connection, nowMs())
    else waiting.push(now)
  }
  if (begun < count) setTimeout(sendDue, 1, fromMs)
}

await Promise.all(Array.from({ length: Number(connections) }, open))
sendDue(nowMs())
