import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

import { findFreePort } from '../../../src/platform/process/ports.ts'
import { mariadbd } from '../foreign-programs.ts'
import { openStoreFolder } from '../temp-folder.ts'
import { waitFor } from '../wait.ts'

const run = promisify(execFile)

/** A MariaDB with the database `azuracast`. */
export interface RunningMariadb extends AsyncDisposable {
  readonly url: string
  /** Executes a dump. */
  readonly load: (dump: Iterable<string>) => Promise<void>
  /** What `mariadb-dump` writes, with the options of AzuraCast's backups. */
  readonly dump: () => Promise<string>
}

export async function startMariadb(): Promise<RunningMariadb> {
  const folder = await openStoreFolder()
  const data = `${folder.path}/data`
  const socket = `${folder.path}/socket`
  const port = await findFreePort()
  const account = process.getuid?.() === 0 ? ['--user=root'] : []
  await run('mariadb-install-db', [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    ...account
  ])
  const server = spawn(
    mariadbd,
    [
      '--no-defaults',
      ...account,
      `--datadir=${data}`,
      `--socket=${socket}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1'
    ],
    { stdio: 'ignore' }
  )
  const client = (...args: string[]) => ['--no-defaults', `--socket=${socket}`, '--user=root', ...args]
  const execute = (statement: string) => run('mariadb', client('--execute', statement))
  await waitFor(() => execute('select 1').then(() => true), { deadlineMs: 30_000, what: 'MariaDB' })
  await execute(
    "create database azuracast character set utf8mb4; create user azuracast@localhost identified by 'p@ss'; " +
      'grant select on azuracast.* to azuracast@localhost'
  )
  return {
    url: `mysql://azuracast:p%40ss@127.0.0.1:${port}/azuracast`,
    async load(dump) {
      const child = spawn('mariadb', client('--default-character-set=utf8mb4', 'azuracast'), {
        stdio: ['pipe', 'ignore', 'inherit']
      })
      const exited = once(child, 'exit')
      await pipeline(Readable.from(dump), child.stdin)
      const [code] = await exited
      if (code !== 0) throw new Error('the dump was not loaded')
    },
    async dump() {
      const options = ['--add-drop-table', '--default-character-set=UTF8MB4', 'azuracast']
      const { stdout } = await run('mariadb-dump', client(...options), { maxBuffer: 1_000_000_000 })
      return stdout
    },
    async [Symbol.asyncDispose]() {
      const exited = once(server, 'exit')
      server.kill()
      await exited
      await folder[Symbol.asyncDispose]()
    }
  }
}
