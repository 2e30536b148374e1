import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type PeerProcess, startPeer } from './process.ts'

/** Temporary folders that nginx would otherwise create in system folders. */
const temporaryFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/**
 * Starts nginx with one worker process in a temporary folder. `server` returns the lines of the server block;
 * `head` has the lines before all blocks.
 */
export async function startNginx(
  nginx: string,
  port: number,
  options: {
    readonly head?: readonly string[]
    readonly server: (folder: string) => readonly string[]
    readonly files?: Readonly<Record<string, string>>
  }
): Promise<PeerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-nginx-'))
  const www = join(folder, 'www')
  await mkdir(www)
  for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(join(www, name), text)
  const isRoot = process.getuid?.() === 0
  const configuration = [
    ...(options.head ?? []),
    ...(isRoot ? ['user root;'] : []),
    'worker_processes 1;',
    'worker_rlimit_nofile 20000;',
    'error_log stderr crit;',
    `pid ${join(folder, 'pid')};`,
    'events { worker_connections 16384; }',
    'http {',
    ...temporaryFolders.map(name => `${name}_temp_path ${join(folder, name)};`),
    'access_log off; etag off;',
    'sendfile on; tcp_nopush on; tcp_nodelay on;',
    'keepalive_requests 1000000000; keepalive_timeout 65s;',
    'open_file_cache max=100 inactive=1h; open_file_cache_valid 1h; open_file_cache_min_uses 1;',
    `server { listen 127.0.0.1:${port} backlog=4096;`,
    ...options.server(www),
    '} }',
    ''
  ].join('\n')
  const file = join(folder, 'nginx.conf')
  await writeFile(file, configuration)
  const nginxCommand = [nginx, '-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off;']
  const peer = await startPeer(nginxCommand, port)
  return {
    pid: peer.pid,
    stop: async () => {
      await peer.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Quotes a string for the configuration of nginx. Removes `$`, which cannot be escaped. */
export function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('$', '')}"`
}
