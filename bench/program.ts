import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { builtFileUrl } from '../src/platform/process/program-files.ts'
import { killOnExit } from './children.ts'
import { findPid } from './cpu.ts'
import { pinCommand } from './pin.ts'

export interface Program {
  readonly pid: number
  readonly baseUrl: string
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly dataDir: string
  /** Finds the server process; its id changes when it is restarted. */
  serverPid(): number
  /** Starts one more server with the same Postgres and Redis, pinned to a core. `stop` stops it as well. */
  addServer(port: number, core: number, options?: AddedServerOptions): Promise<AddedServer>
  stop(): Promise<void>
}

export interface AddedServer {
  readonly baseUrl: string
  readonly pid: number
  stop(): Promise<void>
}

export interface AddedServerOptions {
  readonly env?: Readonly<Record<string, string>>
  /** The folder of another version, which was built; by default this one. */
  readonly folder?: string | undefined
}

const startMs = 60_000

/** All clients of a benchmark connect from a few addresses. */
const limits = { LIVE_MAX_CONNECTIONS: '100000', LIVE_MAX_CONNECTIONS_PER_ADDRESS: '100000' }

export interface ProgramOptions {
  /** Runs the program with all its processes on this core. */
  readonly core?: number
  /** The folder of another version, which was built; by default this one. */
  readonly folder?: string | undefined
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Starts the whole program with embedded Postgres and Redis and an empty data folder. Waits until it is
 * ready.
 */
export async function startProgram(
  port: number,
  { core, folder: version, env = {} }: ProgramOptions = {}
): Promise<Program> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cuewire-bench-'))
  const unpinned = programCommand('src/main.js', version)
  const [command, ...args] = core === undefined ? unpinned : pinCommand(core, unpinned)
  const child = spawn(command, args, {
    env: {
      ...process.env,
      ...limits,
      DATA_DIR: dataDir,
      PORT: String(port),
      DEMO: 'off',
      LOG_LEVEL: 'warn',
      ...env
    },
    stdio: ['ignore', 'inherit', 'inherit']
  })
  killOnExit(child)
  const baseUrl = `http://127.0.0.1:${port}`
  await waitUntilReady(child, `${baseUrl}/api/status`)
  const services: Services = JSON.parse(await readFile(join(dataDir, 'services.json'), 'utf8'))
  const others: ChildProcess[] = []
  return {
    pid: child.pid ?? 0,
    baseUrl,
    databaseUrl: services.databaseUrl,
    redisUrl: services.redisUrl,
    dataDir,
    serverPid: () => findPid(child.pid ?? 0, 'server'),
    addServer: async (otherPort, otherCore, { env: added = {}, folder } = {}) => {
      const [otherCommand, ...otherArgs] = pinCommand(otherCore, programCommand('src/server.js', folder))
      const other = spawn(otherCommand, otherArgs, {
        env: {
          ...process.env,
          ...limits,
          DATA_DIR: dataDir,
          DATABASE_URL: services.databaseUrl,
          REDIS_URL: services.redisUrl,
          PORT: String(otherPort),
          LOG_LEVEL: 'warn',
          ...env,
          ...added
        },
        stdio: ['ignore', 'inherit', 'inherit']
      })
      killOnExit(other)
      others.push(other)
      const otherUrl = `http://127.0.0.1:${otherPort}`
      await waitUntilReady(other, `${otherUrl}/api/status`)
      return { baseUrl: otherUrl, pid: other.pid ?? 0, stop: async () => terminate(other) }
    },
    stop: async () => {
      for (const each of [...others, child]) await terminate(each)
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}

/** Returns the command line of a program of the build, such as `src/server.js`; of another version if given. */
export function programCommand(file: string, folder?: string): [string, ...string[]] {
  const path = folder === undefined ? fileURLToPath(builtFileUrl(file)) : join(folder, 'dist', file)
  return [process.execPath, '--enable-source-maps', path]
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exited
}

interface Services {
  readonly databaseUrl: string
  readonly redisUrl: string
}

export async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  for (const deadline = Date.now() + startMs; Date.now() < deadline; await wait(100)) {
    if (child.exitCode !== null) throw new Error(`the program exited with code ${child.exitCode}`)
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => null)
    if (response?.ok) return
  }
  throw new Error(`${url} did not return a 2xx status within ${startMs} ms`)
}
