import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

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
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const words: [string, ...string[]] = [process.execPath, '--import', 'tsx', main]
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
  return {
    pid: child.pid ?? 0,
    baseUrl,
    databaseUrl: services.databaseUrl,
    redisUrl: services.redisUrl,
    serverPid: () => pidOf(child.pid ?? 0, 'server'),
    stop: async () => {
      const ended = new Promise(done => child.once('exit', done))
      child.kill('SIGTERM')
      await ended
      await rm(dataDir, { recursive: true, force: true })
    }
  }
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
