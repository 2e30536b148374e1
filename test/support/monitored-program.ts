import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { WebSocket } from 'ws'

import { findFreePort } from '../../src/platform/process/ports.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { openCuttableProxy } from './cuttable-proxy.ts'
import { openDatabases } from './databases.ts'
import { seedHook } from './hooks.ts'
import { type Opened, openRedisServer } from './opened.ts'
import { startServer } from './program.ts'
import { startPrometheus } from './prometheus.ts'
import { seedStations } from './stations.ts'
import { startFakeIcecast } from './streaming-server.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'
import { startWebServer } from './web-server.ts'
import { startWorkers } from './worker-process.ts'

export type MonitoredProgram = Awaited<ReturnType<typeof openMonitoredProgram>>['value']

/**
 * Two servers and two workers processes behind proxies, with ten stations, clients of all transports and requests all
 * the time, and a Prometheus that reads them and has the rates of a `window`.
 */
export async function openMonitoredProgram(templateUrl: string, window: string) {
  const closing: (() => unknown)[] = []
  const opened = async <T extends AsyncDisposable>(opening: Promise<T>): Promise<T> => {
    const value = await opening
    closing.unshift(() => value[Symbol.asyncDispose]())
    return value
  }
  const redisServer = await openRedisServer()
  const databases = openDatabases(templateUrl)
  closing.unshift(databases.close, redisServer.close)
  const { url: databaseUrl, sql } = await databases.take()
  const folder = await opened(openTempFolder())
  const postgres = await opened(openCuttableProxy(databaseUrl))
  const redis = await opened(openCuttableProxy(redisServer.value))
  const receiver = await opened(startWebServer())
  const icecast = await opened(startFakeIcecast())
  const running = new Set<ChildProcess>()
  closing.unshift(() => {
    for (const child of running) child.kill('SIGKILL')
  })

  const ports = await Promise.all(Array.from({ length: 6 }, findFreePort))
  const [firstPort = '', secondPort = '', ...metricsPorts] = ports.map(String)
  const variables = (index: number) => ({
    DATA_DIR: folder.path,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    METRICS_PORT: metricsPorts[index] ?? ''
  })
  const openServer = async (port: string, index: number) => {
    const given = { ...variables(index), PORT: port, LIVE_MAX_CONNECTIONS: '12' }
    const server = await startServer(postgres.url, redis.url, folder.path, given)
    running.add(server.process)
    return server
  }
  const openWorkers = async (index: number) => {
    const workers = startWorkers(postgres.url, redis.url, variables(index))
    running.add(workers)
    workers.stderr?.pipe(process.stderr)
    await once(workers, 'message')
    return workers
  }
  const stop = async (child: ChildProcess) => {
    running.delete(child)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  icecast.send({ path: '/radio.mp3', listeners: [['203.0.113.9', 'VLC/3.0']] })
  const [first, second] = await Promise.all([openServer(firstPort, 0), openServer(secondPort, 1)])
  let workers = await Promise.all([openWorkers(2), openWorkers(3)])
  const stationIds = await seedMonitored(sql, { icecastUrl: icecast.url, hookUrl: receiver.url })
  const [station = 0] = stationIds
  await waitFor(async () => (await first.ask('GET', `/api/nowplaying/${station}`)).body.is_online === true, {
    deadlineMs: 60_000,
    what: 'the first song'
  })

  const subscription = { subs: { [`station:${station}`]: { recover: true } } }
  /** Follows the station until the returned function is called. */
  const follow = (transport: 'sse' | 'http_stream') => {
    const leaving = new AbortController()
    void fetch(`${first.baseUrl}/api/live/nowplaying/${transport}`, {
      method: 'POST',
      body: JSON.stringify(subscription),
      headers: { 'Content-Type': 'application/json' },
      signal: leaving.signal
    })
      .then(async response => response.text())
      .catch(() => {})
    closing.unshift(() => leaving.abort())
    return () => leaving.abort()
  }
  for (const transport of ['sse', 'http_stream'] as const) follow(transport)
  const liveUrl = `${first.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
  const socket = new WebSocket(liveUrl, { perMessageDeflate: false })
  const deltas = { subs: { [`station:${station}`]: { recover: true, delta: 'merge-patch' } } }
  socket.on('error', () => {}).once('open', () => socket.send(JSON.stringify(deltas)))

  const load = setInterval(() => {
    for (const path of [`/api/nowplaying/${station}`, '/api/status', `/api/station/${station}/queue`])
      for (const { ask } of [first, second]) void ask('GET', path).catch(() => {})
    const total = Math.floor(Math.random() * 1_000)
    void first.ask('PUT', `/api/station/${station}/listeners`, { body: { total } }).catch(() => {})
  }, 500)
  closing.unshift(() => {
    clearInterval(load)
    socket.terminate()
  })
  const prometheus = await opened(
    startPrometheus({ targets: metricsPorts.map(port => `127.0.0.1:${port}`), pendingFor: '0s', window })
  )

  const value = {
    sql,
    postgres,
    redis,
    redisUrl: redisServer.value,
    receiver,
    icecast,
    prometheus,
    first,
    metricsPorts,
    liveUrl,
    subscription,
    stationIds,
    station,
    follow,
    stopSecond: () => stop(second.process),
    startSecond: () => openServer(secondPort, 1),
    stopWorkers: () => Promise.all(workers.map(stop)),
    startWorkers: async () => (workers = await Promise.all([openWorkers(2), openWorkers(3)]))
  }
  const close = async () => {
    for (const each of closing) await each()
  }
  return { value, close } satisfies Opened<typeof value>
}

/** Stations that are polled and have a web hook. */
async function seedMonitored(
  sql: Sql,
  { icecastUrl, hookUrl }: Readonly<Record<'icecastUrl' | 'hookUrl', string>>
) {
  const stations = await seedStations(sql, { stations: 10, songMs: 2_000 })
  const ids = stations.map(({ id }) => id)
  await sql`update stations set frontend = 'icecast', frontend_url = ${icecastUrl} where id = any(${ids}::bigint[])`
  for (const id of ids)
    await seedHook(sql, id, { triggers: ['song_changed'], config: { webhook_url: hookUrl } })
  return ids
}
