import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { describe, expect, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { mp3, wav } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { ffmpeg, whyWithout } from '../support/foreign-programs.ts'
import { type Icecast, startIcecast, whyWithoutIcecast } from '../support/icecast.ts'
import { shownWhen } from '../support/playing.ts'
import { adminKey, type JsonBody, startProgram, type RunningProgram } from '../support/program.ts'
import { openShippedProxy, type ShippedProxy } from '../support/shipped-proxies.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

const mebibyte = 1024 * 1024
const soon = { deadlineMs: 10_000 }

/** A program with a station behind a proxy, and an Icecast that plays a tone on two mounts. */
interface World {
  readonly program: RunningProgram
  readonly proxy: ShippedProxy
  readonly icecast: Icecast
  readonly station: { readonly id: number; readonly name: string }
}

interface Options {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The address of the client. */
  readonly from?: string
  readonly isPlain?: boolean
}

/** Sends a request through the proxy, and leaves its body open if `body` is undefined and the method has one. */
function send({ proxy }: World, path: string, options: Options = {}): ClientRequest {
  const { method = 'GET', headers = {}, from = '127.0.0.1', isPlain = false } = options
  const shared = {
    host: 'localhost',
    path,
    method,
    headers,
    localAddress: from,
    family: 4,
    agent: false
  } as const
  return isPlain
    ? httpRequest({ ...shared, port: proxy.http })
    : httpsRequest({ ...shared, port: proxy.https, ca: proxy.ca })
}

/** Waits for the head of the response. The connection is closed when the test ends. */
async function open(world: World, path: string, options: Options = {}): Promise<IncomingMessage> {
  const sent = send(world, path, options)
  onTestFinished(() => void sent.destroy())
  const received = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).on('error', reject)
  })
  sent.end(options.body)
  const response = await received
  response.on('error', () => {})
  return response
}

interface PlainResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

async function ask(world: World, path: string, options: Options = {}): Promise<PlainResponse> {
  const response = await open(world, path, options)
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(response, 'end', { signal: AbortSignal.timeout(30_000) })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString()
  }
}

const askJson = async (world: World, path: string, options: Options = {}): Promise<JsonBody> => {
  const { status, text } = await ask(world, path, {
    ...options,
    headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json', ...options.headers }
  })
  expect([path, status, text]).toEqual([path, 200, expect.any(String)])
  return JSON.parse(text)
}

/** Collects the text of a response, and returns it once it contains a text. */
function collect(response: IncomingMessage) {
  let text = ''
  response.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  return async (part: string) => waitFor(() => text.includes(part) && text, { deadlineMs: 5_000, what: part })
}

/**
 * A subscribe message for 128 stations, the most that a client may have, which makes a query of more than the 8 KB of
 * nginx' default.
 */
const subscribeTo = ({ station }: World) => {
  const others = Array.from({ length: 127 }, (_, index) => `station:${String(index).padStart(20, 'x')}`)
  const names = [`station:${station.name}`, ...others]
  return { subs: Object.fromEntries(names.map(name => [name, { recover: true }])) }
}

async function checkApi(world: World): Promise<void> {
  const { proxy, station } = world
  expect(await askJson(world, `/api/nowplaying/${station.name}`)).toMatchObject({
    station: { listen_url: `https://localhost:${proxy.https}/listen/${station.name}/radio.mp3` }
  })
  const redirect = await ask(world, '/api/status?a=b', { isPlain: true })
  expect(redirect.status).toBe(301)
  expect(redirect.headers.location).toMatch(/^https:\/\/localhost(:\d+)?\/api\/status\?a=b$/)
  const refused = await ask(world, '/api/station/nowhere/queue')
  expect([refused.status, JSON.parse(refused.text).success]).toEqual([403, false])
  // A page with its policy, which is the longest header.
  expect((await ask(world, `/public/${station.name}`)).headers['content-security-policy']).toContain(
    'media-src'
  )
  await writeFile(join(proxy.hlsFolder, 'live.m3u8'), '#EXTM3U\n')
  const list = await ask(world, '/hls/live.m3u8')
  expect([list.status, list.text, list.headers['cache-control']]).toEqual([200, '#EXTM3U\n', 'no-cache'])
  expect(list.headers['content-type']).toContain('mpegurl')
}

