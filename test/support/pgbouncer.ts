import { spawn } from 'node:child_process'
import { chmod, chown, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { pgbouncer } from './foreign-programs.ts'
import { scratchFolder } from './scratch-folder.ts'
import { waitFor } from './wait.ts'

/** PgBouncer does not run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Starts a PgBouncer in front of a database. Further settings are lines of `[pgbouncer]`. */
export async function startPgbouncer(
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>>
): Promise<{ url: string } & Disposable> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  const folder = await scratchFolder()
  const file = join(folder, 'pgbouncer.ini')
  const listenPort = await findFreePort()
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: listenPort,
    unix_socket_dir: '',
    auth_type: 'any',
    ...settings
  }
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`
  await writeFile(
    file,
    `[databases]\n* = host=${hostname} port=${port} user=${decodeURIComponent(username)}${secret}\n[pgbouncer]\n${Object.entries(
      lines
    )
      .map(([key, value]) => `${key} = ${value}\n`)
      .join('')}`
  )
  await chmod(folder, 0o755)
  if (nobody.uid !== undefined) await chown(file, nobody.uid, nobody.gid)
  const child = spawn(pgbouncer, ['-q', file], { ...nobody, stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer has ended: ${log}`)
      return canConnect(listenPort)
    },
    { deadlineMs: 10_000, what: 'PgBouncer' }
  )
  return {
    url: `postgres://${username}@127.0.0.1:${listenPort}${pathname}`,
    [Symbol.dispose]: () => void child.kill('SIGKILL')
  }
}

const canConnect = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
