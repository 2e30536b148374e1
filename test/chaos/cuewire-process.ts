import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { wordsFor } from '../support/compiled-program.ts'
import { type CuttableProxy, openCuttableProxy } from '../support/cuttable-proxy.ts'
import { adminKey } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'
import { shared } from '../support/worker-process.ts'
import type { FakeClock } from './fake-clock.ts'

/** A server or worker process of Cuewire, started as in production, with proxies of its own to the stores. */
export interface CuewireProcess extends AsyncDisposable {
  readonly name: string
  readonly role: 'server' | 'workers'
  /** Only for servers. */
  readonly baseUrl: string
  readonly proxies: { readonly postgres: CuttableProxy; readonly redis: CuttableProxy }
  readonly clock: FakeClock
  /**
   * Starts the process, which is restarted if it exits because a store is down. Resolves when it is ready.
   */
  readonly start: () => Promise<void>
  /** SIGKILL. Resolves when the process has exited. */
  readonly kill: () => Promise<void>
  /** SIGTERM. Resolves when the process has exited. Throws if that takes too long. */
  readonly stop: () => Promise<void>
  /** Suspends the process. Returns a function that resumes it. */
  readonly pause: () => () => void
  readonly isReady: () => boolean
}

export interface ProcessOptions {
  readonly name: string
  readonly role: 'server' | 'workers'
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly dataDir: string
  readonly clock: FakeClock
  /** The folder of another release. */
  readonly release?: string
  /** Called when the process exits by itself. `wasReady` is false during its start. */
  readonly onUnexpectedExit: (output: string, wasReady: boolean) => void
}

/** The base URL in the responses of all servers. */
export const publicUrl = 'http://radio.test'

const startMs = 40_000
const stopMs = 12_000
const restartDelayMs = 400
const outputKept = 3_000

/** Prepares a process and its proxies without starting it. */
export async function openCuewireProcess(options: ProcessOptions): Promise<CuewireProcess> {
  const { name, role, clock } = options
  const proxies = {
    postgres: await openCuttableProxy(options.databaseUrl),
    redis: await openCuttableProxy(options.redisUrl)
  }
  const port = await findFreePort()
  const env = {
    ...shared,
    PATH: process.env['PATH'],
    DATABASE_URL: proxies.postgres.url,
    REDIS_URL: proxies.redis.url,
    DATA_DIR: options.dataDir,
    BASE_URL: publicUrl,
    PORT: String(port),
    ADMIN_API_KEY: adminKey,
    TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'error',
    UV_THREADPOOL_SIZE: '16',
    ...clock.variables
  }
  const program = role === 'server' ? 'src/server.ts' : 'workers/main.ts'
  let child: ChildProcess | null = null
  let isReady = false
  let isWanted = false
  let timer: NodeJS.Timeout | null = null

  const spawnProcess = () => {
    let output = ''
    const spawned = spawn(process.execPath, wordsFor(program, options.release), {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc']
    })
    child = spawned
    isReady = false
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-outputKept)
    }
    spawned.stdout?.on('data', keep)
    spawned.stderr?.on('data', keep)
    spawned.once('message', () => (isReady = true))
    spawned.once('close', (code, signal) => {
      if (child !== spawned) return
      const wasReady = isReady
      isReady = false
      if (!isWanted) return
      options.onUnexpectedExit(`${name} ended by itself (${signal ?? code}): ${output}`, wasReady)
      timer = setTimeout(spawnProcess, restartDelayMs)
    })
  }

  const end = async (signal: NodeJS.Signals) => {
    isWanted = false
    isReady = false
    if (timer !== null) clearTimeout(timer)
    const ending = child
    child = null
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return
    const ended = once(ending, 'exit', { signal: AbortSignal.timeout(stopMs) })
    ending.kill(signal)
    await ended.catch((error: unknown) => {
      ending.kill('SIGKILL')
      throw new Error(`${name} did not end within ${stopMs} ms of ${signal}`, { cause: error })
    })
  }

  return {
    name,
    role,
    baseUrl: `http://127.0.0.1:${port}`,
    proxies,
    clock,
    isReady: () => isReady,
    start: async () => {
      if (isWanted) return
      isWanted = true
      spawnProcess()
      await waitFor(() => isReady, { deadlineMs: startMs, what: `${name} to be ready` })
    },
    kill: async () => end('SIGKILL'),
    stop: async () => end('SIGTERM'),
    pause: () => {
      const paused = child
      paused?.kill('SIGSTOP')
      return () => void paused?.kill('SIGCONT')
    },
    [Symbol.asyncDispose]: async () => {
      await end('SIGKILL').catch(() => {})
      for (const proxy of Object.values(proxies)) await proxy[Symbol.asyncDispose]()
    }
  }
}
