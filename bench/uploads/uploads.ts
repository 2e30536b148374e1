import { readFileSync } from 'node:fs'

import postgres from 'postgres'

import type { S3Settings } from '../../src/library/storage/location.ts'
import { type ProgramOnAir, startProgramOnAir } from '../on-air.ts'
import { pollAtConstantRate } from '../polls.ts'
import { positiveInteger, selectParts } from '../settings.ts'
import { openReceiver } from '../sockets/receivers.ts'
import { formatNumber, quantile, sortAscending } from '../statistics.ts'
import { printTable } from '../table.ts'
import { messageOf, startHelper } from './helpers.ts'
import { openPushLatency } from './push-latency.ts'
import { headerBytes, nameOf, numberBytes, type UploadResult, type UploadRun } from './tus-client.ts'

const port = 18_340
const sockets = 200
const polls = { connections: 10, rate: 100 }
const helperMs = 60_000
const uploadMs = 3_600_000
const bytesPerSecond = 'MBIT' in process.env ? positiveInteger('MBIT', 1) * 125_000 : null

const stores = ['disk', 'bucket'] as const

/**
 * Uploads files with tus, four at a time, while a poller polls, 200 sockets get pushes, and connections are cut: `npm
 * run bench -- uploads`. `FILES` and `MB` change the files, `PARTS=disk,bucket` where they are stored, `MBIT` the rate
 * of each connection in megabits a second (default: as fast as possible). Exits with 1 if a file is not there once.
 */
export async function uploads(): Promise<void> {
  const rows: string[][] = []
  for (const store of selectParts(stores)) rows.push(await measure(store))
  printTable(
    [
      'stored in',
      'files',
      'connections cut',
      'there once',
      'MB/s',
      'RSS before / peak',
      'p99 of polls without / with',
      'p99 of pushes without / with'
    ],
    rows
  )
}

async function measure(store: (typeof stores)[number]): Promise<string[]> {
  const files = positiveInteger('FILES', 2_000)
  const sizeBytes = positiveInteger('MB', 5) * 1_000_000
  const program = await startProgramOnAir(port, { stations: 1 })
  const receiver = openReceiver()
  const bucket = store === 'bucket' ? startHelper('bucket.ts') : null
  try {
    if (bucket !== null) await useBucket(program, await messageOf<S3Settings>(bucket, helperMs))
    const target = { port, path: '/api/live/nowplaying/websocket', connectMessages: [subscription] }
    await receiver.run({ type: 'open', target, count: sockets })
    const pushes = openPushLatency(program, receiver)
    const url = `${program.baseUrl}/api/nowplaying/1`
    const quietPolling = pollAtConstantRate(url, polls)
    const [quietPolls, quietPushes] = await Promise.all([quietPolling, pushes.measure(quietPolling)])
    const before = readMegabytes(program.serverPid(), 'VmRSS')
    const { baseUrl, apiKey } = program
    const run: UploadRun = { baseUrl, apiKey, files, sizeBytes, bytesPerSecond }
    const uploading = messageOf<UploadResult>(startHelper('uploader.ts', [JSON.stringify(run)]), uploadMs)
    const polling = pollUntil(url, uploading)
    const [{ seconds, cutCount }, busyPolls, busyPushes] = await Promise.all([
      uploading,
      polling,
      pushes.measure(uploading)
    ])
    const wrong = await countWrong(program, files, sizeBytes)
    if (wrong > 0) process.exitCode = 1
    return [
      store,
      `${files} of ${sizeBytes / 1e6} MB`,
      String(cutCount),
      wrong === 0 ? 'all' : `all but ${wrong}`,
      formatNumber((files * sizeBytes) / 1e6 / seconds, 1),
      `${formatNumber(before)} / ${formatNumber(readMegabytes(program.serverPid(), 'VmHWM'))} MB`,
      describeP99(quietPolls, busyPolls),
      describeP99(quietPushes, busyPushes)
    ]
  } finally {
    bucket?.disconnect()
    await receiver.close()
    await program.stop()
  }
}

const describeP99 = (quiet: readonly number[], busy: readonly number[]) =>
  `${formatNumber(quantile(quiet, 0.99), 1)} / ${formatNumber(quantile(busy, 0.99), 1)} ms`

const subscription = JSON.stringify({ subs: { 'station:bench_1': {} } })

/** Polls as long as files are uploaded. Returns the latencies in milliseconds, ascending. */
async function pollUntil(url: string, uploading: Promise<unknown>): Promise<readonly number[]> {
  let isUploading = true
  const end = () => (isUploading = false)
  uploading.then(end, end)
  const latencies: number[] = []
  for (;;) {
    const run = await pollAtConstantRate(url, polls)
    // The last run is partly without uploads.
    if (isUploading || latencies.length === 0) latencies.push(...run)
    if (!isUploading) return sortAscending(latencies)
  }
}

/** Makes a bucket the media storage of the station. */
async function useBucket({ baseUrl, apiKey }: ProgramOnAir, settings: S3Settings): Promise<void> {
  const send = async (method: string, path: string, body: object) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text
  }
  const location = await send('POST', '/api/admin/storage_locations', {
    type: 'station_media',
    adapter: 's3',
    path: 'media',
    s3Bucket: settings.bucket,
    s3Endpoint: settings.endpoint,
    s3CredentialKey: settings.credentialKey,
    s3CredentialSecret: settings.credentialSecret
  })
  const { id }: { id: number } = JSON.parse(location)
  await send('PUT', '/api/admin/station/1', { media_storage_location_id: id })
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
