import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'

import { OperatorError } from '../runtime/errors.ts'
import { assertPortIsFree, freePort } from './free-port.ts'
import { stopLeftover } from './process-identity.ts'
import { findRedis } from './redis-program.ts'
import {
  type EmbeddedService,
  type Guarded,
  inOneLine,
  type ServiceOptions,
  startGuarded
} from './supervise.ts'

// Reading a large append-only file takes a while.
const readyMs = 30_000
const attempts = 5

/**
 * Starts a Redis (or Valkey) whose append-only file is in `folder`, with a random password kept beside it.
 * The caller sees to it that nobody else starts one in the same folder meanwhile; one that an earlier process
 * left running is stopped first. Listens on 127.0.0.1 only. Throws an `OperatorError` when it does not answer
 * within 30 seconds.
 */
export async function startRedis(folder: string, options: ServiceOptions = {}): Promise<EmbeddedService> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o700)
  const home = await realpath(folder)
  const { command } = await findRedis(home, options.signal)
  const configFile = join(home, 'redis.conf')
  await clearTheWay(home, configFile)
  if (options.port !== undefined) await assertPortIsFree(options.port, 'Redis')

  const password = await ensurePassword(join(home, 'password'))
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort())
    await writePrivately(configFile, configOf(home, port, password))
    const guarded = await startGuarded([...command, configFile], {
      stopSignal: 'TERM',
      cwd: home,
      signal: options.signal
    })
    const url = `redis://default:${password}@127.0.0.1:${port}`
    if (await becomesReady(url, guarded)) {
      return {
        url,
        port,
        pid: guarded.pid,
        exited: guarded.exited.then(() => {}),
        lastOutput: guarded.lastOutput,
        stop: guarded.stop,
        [Symbol.asyncDispose]: guarded.stop
      }
    }
    const ended = guarded.hasExited()
    await guarded.stop()
    const output = guarded.lastOutput()
    // A port found free may be taken by now.
    if (ended && output.includes('Address already in use') && attempt < attempts) continue
    const what = ended ? 'ended' : `was not ready after ${readyMs / 1000} seconds`
    throw new OperatorError(`the embedded Redis in ${home} ${what}: ${inOneLine(output)}`)
  }
}

/** The configuration file; JSON strings are quoted the way Redis reads them. */
export function configOf(folder: string, port: number, password: string): string {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    'protected-mode yes',
    `requirepass ${password}`,
    `dir ${JSON.stringify(folder)}`,
    `pidfile ${JSON.stringify(join(folder, 'redis.pid'))}`,
    'daemonize no',
    // The command line keeps the path of this file: by that a leftover is recognised.
    'set-proc-title no',
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    // An evicted key is a lost job.
    'maxmemory-policy noeviction'
  ]
  return `${lines.join('\n')}\n`
}

/**
 * False when it ended, or is not ready at the deadline. The client itself waits while Redis loads its data.
 */
async function becomesReady(url: string, guarded: Guarded): Promise<boolean> {
  const client = new Redis(url, {
    connectTimeout: 2_000,
    maxRetriesPerRequest: null,
    retryStrategy: () => 20
  })
  // Refused connections are what is expected until it is ready.
  client.on('error', () => {})
  try {
    return await Promise.race([
      client.ping().then(
        () => true,
        () => false
      ),
      guarded.exited.then(() => false),
      sleep(readyMs, false, { ref: false })
    ])
  } finally {
    client.disconnect()
  }
}

/** Stops what still runs with our configuration file. */
async function clearTheWay(home: string, configFile: string): Promise<void> {
  const pidFile = join(home, 'redis.pid')
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).trim())
  if (!Number.isInteger(pid) || pid <= 0) return
  await stopLeftover(pid, 'SIGTERM', command => command.endsWith(configFile))
  await rm(pidFile, { force: true })
}

/** The same from start to start, so that a Redis that is started again is found by those who knew it. */
async function ensurePassword(file: string): Promise<string> {
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (/^[0-9a-f]{48}$/.test(kept)) return kept
  const password = randomBytes(24).toString('hex')
  await writePrivately(file, `${password}\n`)
  return password
}

async function writePrivately(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
