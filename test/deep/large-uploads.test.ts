import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, stat } from 'node:fs/promises'
import { type IncomingMessage, request as requestPlainly } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { describe, expect } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { wav } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { shownWhen } from '../support/playing.ts'
import type { PollingResult } from '../support/polling-client.ts'
import { adminKey, startProgram } from '../support/program.ts'
import { openShippedProxy } from '../support/shipped-proxies.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep, sized } from '../support/tier.ts'
import { patience } from '../support/wait.ts'

const sizeBytes = sized({ quick: 0, deep: 100, soak: 300 }) * 1_000_000
const rounds = sized({ quick: 0, deep: 2, soak: 10 })
const maxPollMs = 100 * patience

/** The address of a station, and the options with which curl accepts its certificate. */
interface Place {
  readonly url: string
  readonly options: readonly string[]
}

/** Files to send, and what remains of an upload that was begun. */
interface Content {
  readonly file: string
  /** JSON with the file in Base64. */
  readonly json: string
}

/** Sends a file as fast as possible, with a low priority. Returns the status; rejects if there is no response. */
async function curl({ options }: Place, ...args: readonly string[]) {
  const shared = ['-sS', '-m', '300', '-H', `X-API-Key: ${adminKey}`, '-w', '\n%{http_code}', ...options]
  const { stdout } = await promisify(execFile)('nice', ['-n', '10', 'curl', ...shared, ...args], {
    maxBuffer: 16 * 1024 * 1024
  })
  const end = stdout.lastIndexOf('\n')
  return { status: Number(stdout.slice(end + 1)), head: stdout.slice(0, end) }
}

const jsonType = ['-H', 'Content-Type: application/json']
const tusVersion = ['-H', 'Tus-Resumable: 1.0.0']
const chunkBytes = 100 * 1024 * 1024

const ways = {
  JSON: async (place: Place, { json }: Content) =>
    (await curl(place, ...jsonType, '--data-binary', `@${json}`, `${place.url}/files`)).status,
  multipart: async (place: Place, { file }: Content, name: string) =>
    (await curl(place, '-F', `path=${name}`, '-F', `file=@${file}`, `${place.url}/files`)).status,
  tus: async (place: Place, { file }: Content, name: string) => {
    const metadata = `Upload-Metadata: path ${Buffer.from(name).toString('base64')}`
    const length = `Upload-Length: ${(await stat(file)).size}`
    const begin = ['-X', 'POST', '-D', '-', ...tusVersion, '-H', length, '-H', metadata]
    const { head } = await curl(place, ...begin, `${place.url}/files/uploads`)
    const location = /^location: (\S+)/im.exec(head)?.[1] ?? ''
    const piece = ['-H', 'Content-Type: application/offset+octet-stream', '-H', 'Upload-Offset: 0']
    const { origin } = new URL(place.url)
    return (await curl(place, '-X', 'PATCH', ...tusVersion, ...piece, '-T', file, origin + location)).status
  },
  flow: async (place: Place, { file }: Content, name: string) => {
    const { size } = await stat(file)
    const count = Math.ceil(size / chunkBytes)
    let last = 0
    for (let number = 1; number <= count; number++) {
      const sent = Math.min(chunkBytes, size - (number - 1) * chunkBytes)
      const fields = {
        flowChunkNumber: number,
        flowTotalChunks: count,
        flowCurrentChunkSize: sent,
        flowTotalSize: size,
        flowIdentifier: name,
        flowFilename: name,
        flowRelativePath: name,
        currentDirectory: ''
      }
      const form = Object.entries(fields).flatMap(([key, value]) => ['-F', `${key}=${value}`])
      const part = `${file}.${number}`
      last = (await curl(place, ...form, '-F', `file_data=@${part}`, `${place.url}/files/upload`)).status
      if (last !== 200) break
    }
    return last
  }
}

