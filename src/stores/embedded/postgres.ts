import { chmod, mkdir, readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import postgres from 'postgres'

import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import {
  type EmbeddedService,
  type EmbeddedServiceOptions,
  startEmbeddedService
} from './embedded-service.ts'
import { type GuardedProcess, startGuardedProcess } from './guarded-process.ts'
import { chooseOsAccount } from './postgres-account.ts'
import {
  assertSameMajor,
  ensurePostgresCluster,
  findPostgresBinaries,
  postgresRole
} from './postgres-cluster.ts'
import { stopLeftoverProcess } from './process-identity.ts'

const database = 'cuewire'

/**
 * Starts the Postgres in `folder/data`, creating the cluster and the database `cuewire` if needed. The caller
 * makes sure that no other process does so at the same time. Stops a leftover of an earlier start. `durable:
 * false` is for data that may be lost. Throws an `OperatorError` if it is not ready within 30 seconds.
 */
export async function startPostgres(
  folder: string,
  options: EmbeddedServiceOptions & { durable?: boolean } = {}
): Promise<EmbeddedService> {
  const { port: givenPort, durable = true, signal } = options
  const binaries = await findPostgresBinaries()
  await mkdir(folder, { recursive: true })
  // The user that runs Postgres must be able to enter, whatever the umask is. The data inside is private.
  await chmod(folder, 0o755).catch(() => {})
  const home = await realpath(folder)
  await assertSameMajor(home, binaries.major)
  const data = join(home, 'data')
  let password = ''
  const serverUrl = (port: number) => `postgres://${postgresRole}:${password}@127.0.0.1:${port}`
  const service = await startEmbeddedService(givenPort, {
    name: 'Postgres',
    folder: home,
    urlOf: port => `${serverUrl(port)}/${database}`,
    stopLeftoverProcess: () =>
      stopLeftoverProcess(join(data, 'postmaster.pid'), 'SIGINT', command => {
        const [program = ''] = command.split(' -D ')
        return basename(program) === 'postgres' && command.includes(` -D ${data} `)
      }),
    prepare: async () => {
      const account = await chooseOsAccount(home, binaries.postgres)
      password = await ensurePostgresCluster(home, binaries.initdb, account, { durable, signal })
      return port =>
        startGuardedProcess(
          [...account.prefix, binaries.postgres, '-D', data, ...renderSettings(port, durable)],
          {
            stopSignal: 'INT',
            cwd: home,
            signal,
            ...account.ids
          }
        )
    },
    waitUntilReady: (guarded, _port, timeoutMs) => waitUntilReady(data, guarded, timeoutMs)
  })
  try {
    await ensureDatabase(serverUrl(service.port))
    return service
  } catch (error) {
    await service.stop()
    const problem = `the embedded Postgres in ${home} cannot be used: ${describeError(error)}`
    throw new OperatorError(problem, { cause: error })
  }
}

function renderSettings(port: number, durable: boolean): string[] {
  const notDurable = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off']
  return [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'shared_buffers=128MB',
    'max_connections=200',
    'jit=off',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : notDurable)
  ].flatMap(setting => ['-c', setting])
}

/** Like `pg_ctl`: the eighth line of the pid file says when connections are accepted. */
async function waitUntilReady(data: string, guarded: GuardedProcess, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (!guarded.hasExited() && Date.now() < deadline) {
    const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
    const lines = text.split('\n').map(line => line.trim())
    if (lines[0] === String(guarded.pid) && lines[7] === 'ready') return true
    await sleep(20)
  }
  return false
}

async function ensureDatabase(server: string): Promise<void> {
  const sql = postgres(`${server}/postgres`, { max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    const found = await sql`select 1 from pg_database where datname = ${database}`
    if (found.length === 0) await sql`create database ${sql(database)}`
  } finally {
    await sql.end({ timeout: 5 })
  }
}
