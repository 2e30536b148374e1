import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Redis } from 'ioredis'

import {
  type EmbeddedService,
  type EmbeddedServiceOptions,
  startEmbeddedService
} from './embedded-service.ts'
import { findOrDownloadRedis } from './find-redis.ts'
import { type GuardedProcess, startGuardedProcess } from './guarded-process.ts'
import { stopLeftoverProcess } from './process-identity.ts'

/**
 * Starts a Redis or Valkey with its append-only file and a random password in `folder`. The caller makes sure
 * that no other process does so at the same time. Stops a leftover of an earlier start. Throws an
 * `OperatorError` if it is not ready within 30 seconds.
 */
export async function startRedis(
  folder: string,
  { port: givenPort, signal }: EmbeddedServiceOptions = {}
): Promise<EmbeddedService> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o700)
  const home = await realpath(folder)
  const { command } = await findOrDownloadRedis(home, signal)
  const configFile = join(home, 'redis.conf')
  let password = ''
  const urlOf = (port: number) => `redis://default:${password}@127.0.0.1:${port}`
  return startEmbeddedService(givenPort, {
    name: 'Redis',
    folder: home,
    urlOf,
    stopLeftoverProcess: () =>
      stopLeftoverProcess(join(home, 'redis.pid'), 'SIGTERM', line => line.endsWith(configFile)),
    prepare: async () => {
      password = await ensurePassword(join(home, 'password'))
      return async port => {
        await writePrivateFile(configFile, renderRedisConfig(home, port, password))
        return startGuardedProcess([...command, configFile], { stopSignal: 'TERM', cwd: home, signal })
      }
    },
    waitUntilReady: (guarded, port, timeoutMs) => waitUntilReady(urlOf(port), guarded, timeoutMs)
  })
}

/** Redis reads quoted strings like JSON. */
export function renderRedisConfig(folder: string, port: number, password: string): string {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    'protected-mode yes',
    `requirepass ${password}`,
    `dir ${JSON.stringify(folder)}`,
    `pidfile ${JSON.stringify(join(folder, 'redis.pid'))}`,
    'daemonize no',
    // Keeps the path of this file in the command line, by which a leftover is recognized.
    'set-proc-title no',
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    // An evicted key is a lost job.
    'maxmemory-policy noeviction'
  ]
  return `${lines.join('\n')}\n`
}

/** The client itself waits while Redis loads its data. */
async function waitUntilReady(url: string, guarded: GuardedProcess, timeoutMs: number): Promise<boolean> {
  const client = new Redis(url, {
    connectTimeout: 2_000,
    maxRetriesPerRequest: null,
    retryStrategy: () => 20
  })
  // Connections are refused until it listens.
  client.on('error', () => {})
  try {
    return await Promise.race([
      client.ping().then(Boolean, () => false),
      guarded.exited.then(() => false),
      sleep(timeoutMs, false, { ref: false })
    ])
  } finally {
    client.disconnect()
  }
}

/** The password stays the same, so that clients reconnect to a restarted Redis. */
async function ensurePassword(file: string): Promise<string> {
  const stored = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (/^[0-9a-f]{48}$/.test(stored)) return stored
  const password = randomBytes(24).toString('hex')
  await writePrivateFile(file, `${password}\n`)
  return password
}

async function writePrivateFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
