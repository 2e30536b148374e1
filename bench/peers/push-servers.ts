import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { WebSocket } from 'ws'

import type { ProgramOnAir } from '../on-air.ts'
import type { Target } from '../sockets/websocket.ts'
import { findTool } from '../tools.ts'
import { type GarbageSource, inspectorEnv } from './garbage.ts'
import { startNginx } from './nginx.ts'
import { startPeer } from './process.ts'
import { marker, type Publication } from './publication.ts'

const run = promisify(execFile)
const stationId = 1
const uwsPort = 18_221
const nchanPort = 18_222
const centrifugoPort = 18_223
const uwsInspector = 18_224
/** Inspector port of the program. */
export const programInspector = 18_225
const apiKey = 'bench'
/** An overloaded server responds late. */
const publishTimeoutMs = 60_000

/** A server that pushes publications to all subscribers. */
export interface PushServer extends GarbageSource {
  readonly name: string
  readonly target: Target
  /** The text before the listener count in its frames. */
  readonly marker: string
  /** Publishes a state with this listener count to all subscribers. */
  readonly publish: (total: number) => Promise<void>
  stop(): Promise<void>
}

/** Starts the peers that are installed. Returns them with the running program as the first. */
export async function startPushServers(
  program: ProgramOnAir,
  publication: Publication
): Promise<readonly PushServer[]> {
  const servers = [describeCuewire(program)]
  try {
    if (await supportsDeltas(program)) servers.push(describeCuewireWithDeltas(program))
    servers.push(await startUws(publication))
    const nginx = findTool('nginx', 'peers: push from Nchan')
    const nchan = findTool('nchan', 'peers: push from Nchan')
    if (nginx !== null && nchan !== null) servers.push(await startNchan(nginx, nchan, publication))
    const centrifugo = findTool('centrifugo', 'peers: push from Centrifugo')
    if (centrifugo !== null) servers.push(await startCentrifugo(centrifugo, publication))
    return servers
  } catch (error) {
    for (const server of servers) await server.stop()
    throw error
  }
}

/**
 * Cuewire publishes along the complete path: a write to the second server, the commits, Redis, and the
 * frames.
 */
function describeCuewire(program: ProgramOnAir): PushServer {
  return {
    name: 'Cuewire',
    pid: program.serverPid(),
    target: {
      port: Number(new URL(program.baseUrl).port),
      path: '/api/live/nowplaying/websocket',
      connectMessages: [subscribe]
    },
    marker,
    garbage: { type: 'node', port: programInspector },
    publish: total => program.reportListeners(stationId, total),
    stop: () => Promise.resolve()
  }
}

/** The same with clients that request deltas, so its frames are smaller than those of the peers. */
function describeCuewireWithDeltas(program: ProgramOnAir): PushServer {
  const cuewire = describeCuewire(program)
  return {
    ...cuewire,
    name: 'Cuewire with deltas',
    marker: '{"np":{"listeners":{"total":',
    target: { ...cuewire.target, connectMessages: [subscribeWithDeltas] }
  }
}

const channel = `station:${stationId}`
const subscribe = JSON.stringify({ subs: { [channel]: { recover: true } } })
const subscribeWithDeltas = JSON.stringify({
  subs: { [channel]: { recover: true, delta: 'merge-patch' } }
})

async function supportsDeltas({ baseUrl }: ProgramOnAir): Promise<boolean> {
  const url = new URL('/api/live/nowplaying/websocket', baseUrl.replace(/^http/, 'ws'))
  url.searchParams.set('cf_connect', subscribeWithDeltas)
  const socket = new WebSocket(url, { perMessageDeflate: false })
  try {
    const [frame]: unknown[] = await once(socket, 'message', { signal: AbortSignal.timeout(5_000) })
    return String(frame).includes('"delta":"merge-patch"')
  } finally {
    socket.terminate()
  }
}

async function startUws(publication: Publication): Promise<PushServer> {
  const script = fileURLToPath(new URL('uws-push.ts', import.meta.url))
  const peer = await startPeer(
    [process.execPath, '--import', 'tsx', script, String(uwsPort)],
    uwsPort,
    inspectorEnv(uwsInspector)
  )
  return {
    ...peer,
    name: 'uWebSockets.js',
    target: { port: uwsPort, path: '/socket', connectMessages: [] },
    marker,
    garbage: { type: 'node', port: uwsInspector },
    publish: total => post(`http://127.0.0.1:${uwsPort}/publish`, publication.frame(total))
  }
}

async function startNchan(nginx: string, nchan: string, publication: Publication): Promise<PushServer> {
  const peer = await startNginx(nginx, nchanPort, {
    head: [`load_module ${nchan};`],
    server: () => [
      'location = /publish { nchan_publisher; nchan_channel_id station;',
      '  nchan_message_buffer_length 1; nchan_message_timeout 30s; }',
      'location = /socket { nchan_subscriber websocket; nchan_channel_id station; }'
    ]
  })
  return {
    ...peer,
    name: 'Nchan',
    target: { port: nchanPort, path: '/socket', connectMessages: [] },
    marker,
    garbage: null,
    publish: total => post(`http://127.0.0.1:${nchanPort}/publish`, publication.frame(total))
  }
}

/**
 * Starts Centrifugo as AzuraCast configures it: unidirectional WebSocket, one publication of history per
 * station, recovery in cache mode.
 */
async function startCentrifugo(centrifugo: string, publication: Publication): Promise<PushServer> {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-centrifugo-'))
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify(await createConfiguration(centrifugo)))
  const peer = await startPeer([centrifugo, '-c', file, '--log_level', 'error', '--debug'], centrifugoPort)
  return {
    pid: peer.pid,
    name: 'Centrifugo',
    target: { port: centrifugoPort, path: '/connection/uni_websocket', connectMessages: [subscribe] },
    marker,
    garbage: { type: 'go', port: centrifugoPort },
    publish: total =>
      post(
        `http://127.0.0.1:${centrifugoPort}/api/publish`,
        `{"channel":"${channel}","data":${publication.data(total)}}`
      ),
    stop: async () => {
      await peer.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

async function createConfiguration(centrifugo: string): Promise<object> {
  const namespace = {
    name: 'station',
    history_size: 1,
    history_ttl: '30s',
    force_recovery: true,
    force_recovery_mode: 'cache',
    allow_subscribe_for_client: true,
    allow_subscribe_for_anonymous: true
  }
  if (!(await isVersion6(centrifugo))) {
    return {
      address: '127.0.0.1',
      port: String(centrifugoPort),
      api_key: apiKey,
      allow_anonymous_connect_without_token: true,
      allowed_origins: ['*'],
      uni_websocket: true,
      namespaces: [namespace]
    }
  }
  return {
    http_server: { address: '127.0.0.1', port: centrifugoPort },
    http_api: { key: apiKey },
    client: { allowed_origins: ['*'], allow_anonymous_connect_without_token: true },
    uni_websocket: { enabled: true },
    channel: { namespaces: [namespace] }
  }
}

/** Version 6 renamed the settings. */
async function isVersion6(centrifugo: string): Promise<boolean> {
  const { stdout } = await run(centrifugo, ['--help'], { timeout: 5_000 })
  return stdout.includes('defaultconfig')
}

async function post(url: string, body: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
    body,
    signal: AbortSignal.timeout(publishTimeoutMs)
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${text}`)
}
