import { join } from 'node:path'

import postgres from 'postgres'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { type GuardedProcess, startGuardedProcess } from '../../src/stores/embedded/guarded-process.ts'
import { chooseOsAccount } from '../../src/stores/embedded/postgres-account.ts'
import { findPostgresBinaries } from '../../src/stores/embedded/postgres-cluster.ts'
import { startPostgres } from '../../src/stores/embedded/postgres.ts'
import { descendantsOf } from '../support/child-process.ts'
import { waitFor } from '../support/wait.ts'
import type { FakeClock } from './fake-clock.ts'

/** A Postgres that can be killed, paused, and run with another clock. */
export interface PostgresStore extends AsyncDisposable {
  readonly url: string
  readonly clock: FakeClock
  /** SIGKILL. Resolves when it has exited. */
  readonly kill: () => Promise<void>
  /** Starts it unless it runs. Resolves when it answers queries. */
  readonly start: () => Promise<void>
  readonly hasExited: () => boolean
  /** Suspends all its processes. Returns a function that resumes them. */
  readonly pause: () => Promise<() => void>
  readonly lastOutput: () => string
}

const startMs = 30_000

/** Creates a database cluster in a folder and starts it with its own clock. */
export async function openPostgresStore(folder: string, clock: FakeClock): Promise<PostgresStore> {
  const made = await startPostgres(folder, { durable: false })
  await made.stop()
  const binaries = await findPostgresBinaries()
  const account = await chooseOsAccount(folder, binaries.postgres)
  const port = await findFreePort()
  const url = new URL(made.url)
  url.port = String(port)
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    shared_buffers: '64MB',
    max_connections: '200',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Only processes are killed, never the machine, so writes are kept without fsync.
    fsync: 'off',
    // The data is on a small disk.
    max_wal_size: '96MB',
    min_wal_size: '32MB',
    wal_recycle: 'off'
  }
  const command = [
    ...account.prefix,
    'env',
    ...Object.entries(clock.variables).map(([name, value]) => `${name}=${value}`),
    binaries.postgres,
    '-D',
    join(folder, 'data'),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  ]
  let guarded: GuardedProcess | null = null

  const start = async () => {
    if (guarded !== null && !guarded.hasExited()) return
    await waitFor(
      async () => {
        if (guarded === null || guarded.hasExited())
          guarded = await startGuardedProcess(command, { stopSignal: 'INT', cwd: folder, ...account.ids })
        return isResponding(url.href)
      },
      { deadlineMs: startMs, what: 'Postgres to answer' }
    ).catch((error: unknown) => {
      throw new Error(`Postgres does not start: ${guarded?.lastOutput() ?? ''}`, { cause: error })
    })
  }
  await start()

  return {
    url: url.href,
    clock,
    start,
    hasExited: () => guarded?.hasExited() ?? true,
    kill: async () => {
      if (guarded === null || guarded.hasExited()) return
      process.kill(guarded.pid, 'SIGKILL')
      await guarded.exited
    },
    pause: async () => {
      const pids = guarded === null ? [] : await processesBelow(guarded.pid)
      for (const pid of pids) signal(pid, 'SIGSTOP')
      return () => {
        for (const pid of pids) signal(pid, 'SIGCONT')
      }
    },
    lastOutput: () => guarded?.lastOutput() ?? '',
    [Symbol.asyncDispose]: async () => guarded?.stop()
  }
}

async function isResponding(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} })
  try {
    await sql`select 1`
    return true
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function processesBelow(pid: number): Promise<number[]> {
  return [pid, ...(await descendantsOf(pid)).map(row => row.pid)]
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has exited meanwhile.
  }
}