/** Writes the content, its chunks, and the JSON of each name. */
async function writeContent(folder: string): Promise<Content> {
  const content = wav({ INAM: 'Large' }, sizeBytes / 8)
  const file = join(folder, 'large.wav')
  const write = async (path: string, ...parts: (Uint8Array | string)[]) => {
    await using handle = await open(path, 'w')
    for (const part of parts) await handle.appendFile(part)
  }
  await write(file, content)
  for (let number = 1; (number - 1) * chunkBytes < content.length; number++)
    await write(`${file}.${number}`, content.subarray((number - 1) * chunkBytes, number * chunkBytes))
  const json = join(folder, 'large.json')
  await write(json, '{"path":"json.wav","file":"', content.toString('base64'), '"}')
  return { file, json }
}

/** Polls in a process of its own until it is stopped, with a high priority if it may have that. */
function pollOften(url: string) {
  const file = fileURLToPath(new URL('../support/polling-client.ts', import.meta.url))
  const client = spawn('nice', ['-n', '-10', process.execPath, '--import', 'tsx', file, url], {
    stdio: ['pipe', 'pipe', 'ignore']
  })
  const printed = text(client.stdout)
  return async () => {
    client.stdin.end()
    const result: PollingResult = JSON.parse(await printed)
    return result
  }
}

/** Begins an upload and closes the connection in the middle. */
async function cutOff(url: string): Promise<void> {
  const sent = request(`${url}/files`, {
    method: 'POST',
    rejectUnauthorized: false,
    agent: false,
    headers: {
      'X-API-Key': adminKey,
      'Content-Type': 'application/json',
      'Content-Length': 10_000_000
    }
  })
  sent.on('error', () => {})
  await new Promise(resolve => sent.write(Buffer.alloc(1_000_000, ' '), resolve))
  sent.destroy()
}

const slowBytes = sized({ quick: 0, deep: 120_000, soak: 400_000 })
const slowBytesPerSecond = 4_000

/** Sends a file with 32 kbit/s. Returns the status. */
async function sendSlowly(url: string, file: Buffer): Promise<number> {
  const send = url.startsWith('https:') ? request : requestPlainly
  const sent = send(url, {
    method: 'POST',
    rejectUnauthorized: false,
    agent: false,
    headers: {
      'X-API-Key': adminKey,
      'Content-Type': 'multipart/form-data; boundary=b',
      'Content-Length': file.length
    }
  })
  const responded = once(sent, 'response')
  responded.catch(() => {})
  for (let offset = 0; offset < file.length; offset += slowBytesPerSecond / 2) {
    sent.write(file.subarray(offset, offset + slowBytesPerSecond / 2))
    await sleep(500)
  }
  sent.end()
  const [response]: IncomingMessage[] = await responded
  response?.resume()
  return response?.statusCode ?? 0
}

describe.runIf(isDeep).for(['directly', 'nginx', 'caddy'] as const)('%s', way => {
  test.skipIf(way !== 'directly' && whyWithout(way) !== null)(
    'a file that is sent with 32 kbit/s arrives',
    async ({ databaseUrl, redisUrl }) => {
      await using folder = await openTempFolder()
      await using proxy = await openShippedProxy(way === 'directly' ? 'nginx' : way)
      const port = await findFreePort()
      await using program = await startProgram(databaseUrl, redisUrl, folder.path, { PORT: String(port) })
      const stationId = await seedStation(program.sql)
      if (way !== 'directly') await proxy.start({ cuewire: port, icecast: 1, station: 'none' })
      const base = way === 'directly' ? program.baseUrl : `https://localhost:${proxy.https}`
      const part = (name: string, rest: string) =>
        `--b\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n`
      const form = Buffer.concat([
        Buffer.from(`${part('path', '')}slow.wav\r\n${part('file', '; filename="slow.wav"')}`),
        wav({ INAM: 'Slow' }, slowBytes / 8),
        Buffer.from('\r\n--b--\r\n')
      ])
      expect(await sendSlowly(`${base}/api/station/${stationId}/files`, form)).toBe(200)
    }
  )
})

