import { once } from 'node:events'
import { connect } from 'node:net'
import { brotliDecompressSync } from 'node:zlib'

import { expect } from 'vitest'

import { openRedis } from '../../src/stores/redis/connection.ts'
import { aPlay, aSong, aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { askPlainly } from '../support/plain-http.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { putState } from '../support/put-state.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

const stations = 150

/** A server whose station list has about 1.5 MB that do not compress well. */
async function serveMuch(databaseUrl: string, redisUrl: string, folder: string): Promise<RunningServer> {
  const server = await startServer(databaseUrl, redisUrl, folder)
  const redis = openRedis({ urls: [redisUrl], isCluster: false }, 'test')
  const noise = () => Array.from({ length: 1_000 }, () => Math.random().toString(36)).join('')
  for (let stationId = 1; stationId <= stations; stationId++) {
    const shown = aPlay({ song: aSong({ lyrics: noise().slice(0, 10_000) }) })
    await putState(redis, aStation({ stationId, shown, profile: { shortName: `s${stationId}` } }))
  }
  redis.disconnect()
  await waitFor(
    async () => (await askPlainly(`${server.baseUrl}/api/nowplaying/${stations}`)).status === 200,
    {
      deadlineMs: 5_000,
      what: 'the stations'
    }
  )
  return server
}

async function end({ process }: RunningServer): Promise<number | null> {
  const ended = once(process, 'exit')
  process.kill('SIGTERM')
  await ended
  return process.exitCode
}

test('a response that is still being compressed is sent before the server exits', async ({
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  using server = await serveMuch(databaseUrl, redisUrl, folder.path)
  const headers = { 'Accept-Encoding': 'br' }
  const responses = Promise.all(
    Array.from({ length: 4 }, async () => askPlainly(`${server.baseUrl}/api/nowplaying`, { headers }))
  )
  // The health response arrives after the earlier requests were read.
  await askPlainly(`${server.baseUrl}/api/health/live`)
  expect(await end(server)).toBe(0)
  for (const { body, headers: received } of await responses) {
    const text = received['content-encoding'] === 'br' ? brotliDecompressSync(body) : body
    expect(JSON.parse(text.toString())).toHaveLength(stations)
  }
})

test('a response that is still being read is sent completely before the server exits', async ({
  databaseUrl,
  redisUrl
}) => {
  await using folder = await openTempFolder()
  using server = await serveMuch(databaseUrl, redisUrl, folder.path)
  const socket = connect(Number(new URL(server.baseUrl).port), '127.0.0.1')
  socket.write('GET /api/nowplaying HTTP/1.1\r\nHost: x\r\n\r\n')
  const closed = once(socket, 'close')
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  await waitFor(() => text.length > 0, { deadlineMs: 5_000, what: 'the first bytes' })
  socket.pause()
  const ended = end(server)
  await waitFor(async () => !(await isAccepting(server.baseUrl)), { deadlineMs: 5_000, what: 'the drain' })
  socket.resume()
  await closed
  expect(await ended).toBe(0)
  const [head = '', body = ''] = text.split('\r\n\r\n')
  expect(body.length).toBe(Number(/content-length: (\d+)/i.exec(head)?.[1]))
})

async function isAccepting(baseUrl: string): Promise<boolean> {
  return askPlainly(`${baseUrl}/api/health/live`).then(
    () => true,
    () => false
  )
}
