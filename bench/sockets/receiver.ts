import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import type { Answer, Command, Marks } from './commands.ts'
import { type Client, openClient, type Target } from './websocket.ts'

/** The process that holds the clients of a push bench. It does what its parent says, and ends with it. */
const atOnce = 100
const publicationBytes = 50
const retryMs = 100
const attempts = 100

let target: Target = { port: 0, path: '', firsts: [] }
let marks: Marks | null = null
let marker = Buffer.alloc(0)
let backAtMs = 0
let frames = 0
let bytesIn = 0
let samples: [number, number, number][] = []
const clients = new Map<number, Client>()
const newest = new Map<number, number>()

process.on('message', (command: Command) => {
  obey(command)
    .then(
      () => '',
      (error: unknown) => String(error)
    )
    .then(problem => process.send?.(answer(problem)))
    .catch(() => process.exit(1))
})
process.on('disconnect', () => process.exit())

async function obey(command: Command): Promise<void> {
  if (command.type === 'open') await open(command.target, command.count)
  else if (command.type === 'count') startCount(command.marks)
  else if (command.type === 'return') await allReturn(command.marks)
}

async function open(wanted: Target, count: number): Promise<void> {
  target = wanted
  for (const [index, client] of clients) {
    if (index < count) continue
    clients.delete(index)
    client.socket.destroy()
  }
  for (let index = clients.size; index < count; index += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, count - index) }, (_, each) => index + each)
    await Promise.all(batch.map(each => add(each)))
  }
}

async function add(index: number): Promise<void> {
  const client = openClient(target, index, (bytes, start, end) => take(index, bytes, start, end))
  clients.set(index, client)
  client.socket.on('close', () => {
    if (clients.get(index) === client) clients.delete(index)
  })
  await client.ready
}

async function allReturn(wanted: Marks): Promise<void> {
  const count = clients.size
  while (clients.size > 0) await wait(10)
  while (!(await isListening())) await wait(20)
  startCount(wanted)
  backAtMs = nowMs()
  await Promise.all(Array.from({ length: count }, (_, index) => comeBack(index)))
}

async function comeBack(index: number): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      await add(index)
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

function startCount(wanted: Marks): void {
  marks = wanted
  marker = Buffer.from(wanted.marker)
  frames = 0
  bytesIn = 0
  samples = []
  newest.clear()
  for (const [index, { socket }] of clients) {
    if (wanted.othersWait === true && index % wanted.every !== 0) socket.pause()
    else socket.resume()
  }
}

function take(index: number, bytes: Buffer, start: number, end: number): void {
  if (end - start < publicationBytes) return
  frames++
  bytesIn += end - start
  if (marks === null || index % marks.every !== 0) return
  const at = marks.isLast ? bytes.lastIndexOf(marker, end) : bytes.indexOf(marker, start)
  if (at < start || at >= end) return
  const mark = digitsAt(bytes, at + marker.length)
  // A heartbeat repeats what is known.
  if (newest.get(index) === mark) return
  newest.set(index, mark)
  samples.push([index, mark, nowMs()])
}

function digitsAt(bytes: Buffer, from: number): number {
  let value = 0
  for (let at = from; at < bytes.length; at++) {
    const digit = bytes.readUInt8(at) - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  return value
}

function answer(problem: string): Answer {
  const { user, system } = process.cpuUsage()
  return {
    clients: clients.size,
    frames,
    bytes: bytesIn,
    cpuSeconds: (user + system) / 1e6,
    samples,
    backAtMs,
    problem
  }
}