async function checkPush(world: World): Promise<void> {
  const { proxy, program, station } = world
  const message = JSON.stringify(subscribeTo(world))
  const socket = new WebSocket(`wss://localhost:${proxy.https}/api/live/nowplaying/websocket`, {
    ca: proxy.ca,
    family: 4
  })
  onTestFinished(() => socket.terminate())
  let received = ''
  socket.on('message', (data: Buffer) => (received += data.toString()))
  await once(socket, 'open', { signal: AbortSignal.timeout(5_000) })
  socket.send(message)
  const query = `?cf_connect=${encodeURIComponent(message)}`
  expect(query.length).toBeGreaterThan(8_192)
  const events = await open(world, `/api/live/nowplaying/sse${query}`)
  expect(events.headers['content-type']).toContain('text/event-stream')
  const untilEvent = collect(events)
  const isOnSocket = (part: string) =>
    waitFor(() => received.includes(part), { deadlineMs: 5_000, what: part })
  await Promise.all([untilEvent('"connect"'), isOnSocket('"connect"')])
  const path = `/api/admin/station/${station.id}`
  const description = `Heard at ${Date.now()}`
  expect((await program.ask('PUT', path, { body: { description } })).status).toBe(200)
  await Promise.all([untilEvent(description), isOnSocket(description)])
}

async function checkUploads(world: World): Promise<void> {
  const { program, station } = world
  const path = `/api/station/${station.id}/files`
  const whole = JSON.stringify({
    path: 'whole.wav',
    file: wav({ INAM: 'Whole', IART: 'Test' }, 200_000).toString('base64')
  })
  expect(whole.length).toBeGreaterThan(2 * mebibyte)
  expect(await askJson(world, path, { method: 'POST', body: whole })).toMatchObject({ path: 'whole.wav' })

  const song = mp3({ TIT2: 'In pieces', TPE1: 'Test' }, 30_000)
  expect(song.length).toBeGreaterThan(2 * mebibyte)
  const tus = { 'X-API-Key': adminKey, 'Tus-Resumable': '1.0.0' }
  const metadata = `path ${Buffer.from('pieces.mp3').toString('base64')}`
  const begun = await ask(world, `${path}/uploads`, {
    method: 'POST',
    headers: { ...tus, 'Upload-Length': String(song.length), 'Upload-Metadata': metadata }
  })
  expect([begun.status, begun.text]).toEqual([201, ''])
  const upload = begun.headers.location ?? ''
  const piece = { ...tus, 'Content-Type': 'application/offset+octet-stream' }
  const first = send(world, upload, {
    method: 'PATCH',
    headers: { ...piece, 'Upload-Offset': '0', 'Content-Length': String(song.length) }
  })
  first.on('error', () => {})
  first.write(song.subarray(0, mebibyte))
  // The proxy passes on what it has, so Cuewire has it when the connection breaks.
  const folder = join(program.dataDir, 'uploads')
  await waitFor(
    async () => {
      const [name = ''] = await readdir(folder)
      return (await stat(join(folder, name))).size > mebibyte / 2
    },
    { ...soon, what: 'the first half of the piece' }
  )
  first.destroy()
  const offset = await waitFor(
    async () => {
      const { status, headers } = await ask(world, upload, { method: 'HEAD', headers: tus })
      return status === 200 && Number(headers['upload-offset'])
    },
    { ...soon, what: 'the upload to be free again' }
  )
  expect(offset).toBeGreaterThan(mebibyte / 2)
  const resumed = await ask(world, upload, {
    method: 'PATCH',
    headers: { ...piece, 'Upload-Offset': String(offset) },
    body: song.subarray(offset)
  })
  expect([resumed.status, resumed.text]).toEqual([204, ''])
  const stored = join(program.dataDir, 'stations', String(station.id), 'media', 'pieces.mp3')
  expect((await readFile(stored)).equals(song)).toBe(true)
  // Cuewire refuses what is too large, with its own error.
  const tooLarge = await ask(world, `${path}/uploads`, {
    method: 'POST',
    headers: { ...tus, 'Upload-Length': String(4_096 * mebibyte), 'Upload-Metadata': metadata }
  })
  expect([tooLarge.status, JSON.parse(tooLarge.text).success]).toEqual([413, false])
}

