import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { nginx } from './foreign-programs.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

/** A web server with the playlists of `/hls/` that writes an access log in the combined format. */
export interface HlsServer extends AsyncDisposable {
  readonly log: string
  /** Requests a playlist as a listener with this user agent. */
  readonly get: (path: string, agent: string) => Promise<unknown>
  /** Renames the log and starts a new one, as logrotate does. */
  readonly rotate: () => Promise<void>
}

/** Starts nginx with these playlists. */
export async function startNginx(playlists: readonly string[]): Promise<HlsServer> {
  const folder = await openTempFolder(0o777)
  const port = await findFreePort()
  const log = join(folder.path, 'access.log')
  for (const playlist of playlists) {
    const file = join(folder.path, playlist)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '#EXTM3U\n')
  }
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${join(folder.path, name)};`
  )
  await writeFile(
    join(folder.path, 'nginx.conf'),
    `daemon off;
    master_process off;
    pid ${join(folder.path, 'pid')};
    error_log ${join(folder.path, 'error.log')};
    events {}
    http {
      access_log ${log};
      ${paths.join('\n')}
      server { listen 127.0.0.1:${port}; root ${folder.path}; }
    }`
  )
  const child = spawn(nginx, ['-c', join(folder.path, 'nginx.conf'), '-p', folder.path], {
    stdio: ['ignore', 'inherit', 'inherit']
  })
  const get = async (path: string, agent: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'User-Agent': agent } })).arrayBuffer()
  await waitFor(async () => (await get('/', 'probe')) !== null, { deadlineMs: 5_000, what: 'nginx' })
  return {
    log,
    get,
    rotate: async () => {
      await rename(log, `${log}.1`)
      child.kill('SIGUSR1')
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
      await folder[Symbol.asyncDispose]()
    }
  }
}

/** `22/Nov/2026:04:13:00 +0000` */
function logTime(at: Date): string {
  const [, day, month, year, clock] = at.toUTCString().split(' ')
  return `${day}/${month}/${year}:${clock} +0000`
}

/** A replacement without nginx: this process writes the log. */
export async function writeLogOnly(): Promise<HlsServer> {
  const folder = await openTempFolder()
  const log = join(folder.path, 'access.log')
  await writeFile(log, '')
  return {
    log,
    get: (path, agent) =>
      appendFile(log, `127.0.0.1 - - [${logTime(new Date())}] "GET ${path} HTTP/1.1" 200 8 "-" "${agent}"\n`),
    rotate: async () => {
      await rename(log, `${log}.1`)
    },
    [Symbol.asyncDispose]: async () => folder[Symbol.asyncDispose]()
  }
}
