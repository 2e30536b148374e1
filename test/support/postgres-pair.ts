import { appendFile, chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import postgres from 'postgres'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { startGuardedProcess } from '../../src/stores/embedded/guarded-process.ts'
import { chooseOsAccount } from '../../src/stores/embedded/postgres-account.ts'
import { findPostgresBinaries } from '../../src/stores/embedded/postgres-cluster.ts'
import { startPostgres } from '../../src/stores/embedded/postgres.ts'
import { copyCluster } from './cluster.ts'
import { copyFolder, openStoreFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

/** A primary and its synchronous standby. */
export interface PostgresPair extends AsyncDisposable {
  /** Names both servers, the primary first. */
  readonly url: string
  readonly primaryUrl: string
  readonly standbyUrl: string
  /** Ends the primary at once, as a lost machine does. */
  readonly kill: () => void
  /** Makes the standby the primary. */
  readonly promote: () => Promise<void>
}

/**
 * Starts a Postgres of its own with further settings, which are lines of its configuration. A standby needs as many
 * connections as the cluster was created with.
 */
export async function startConfiguredPostgres(folder: string, port: number, settings: readonly string[]) {
  const data = join(folder, 'data')
  await appendFile(join(data, 'postgresql.auto.conf'), settings.map(line => `${line}\n`).join(''))
  const { postgres: program } = await findPostgresBinaries()
  const account = await chooseOsAccount(folder, program)
  const options = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200'
  ]
  const command = [...account.prefix, program, '-D', data, ...options.flatMap(option => ['-c', option])]
  return startGuardedProcess(command, { stopSignal: 'INT', cwd: folder, ...account.ids })
}

/** Creates a stopped cluster with the database of the program. Returns the URL that it has on a port. */
export async function createCluster(folder: string, port: number): Promise<string> {
  await copyCluster(folder)
  const service = await startPostgres(folder, { port })
  await service.stop()
  return service.url
}

/** Waits until a server takes queries. */
export async function waitUntilResponding(url: string): Promise<void> {
  await waitFor(
    async () => {
      const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} })
      try {
        return (await sql`select 1`).length > 0
      } finally {
        await sql.end({ timeout: 1 })
      }
    },
    { deadlineMs: 20_000, what: 'Postgres' }
  )
}

/** Starts a pair in which a commit is acknowledged once the standby has it. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await openStoreFolder()
  const [one, two] = [join(folder.path, 'one'), join(folder.path, 'two')]
  const [onePort, twoPort] = [await findFreePort(), await findFreePort()]
  const primaryUrl = await createCluster(one, onePort)
  // A copy of a stopped cluster is a base backup.
  await copyFolder(one, two)
  const { username, password } = new URL(primaryUrl)
  const signal = join(two, 'data', 'standby.signal')
  await writeFile(signal, '')
  const { uid, gid } = await stat(join(two, 'data'))
  await chown(signal, uid, gid)
  const primary = await startConfiguredPostgres(one, onePort, [
    "synchronous_standby_names = '*'",
    'wal_keep_size = 256'
  ])
  const source = `host=127.0.0.1 port=${onePort} user=${username} password=${password}`
  const standby = await startConfiguredPostgres(two, twoPort, [`primary_conninfo = '${source}'`])
  const standbyUrl = primaryUrl.replace(`:${onePort}/`, `:${twoPort}/`)
  const admin = postgres(primaryUrl, { max: 1, connect_timeout: 2, onnotice: () => {} })
  await waitFor(
    async () => {
      if (standby.hasExited()) throw new Error(`the standby has ended: ${standby.lastOutput()}`)
      return (await admin`select from pg_stat_replication where sync_state = 'sync'`).length > 0
    },
    { deadlineMs: 30_000, what: 'the replication' }
  )
  await admin.end()
  return {
    url: primaryUrl.replace(`:${onePort}/`, `:${onePort},127.0.0.1:${twoPort}/`),
    primaryUrl,
    standbyUrl,
    kill: () => process.kill(primary.pid, 'SIGKILL'),
    promote: async () => {
      const sql = postgres(standbyUrl, { max: 1, onnotice: () => {} })
      await sql`select pg_promote()`
      await sql.end()
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled([primary.stop(), standby.stop()])
      await folder[Symbol.asyncDispose]()
    }
  }
}
