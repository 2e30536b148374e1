import { chmod, mkdir, readFile, realpath, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import postgres from 'postgres'

import { OperatorError } from '../runtime/errors.ts'
import { assertPortIsFree, freePort } from './free-port.ts'
import { chooseAccount } from './postgres-account.ts'
import { ensureCluster, findPostgresBinaries, role } from './postgres-cluster.ts'
import { stopLeftover } from './process-identity.ts'
import {
  type EmbeddedService,
  type Guarded,
  inOneLine,
  type ServiceOptions,
  startGuarded
} from './supervise.ts'

const database = 'cuewire'
// Long enough to recover from a crash in the middle of heavy writing.
const readyMs = 30_000

/**
 * Starts the Postgres whose data is in `folder/data`, making it first where it is not there, with the
 * database `cuewire`. The caller sees to it that nobody else starts one in the same folder meanwhile; one
 * that an earlier process left running is stopped first. Listens on 127.0.0.1 only. `durable: false` is for
 * data nobody keeps. Throws an `OperatorError` when it does not accept connections within 30 seconds.
 */
export async function startPostgres(
  folder: string,
  options: ServiceOptions & { durable?: boolean } = {}
): Promise<EmbeddedService> {
  const { port: givenPort, durable = true, signal } = options
  const binaries = await findPostgresBinaries()
  await mkdir(folder, { recursive: true })
  // The user Postgres runs as must get through, whatever the umask was; the data inside is closed to others.
  await chmod(folder, 0o755).catch(() => {})
  const home = await realpath(folder)
  const data = join(home, 'data')
  await clearTheWay(data)
  if (givenPort !== undefined) await assertPortIsFree(givenPort, 'Postgres')
  const account = await chooseAccount(home, binaries.postgres)
  const password = await ensureCluster(home, binaries.initdb, account, { durable, signal })

  const { guarded, port } = await startUntilReady(data, givenPort, async chosenPort =>
    startGuarded([...account.prefix, binaries.postgres, '-D', data, ...settings(chosenPort, durable)], {
      stopSignal: 'INT',
      cwd: home,
      signal,
      ...account.ids
    })
  )
  const server = `postgres://${role}:${password}@127.0.0.1:${port}`
  try {
    await ensureDatabase(server)
  } catch (error) {
    await guarded.stop()
    const why = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`the embedded Postgres in ${home} cannot be used: ${why}`, { cause: error })
  }
  return {
    url: `${server}/${database}`,
    port,
    pid: guarded.pid,
    exited: guarded.exited.then(() => {}),
    lastOutput: guarded.lastOutput,
    stop: guarded.stop,
    [Symbol.asyncDispose]: guarded.stop
  }
}

function settings(port: number, durable: boolean): string[] {
  const fast = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off']
  return [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'shared_buffers=128MB',
    'max_connections=200',
    'jit=off',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : fast)
  ].flatMap(setting => ['-c', setting])
}

async function startUntilReady(
  data: string,
  givenPort: number | undefined,
  start: (port: number) => Promise<Guarded>
): Promise<{ guarded: Guarded; port: number }> {
  const deadline = Date.now() + readyMs
  for (;;) {
    const port = givenPort ?? (await freePort())
    const guarded = await start(port)
    while (!guarded.hasExited() && Date.now() < deadline) {
      if (await isReady(data, guarded.pid)) return { guarded, port }
      await sleep(20)
    }
    const ended = guarded.hasExited()
    await guarded.stop()
    const output = guarded.lastOutput()
    // The processes of a killed Postgres need a moment to notice; a port found free may be taken by now.
    const mayPass = output.includes('shared memory block') || output.includes('Address already in use')
    if (ended && mayPass && Date.now() < deadline) {
      await sleep(100)
      continue
    }
    const what = ended ? 'ended' : `was not ready after ${readyMs / 1000} seconds`
    throw new OperatorError(`the embedded Postgres in ${data} ${what}: ${inOneLine(output)}`)
  }
}

/** What `pg_ctl` does as well: the eighth line of the pid file says when connections are accepted. */
async function isReady(data: string, pid: number): Promise<boolean> {
  const lines = await pidFile(data)
  return lines[0] === String(pid) && lines[7] === 'ready'
}

async function pidFile(data: string): Promise<string[]> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  return text.split('\n').map(line => line.trim())
}

/** Stops what still runs on this data, and removes the pid file of what does not. */
async function clearTheWay(data: string): Promise<void> {
  const pid = Number((await pidFile(data))[0])
  if (!Number.isInteger(pid) || pid <= 0) return
  await stopLeftover(pid, 'SIGINT', command => {
    const [program = ''] = command.split(' -D ')
    return basename(program) === 'postgres' && command.includes(` -D ${data} `)
  })
  // Postgres trusts any living process of that number; after a restart of a container it may be ourselves.
  await rm(join(data, 'postmaster.pid'), { force: true })
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
