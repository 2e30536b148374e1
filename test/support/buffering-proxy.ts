import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { caddy, nginx } from './foreign-programs.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

/**
 * An nginx in front of `baseUrl` that buffers responses, as by default, and compresses all that it can. It
 * must use HTTP/1.1 for the server, which answers HTTP/1.0 with 505.
 */
export async function startProxy(baseUrl: string): Promise<{ baseUrl: string } & AsyncDisposable> {
  const folder = await openTempFolder(0o777)
  const port = await findFreePort()
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
      access_log off;
      ${paths.join('\n')}
      gzip on;
      gzip_proxied any;
      gzip_min_length 1;
      gzip_types *;
      proxy_http_version 1.1;
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass ${baseUrl}; }
        location /api/live/nowplaying/websocket {
          proxy_pass ${baseUrl};
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection "upgrade";
        }
      }
    }`
  )
  const words = [nginx, '-c', join(folder.path, 'nginx.conf'), '-p', folder.path]
  return startIn(folder, port, words)
}

/** A Caddy in front of `baseUrl` that compresses, as most configurations do. */
export async function startCaddy(baseUrl: string): Promise<{ baseUrl: string } & AsyncDisposable> {
  const folder = await openTempFolder()
  const port = await findFreePort()
  const file = join(folder.path, 'Caddyfile')
  await writeFile(
    file,
    `{
      admin off
    }
    http://127.0.0.1:${port} {
      encode gzip zstd
      reverse_proxy ${new URL(baseUrl).host}
    }`
  )
  return startIn(folder, port, [caddy, 'run', '--adapter', 'caddyfile', '--config', file])
}

async function startIn(
  folder: Awaited<ReturnType<typeof openTempFolder>>,
  port: number,
  [program = '', ...words]: readonly string[]
) {
  const child = spawn(program, words, {
    stdio: ['ignore', 'inherit', 'ignore'],
    env: { ...process.env, HOME: folder.path }
  })
  const address = `http://127.0.0.1:${port}`
  await waitFor(async () => (await fetch(`${address}/api/status`)) !== null, {
    deadlineMs: 5_000,
    what: program
  })
  return {
    baseUrl: address,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
      await folder[Symbol.asyncDispose]()
    }
  }
}
