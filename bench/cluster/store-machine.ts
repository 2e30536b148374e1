import { mkdir } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

import { findOrDownloadRedis } from '../../src/stores/embedded/find-redis.ts'
import { startGuardedProcess } from '../../src/stores/embedded/guarded-process.ts'
import { startPostgres } from '../../src/stores/embedded/postgres.ts'
import { latencyMs, postgresPort, redisPassword, redisPort } from './ports.ts'

/**
 * A machine with a store: `store-machine.ts postgres|redis ADDRESS FOLDER`. The store listens on 127.0.0.1; what
 * other machines send it and get from it arrives 1 ms later each way. Prints the password of Postgres when it is
 * ready.
 */
const [kind = '', address = '', folder = ''] = process.argv.slice(2)
if (kind === 'postgres') {
  const { url } = await startPostgres(folder, { port: postgresPort })
  await relay(postgresPort)
  console.log(new URL(url).password)
} else {
  const { command } = await findOrDownloadRedis(folder)
  const data = join(folder, address)
  await mkdir(data, { recursive: true })
  const settings = {
    bind: '127.0.0.1',
    port: redisPort,
    dir: data,
    requirepass: redisPassword,
    masterauth: redisPassword,
    appendonly: 'no',
    save: '',
    'maxmemory-policy': 'noeviction',
    'cluster-enabled': 'yes',
    'cluster-node-timeout': 2_000,
    'cluster-announce-ip': address,
    'cluster-require-full-coverage': 'no'
  }
  await startGuardedProcess(
    [...command, ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])],
    {
      stopSignal: 'TERM',
      cwd: data
    }
  )
  await relay(redisPort)
  await relay(redisPort + 10_000)
  console.log('')
}

/** Accepts connections at the address of the machine, and delays what passes through them. */
async function relay(port: number): Promise<void> {
  const server = createServer({ noDelay: true }, client => {
    const store = connect({ port, host: '127.0.0.1', noDelay: true })
    pass(client, store)
    pass(store, client)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, address, resolve)
  })
}

function pass(from: Socket, to: Socket): void {
  from.on('data', chunk => {
    setTimeout(() => {
      if (!to.destroyed && !to.write(chunk)) from.pause()
    }, latencyMs)
  })
  to.on('drain', () => from.resume())
  from.on('error', () => from.destroy())
  from.on('close', () => setTimeout(() => to.destroy(), latencyMs))
}