async function checkStream(world: World): Promise<void> {
  const { station, icecast } = world
  const path = `/listen/${station.name}/radio.mp3`
  const isSound = async (response: IncomingMessage) => {
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'audio/mpeg'])
    let bytes = 0
    response.on('data', (chunk: Buffer) => (bytes += chunk.length))
    await waitFor(() => bytes > 10_000, { ...soon, what: 'sound' })
  }
  await isSound(await open(world, path))
  await isSound(await open(world, `/listen/${station.name}/standby/radio.mp3?ignored=1`))
  // Old receivers.
  await isSound(await open(world, path, { isPlain: true }))
  const titled = await open(world, path, { headers: { 'Icy-MetaData': '1' } })
  expect(Number(titled.headers['icy-metaint'])).toBeGreaterThan(0)

  const isCuewires = async (hidden: string) => {
    const { status, headers } = await ask(world, hidden)
    expect([hidden, status, headers['server'] ?? '']).toEqual([
      hidden,
      404,
      expect.not.stringMatching(/Icecast/)
    ])
  }
  expect((await fetch(`${icecast.url}/status-json.xsl`)).status).toBe(200)
  for (const hidden of [
    'admin/stats',
    'status-json.xsl',
    'web/xspf.xsl',
    '%0d%0aX:/radio.mp3',
    '../admin/stats'
  ])
    await isCuewires(`/listen/${station.name}/${hidden}`)
  await isCuewires('/listen/nowhere/radio.mp3')
  // A source that knows the password.
  const source = await ask(world, path, {
    method: 'PUT',
    headers: { Authorization: `Basic ${btoa('source:send')}`, 'Content-Type': 'audio/mpeg' },
    body: 'x'
  })
  expect(source.status).toBeGreaterThanOrEqual(400)
}

async function checkAddresses(world: World): Promise<void> {
  const message = encodeURIComponent(JSON.stringify({ subs: { [`station:${world.station.name}`]: {} } }))
  // A refused client of server-sent events is told when to come again, so this one follows lines.
  const connect = async (from: string, headers: Readonly<Record<string, string>> = {}) => {
    const path = '/api/live/nowplaying/http_stream'
    const body = decodeURIComponent(message)
    const response = await open(world, path, { method: 'POST', body, from, headers })
    response.resume()
    return response.statusCode
  }
  const [crowd, other] = ['127.0.0.5', '127.0.0.6']
  for (let index = 0; index < maxPerAddress; index++) expect(await connect(crowd)).toBe(200)
  expect(await connect(crowd)).toBe(429)
  expect(await connect(crowd, { 'X-Forwarded-For': '203.0.113.7' })).toBe(429)
  expect(await connect(other)).toBe(200)
}

/** Listeners behind the proxy are all counted; Icecast sees one address, so only user agents make them unique. */
async function checkCounts(world: World): Promise<void> {
  const { program, station } = world
  const path = `/listen/${station.name}/radio.mp3`
  const { total } = (await shownWhen(program, station.id, () => true)).listeners
  for (const [from, agent] of [
    ['127.0.0.7', 'Player/1'],
    ['127.0.0.8', 'Player/1'],
    ['127.0.0.9', 'Player/2']
  ] as const)
    (await open(world, path, { from, headers: { 'User-Agent': agent } })).resume()
  const found = await shownWhen(
    program,
    station.id,
    ({ listeners }) => listeners.total >= 3 && listeners.unique >= 2,
    30_000
  )
  expect(found.listeners.total).toBeGreaterThanOrEqual(total)
  expect(found.listeners.unique).toBeLessThan(found.listeners.total)
}

const maxPerAddress = 3

