import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { type ProgramOnAir, startProgramOnAir } from './on-air.ts'
import { pollAtConstantRate } from './polls.ts'
import { positiveInteger } from './settings.ts'
import { openReceiver } from './sockets/receivers.ts'
import { formatNumber, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_340
const concurrency = 4
const cuts = 5
const sockets = 200
const changeMs = 500
const polls = { connections: 10, rate: 100 }
const retries = 200
const retryMs = 50
const headerBytes = 44
const tus = { 'Tus-Resumable': '1.0.0' }

/**
 * Uploads files with tus, four at a time, while a poller polls, 200 sockets get pushes, and connections are cut:
 * `npm run bench -- uploads`. `FILES` and `MB` change the files. Exits with 1 if a file is not there once.
 */
export async function uploads(): Promise<void> {
  const files = positiveInteger('FILES', 2_000)
  const sizeBytes = positiveInteger('MB', 5) * 1_000_000
  const program = await startProgramOnAir(port, { stations: 1 })
  const receiver = openReceiver()
  const pushing = new AbortController()
  const pushes = pushChanges(program, pushing.signal)
  try {
    const target = { port, path: '/api/live/nowplaying/websocket', connectMessages: [subscription] }
    await receiver.run({ type: 'open', target, count: sockets })
    const url = `${program.baseUrl}/api/nowplaying/1`
    const quiet = await pollAtConstantRate(url, polls)
    const before = readMegabytes(program.serverPid(), 'VmRSS')
    const run = { ...program, sizeBytes, body: randomBytes(sizeBytes - headerBytes - 8) }
    let isUploading = true
    const startedMs = performance.now()
    const uploaded = uploadAll(run, files).finally(() => (isUploading = false))
    uploaded.catch(() => {})
    const busy: number[] = []
    for (;;) {
      const latencies = await pollAtConstantRate(url, polls)
      // The last run is partly without uploads.
      if (isUploading || busy.length === 0) busy.push(...latencies)
      if (!isUploading) break
    }
    const { endedMs, cutCount } = await uploaded
    const seconds = (endedMs - startedMs) / 1_000
    const { frames } = await receiver.run({ type: 'read' })
    const wrong = await countWrong(program, files, sizeBytes)
    printTable(
      ['files', 'connections cut', 'there once', 'MB/s', 'RSS before / peak', 'p99 of polls without / with'],
      [
        [
          `${files} of ${sizeBytes / 1e6} MB`,
          String(cutCount),
          wrong === 0 ? 'all' : `all but ${wrong}`,
          formatNumber((files * sizeBytes) / 1e6 / seconds, 1),
          `${formatNumber(before)} / ${formatNumber(readMegabytes(program.serverPid(), 'VmHWM'))} MB`,
          `${formatNumber(quantile(quiet, 0.99), 1)} / ${formatNumber(quantile(sortAscending(busy), 0.99), 1)} ms`
        ]
      ]
    )
    console.log(`${sockets} sockets received ${frames} frames.`)
    if (wrong > 0) process.exitCode = 1
  } finally {
    pushing.abort()
    await pushes
    await receiver.close()
    await program.stop()
  }
}

const subscription = JSON.stringify({ subs: { 'station:bench_1': {} } })

/** Changes the listener count, which is pushed, until the signal is aborted. */
async function pushChanges(program: ProgramOnAir, signal: AbortSignal): Promise<void> {
  for (let total = 1; !signal.aborted; total++) {
    await program.reportListeners(1, total).catch(() => {})
    await wait(changeMs)
  }
}

interface Run extends ProgramOnAir {
  readonly sizeBytes: number
  /** The samples behind the header and the number of a file. */
  readonly body: Buffer
}

async function uploadAll(run: Run, files: number): Promise<{ endedMs: number; cutCount: number }> {
  const cutFiles = Array.from({ length: cuts }, () => randomInt(files))
  let next = 0
  let cutCount = 0
  const work = async () => {
    for (let number = next++; number < files; number = next++) {
      const times = cutFiles.filter(each => each === number).length
      const ended = await upload(run, number, times)
      cutCount += ended
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { endedMs: performance.now(), cutCount }
}

const nameOf = (number: number) => `bench/${number}.wav`

/** Uploads one file, whose connection is cut `times` times. Returns how many connections ended too early. */
async function upload(run: Run, number: number, times: number): Promise<number> {
  const { baseUrl, apiKey, sizeBytes } = run
  const headers = { ...tus, 'X-API-Key': apiKey }
  const created = await fetch(`${baseUrl}/api/station/1/files/uploads`, {
    method: 'POST',
    headers: {
      ...headers,
      'Upload-Length': String(sizeBytes),
      'Upload-Metadata': `path ${Buffer.from(nameOf(number)).toString('base64')}`
    }
  })
  if (created.status !== 201) throw new Error(`creation: ${created.status} ${await created.text()}`)
  const url = baseUrl + (created.headers.get('location') ?? '')
  const content = Buffer.concat([wavHeader(sizeBytes), numberBytes(number), run.body])
  for (let cut = 0, attempt = 0; attempt < retries; attempt++) {
    const head = await fetch(url, { method: 'HEAD', headers })
    const offset = Number(head.headers.get('upload-offset'))
    if (head.status === 200 && offset === sizeBytes) return cut
    const isCut = cut < times
    const rest = content.subarray(offset, isCut ? offset + randomInt(1, sizeBytes - offset) : sizeBytes)
    const status = await send(url, { ...headers, 'Upload-Offset': String(offset) }, rest, sizeBytes - offset)
    if (status === 204) return cut
    if (status === null) cut += 1
    // The server may not have seen the end of the last connection yet.
    else if (status !== 423 && status !== 409 && status !== 503) throw new Error(`PATCH: ${status}`)
    await wait(retryMs)
  }
  throw new Error(`file ${number} was not stored after ${retries} attempts`)
}

/** Sends a piece of a body of `length` bytes; cuts the connection if it is not all. Returns the status, or null without a response. */
function send(url: string, headers: Record<string, string>, piece: Buffer, length: number) {
  return new Promise<number | null>(resolve => {
    const type = 'application/offset+octet-stream'
    const sent = request(url, {
      method: 'PATCH',
      headers: { ...headers, 'Content-Type': type, 'Content-Length': length },
      timeout: 120_000
    })
    sent.on('response', response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      if (piece.length < length) sent.destroy()
    })
    sent.on('error', () => resolve(null))
    sent.on('timeout', () => sent.destroy(new Error('no response')))
    if (piece.length === length) sent.end(piece)
    else sent.write(piece, () => sent.destroy())
    sent.on('close', () => resolve(null))
  })
}

/** A header of 16-bit samples in mono at 44.1 kHz. */
function wavHeader(sizeBytes: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.write('RIFF', 0)
  header.writeUInt32LE(sizeBytes - 8, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(44_100, 24)
  header.writeUInt32LE(88_200, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(sizeBytes - headerBytes, 40)
  return header
}

function numberBytes(number: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(number)
  return bytes
}

/** Counts the files that are not in the library exactly once, with their size and their own content. */
async function countWrong({ baseUrl, apiKey, databaseUrl }: ProgramOnAir, files: number, sizeBytes: number) {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const rows = await sql<{ id: string; path: string }[]>`select id, path from media where path like 'bench/%'`
  await sql.end()
  let wrong = 0
  for (let number = 0; number < files; number++) {
    const found = rows.filter(({ path }) => path === nameOf(number))
    const [song] = found
    if (song === undefined || found.length > 1) {
      wrong += 1
      continue
    }
    const range = `bytes=${headerBytes}-${headerBytes + 7}`
    const response = await fetch(`${baseUrl}/api/station/1/file/${song.id}/play`, {
      headers: { 'X-API-Key': apiKey, Range: range }
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isWhole = response.headers.get('content-range')?.endsWith(`/${sizeBytes}`) ?? false
    if (!isWhole || !bytes.equals(numberBytes(number))) wrong += 1
  }
  return wrong
}

/** Reads the memory of a process in MB: `VmRSS` now, `VmHWM` at its peak. Linux only. */
function readMegabytes(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1_024) / 1e6
}
