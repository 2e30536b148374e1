import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import type { Command, ReceiverReport, Sampling } from './commands.ts'
import { type Client, openClient, type Target } from './websocket.ts'

/** The process with the clients of a push benchmark. Runs the commands of its parent, and exits with it. */

const batchSize = 100
const publicationBytes = 50
const retryMs = 100
const attempts = 100

let target: Target = { port: 0, path: '', connectMessages: [] }
let sampling: Sampling | null = null
let marker = Buffer.alloc(0)
let listeningAtMs = 0
let frames = 0
let bytesIn = 0
let samples: [number, number, number][] = []
const clients = new Map<number, Client>()
const newest = new Map<number, number>()

process.on('message', (command: Command) => {
  runCommand(command)
    .then(
      () => '',
      (error: unknown) => String(error)
    )
    .then(error => process.send?.(createReport(error)))
    .catch(() => process.exit(1))
})
process.on('disconnect', () => process.exit())

async function runCommand(command: Command): Promise<void> {
  if (command.type === 'open') await open(command.target, command.count)
  else if (command.type === 'count') resetCounters(command.sampling)
  else if (command.type === 'reconnect') await reconnectAll(command.sampling)
}

async function open(newTarget: Target, count: number): Promise<void> {
  target = newTarget
  for (const [index, client] of clients) {
    if (index < count) continue
    clients.delete(index)
    client.socket.destroy()
  }
  for (let index = clients.size; index < count; index += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, count - index) }, (_, each) => index + each)
    await Promise.all(batch.map(each => addClient(each)))
  }
}

async function addClient(index: number): Promise<void> {
  const client = openClient(target, index, (bytes, start, end) => onFrame(index, bytes, start, end))
  clients.set(index, client)
  client.socket.on('close', () => {
    if (clients.get(index) === client) clients.delete(index)
  })
  await client.ready
}

async function reconnectAll(newSampling: Sampling): Promise<void> {
  const count = clients.size
  while (clients.size > 0) await wait(10)
  while (!(await isListening())) await wait(20)
  resetCounters(newSampling)
  listeningAtMs = nowMs()
  await Promise.all(Array.from({ length: count }, (_, index) => reconnect(index)))
}

async function reconnect(index: number): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      await addClient(index)
      return
    } catch {
      await wait(retryMs)
    }
  }
}

async function isListening(): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port: target.port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function resetCounters(newSampling: Sampling): void {
  sampling = newSampling
  marker = Buffer.from(newSampling.marker)
  frames = 0
  bytesIn = 0
  samples = []
  newest.clear()
  for (const [index, { socket }] of clients) {
    if (newSampling.pauseOthers === true && index % newSampling.every !== 0) socket.pause()
    else socket.resume()
  }
}

function onFrame(index: number, bytes: Buffer, start: number, end: number): void {
  if (end - start < publicationBytes) return
  frames++
  bytesIn += end - start
  if (sampling === null || index % sampling.every !== 0) return
  const at = sampling.isLast ? bytes.lastIndexOf(marker, end) : bytes.indexOf(marker, start)
  if (at < start || at >= end) return
  const frame = parseDigits(bytes, at + marker.length)
  // Heartbeats repeat the newest state.
  if (newest.get(index) === frame) return
  newest.set(index, frame)
  samples.push([index, frame, nowMs()])
}

function parseDigits(bytes: Buffer, from: number): number {
  let value = 0
  for (let at = from; at < bytes.length; at++) {
    const digit = bytes.readUInt8(at) - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  return value
}

function createReport(error: string): ReceiverReport {
  const { user, system } = process.cpuUsage()
  return {
    clients: clients.size,
    frames,
    bytes: bytesIn,
    cpuSeconds: (user + system) / 1e6,
    samples,
    listeningAtMs,
    error
  }
}