/** Sends a tone to a mount at the speed of its sound, until the test ends. */
function playTone({ url }: Icecast, mount: string): void {
  const target = `icecast://source:send@${new URL(url).host}${mount}`
  const args = `-loglevel error -re -f lavfi -i sine -b:a 64k -content_type audio/mpeg -f mp3 ${target}`
  const child = spawn(ffmpeg, args.split(' '), { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
}

const reason = whyWithoutIcecast() ?? whyWithout('ffmpeg')

describe.skipIf(reason !== null).for(['nginx', 'caddy'] as const)('behind the %s of ops', name => {
  test.skipIf(whyWithout(name) !== null)(
    'everything is on one HTTPS origin: API, push, uploads and streams, with the addresses of clients',
    async ({ databaseUrl, redisUrl, openPage }) => {
      await using folder = await openTempFolder()
      await using icecast = await startIcecast()
      playTone(icecast, '/radio.mp3')
      await icecast.source('/standby/radio.mp3', { type: 'audio/mpeg', bytes: mp3(), again: true })

      await using proxy = await openShippedProxy(name)
      const port = await findFreePort()
      await using program = await startProgram(databaseUrl, redisUrl, folder.path, {
        PORT: String(port),
        BASE_URL: `https://localhost:${proxy.https}`,
        LIVE_MAX_CONNECTIONS_PER_ADDRESS: String(maxPerAddress)
      })
      const created = await program.ask('POST', '/api/admin/stations', {
        body: {
          name: 'Harbour',
          short_name: 'harbour',
          backend: 'none',
          frontend: 'icecast',
          frontend_url: icecast.url,
          frontend_admin_password: 'hush'
        }
      })
      expect(created.status).toBe(200)
      const station = { id: Number(created.body.id), name: 'harbour' }
      const icecastPort = Number(new URL(icecast.url).port)
      await proxy.start({ cuewire: port, icecast: icecastPort, station: station.name })
      const world = { program, proxy, icecast, station }

      await checkApi(world)
      await checkPush(world)
      await checkUploads(world)
      await checkStream(world)
      await checkAddresses(world)
      await checkCounts(world)

      if (whyWithout('chromium') !== null) return
      // Errors on the console, such as mixed content, fail the test.
      const page = await openPage({ ignoreHTTPSErrors: true })
      await page.goto(`https://localhost:${proxy.https}/public/${station.name}`)
      await page.getByRole('button', { name: 'Listen' }).click()
      await page.locator('.sound-text', { hasText: 'Listening' }).waitFor({ timeout: 10_000 })
    }
  )
})

/** Sends a file without a key over HTTP/1.1, as often as it says. Returns the statuses; 0 without a response. */
async function uploadWithoutKey(url: string, file: string, options: readonly string[], times: number) {
  const statuses: number[] = []
  for (let index = 0; index < times; index++) {
    const words = ['-sS', '-m', '60', '--http1.1', '-o', '/dev/null', '-w', '%{http_code}']
    const sent = promisify(execFile)('curl', [...words, ...options, '-F', `file=@${file}`, url])
    statuses.push(
      await sent.then(
        ({ stdout }) => Number(stdout),
        () => 0
      )
    )
  }
  return statuses
}

test.skipIf(whyWithout('nginx') !== null || whyWithout('caddy') !== null)(
  'a large upload that is refused gets its response over HTTP/1.1, directly and through both proxies',
  { timeout: 300_000 },
  async ({ databaseUrl, redisUrl }) => {
    await using folder = await openTempFolder()
    await using program = await startProgram(databaseUrl, redisUrl, folder.path)
    const file = join(folder.path, 'large.mp3')
    await writeFile(file, Buffer.alloc(105_000_000))
    const path = '/api/station/1/files'
    const times = 10
    const refused = Array.from({ length: times }, () => 403)
    const found = { direct: await uploadWithoutKey(program.baseUrl + path, file, [], times) }
    expect(found).toEqual({ direct: refused })
    for (const name of ['nginx', 'caddy'] as const) {
      await using proxy = await openShippedProxy(name)
      await proxy.start({ cuewire: Number(new URL(program.baseUrl).port), icecast: 8_000, station: 'demo' })
      const trust = ['--cacert', join(proxy.hlsFolder, '..', 'cert.pem')]
      const url = `https://localhost:${proxy.https}${path}`
      expect([name, await uploadWithoutKey(url, file, trust, times)]).toEqual([name, refused])
    }
  }
)

test.skipIf(whyWithout('nginx') !== null)(
  'behind nginx, a server that was restarted takes all sockets when the other one stops',
  { timeout: 60_000 },
  async () => {
    const ports = [await findFreePort(), await findFreePort()] as const
    const servers = new Map<number, WebSocketServer>()
    const start = async (port: number) => {
      const server = new WebSocketServer({ host: '127.0.0.1', port })
      servers.set(port, server)
      await once(server, 'listening')
    }
    const stop = async (port: number) => {
      const server = servers.get(port)
      if (!server) return
      servers.delete(port)
      for (const client of server.clients) client.terminate()
      await new Promise(closed => server.close(closed))
    }
    onTestFinished(async () => void (await Promise.all(ports.map(stop))))
    await using proxy = await openShippedProxy('nginx')
    await Promise.all(ports.map(start))
    await proxy.start({ cuewire: ports[0], secondCuewire: ports[1], icecast: 8_000, station: 'demo' })
    const openSockets = async (count: number) =>
      Promise.allSettled(
        Array.from({ length: count }, async () => {
          const socket = new WebSocket(`wss://localhost:${proxy.https}/api/live/nowplaying/websocket`, {
            ca: proxy.ca,
            family: 4
          })
          onTestFinished(() => socket.terminate())
          await once(socket, 'open')
        })
      )
    const refused = async (count: number) =>
      (await openSockets(count)).filter(({ status }) => status === 'rejected').length
    expect(await refused(10)).toBe(0)
    await stop(ports[0])
    expect(await refused(10)).toBe(0)
    await start(ports[0])
    await waitFor(async () => (await refused(1)) === 0 && (servers.get(ports[0])?.clients.size ?? 0) > 0, {
      ...soon,
      what: 'a socket at the server that was restarted'
    })
    await stop(ports[1])
    expect(await refused(20)).toBe(0)
  }
)