describe.runIf(isDeep).for(['nginx', 'caddy'] as const)('%s', way => {
  test.skipIf(whyWithout(way) !== null)(
    'clients that break off their uploads do not delay others',
    async ({ databaseUrl, redisUrl }) => {
      await using folder = await openTempFolder()
      await using proxy = await openShippedProxy(way)
      const port = await findFreePort()
      await using program = await startProgram(databaseUrl, redisUrl, folder.path, { PORT: String(port) })
      const stationId = await seedStation(program.sql)
      await shownWhen(program, stationId, () => true)
      await proxy.start({ cuewire: port, icecast: 1, station: 'none' })
      const base = `https://localhost:${proxy.https}`
      const stop = pollOften(`${base}/api/nowplaying/${stationId}`)
      for (let count = 0; count < 10; count++) {
        await cutOff(`${base}/api/station/${stationId}`)
        await sleep(100)
      }
      const { wrong, times } = await stop()
      expect(wrong).toEqual([])
      expect(times.at(-1)).toBeLessThan(maxPollMs * 5)
    }
  )
})

describe.runIf(isDeep).for(['directly', 'nginx', 'caddy'] as const)('%s', way => {
  test.skipIf(way !== 'directly' && whyWithout(way) !== null)(
    'large files that are sent as fast as possible arrive, and polls do not wait for them',
    async ({ databaseUrl, redisUrl }) => {
      await using folder = await openTempFolder()
      const content = await writeContent(folder.path)
      await using proxy = await openShippedProxy(way === 'directly' ? 'nginx' : way)
      const port = await findFreePort()
      await using program = await startProgram(databaseUrl, redisUrl, folder.path, {
        PORT: String(port),
        LOG_LEVEL: 'warn'
      })
      const stationId = await seedStation(program.sql)
      if (way !== 'directly') await proxy.start({ cuewire: port, icecast: 1, station: 'none' })
      const base = way === 'directly' ? program.baseUrl : `https://localhost:${proxy.https}`
      await shownWhen(program, stationId, () => true)
      const stop = pollOften(`${base}/api/nowplaying/${stationId}`)
      const statuses: string[] = []
      const startedMs = performance.now()
      for (let round = 0; round < rounds; round++) {
        // Both protocols of HTTPS.
        const options = way === 'directly' ? [] : ['-k', round % 2 === 0 ? '--http1.1' : '--http2']
        const place = { url: `${base}/api/station/${stationId}`, options }
        await Promise.all(
          Object.entries(ways).map(async ([name, send]) => {
            const status = await send(place, content, `${name}.wav`.toLowerCase()).catch(
              (error: unknown) => `no response: ${String(error).slice(-200)}`
            )
            statuses.push(`${name} ${status}`)
          })
        )
      }
      const seconds = (performance.now() - startedMs) / 1_000
      const polls = await stop()
      const peak = await readFile(`/proc/${program.server.pid}/status`, 'utf8')
      process.stdout.write(
        `${way}: ${statuses.length} of ${sizeBytes / 1e6} MB in ${seconds.toFixed(1)} s, ${polls.times.length} polls, ` +
          `p99 ${polls.times[Math.floor(polls.times.length * 0.99)]?.toFixed(1)} ms, ` +
          `longest ${polls.times.at(-1)?.toFixed(1)} ms, ${/VmHWM:\s+(\d+ kB)/.exec(peak)?.[1]}\n`
      )
      expect(statuses.filter(each => !/ (200|204)$/.test(each))).toEqual([])
      expect(polls.wrong).toEqual([])
      expect(polls.times.at(-1)).toBeLessThan(maxPollMs)
      const stored =
        await program.sql`select path from media where station_id = ${stationId} and size_bytes = ${(await stat(content.file)).size}`
      expect(stored).toHaveLength(4)
    }
  )
})
