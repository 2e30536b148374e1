import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { builtFile } from '../src/runtime/program-files.ts'
import { endWithUs } from './children.ts'
import { pidOf } from './cpu.ts'
import { pinned } from './pin.ts'

export interface Program {
  readonly pid: number
  readonly baseUrl: string
  readonly databaseUrl: string
  readonly redisUrl: string
  /** The process that answers HTTP and WebSockets; another one after it was killed. */
  serverPid(): number
  /**
   * Starts one more server on the same stores, on one core, as another machine would; it ends before the
   * program.
   */
  addServer(port: number, core: number): Promise<{ readonly baseUrl: string }>
  stop(): Promise<void>
}

const startMs = 60_000

/** Every client of a bench has the same few addresses. */
const limits = { LIVE_MAX_CONNECTIONS: '100000', LIVE_MAX_CONNECTIONS_PER_ADDRESS: '100000' }

export interface ProgramOptions {
  /** The one core that the program and everything it starts keep to. */
  readonly core?: number
  readonly env?: Readonly<Record<string, string>>
}

/** Starts the whole program, embedded services included, on an empty folder, and waits until it answers. */
export async function startProgram(port: number, { core, env = {} }: ProgramOptions = {}): Promise<Program> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cuewire-bench-'))
  const words = wordsFor('src/main.js')
  const [command, ...args] = core === undefined ? words : pinned(core, words)
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
  endWithUs(child)
  const baseUrl = `http://127.0.0.1:${port}`
  await untilAnswering(child, `${baseUrl}/api/status`)
  const services: Services = JSON.parse(await readFile(join(dataDir, 'services.json'), 'utf8'))
  const others: ChildProcess[] = []
  return {
    pid: child.pid ?? 0,
    baseUrl,
    databaseUrl: services.databaseUrl,
    redisUrl: services.redisUrl,
    serverPid: () => pidOf(child.pid ?? 0, 'server'),
    addServer: async (otherPort, otherCore) => {
      const [otherCommand, ...otherArgs] = pinned(otherCore, wordsFor('src/server.js'))
      const other = spawn(otherCommand, otherArgs, {
        env: {
          ...process.env,
          ...limits,
          DATA_DIR: dataDir,
          DATABASE_URL: services.databaseUrl,
          REDIS_URL: services.redisUrl,
          PORT: String(otherPort),
          LOG_LEVEL: 'warn',
          ...env
        },
        stdio: ['ignore', 'inherit', 'inherit']
      })
      endWithUs(other)
      others.push(other)
      const otherUrl = `http://127.0.0.1:${otherPort}`
      await untilAnswering(other, `${otherUrl}/api/status`)
      return { baseUrl: otherUrl }
    },
    stop: async () => {
      for (const each of [...others, child]) await end(each)
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}

/** The command line that runs a program of the build, like `src/server.js`. */
export function wordsFor(file: string): [string, ...string[]] {
  return [process.execPath, '--enable-source-maps', fileURLToPath(builtFile(file))]
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(done => child.once('exit', done))
  child.kill('SIGTERM')
  await ended
}

interface Services {
  readonly databaseUrl: string
  readonly redisUrl: string
}

async function untilAnswering(child: ChildProcess, url: string): Promise<void> {
  for (const deadline = Date.now() + startMs; Date.now() < deadline; await wait(100)) {
    if (child.exitCode !== null) throw new Error(`the program ended with code ${child.exitCode}`)
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => null)
    if (answer?.ok) return
  }
  throw new Error(`the program did not answer within ${startMs} ms`)
}
