import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { caddy, nginx } from './foreign-programs.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

/* The configurations of nginx and Caddy in `ops`, with other ports and folders and a certificate of our own. */

/** What the proxy stands in front of. */
interface ProxiedPorts {
  readonly cuewire: number
  /** A second server, for nginx. */
  readonly secondCuewire?: number
  /** The Icecast of the station `station`. */
  readonly icecast: number
  readonly station: string
}

interface Places extends ProxiedPorts {
  readonly http: number
  readonly https: number
  /** Has `cert.pem`, `key.pem` and `hls`. */
  readonly folder: string
}

/** A proxy at `https://localhost:{https}` and `http://localhost:{http}`. */
export interface ShippedProxy extends AsyncDisposable {
  readonly https: number
  readonly http: number
  /** The certificate. */
  readonly ca: string
  readonly hlsFolder: string
  readonly start: (ports: ProxiedPorts) => Promise<void>
  /** Has the program check the configuration. Rejects with its complaints. */
  readonly check: () => Promise<void>
}

export type ProxyName = keyof typeof programs

const programs = {
  nginx: {
    words: (folder: string) => [nginx, '-c', join(folder, 'nginx.conf'), '-p', folder],
    checkWords: (folder: string) => [nginx, '-t', '-q', '-c', join(folder, 'nginx.conf'), '-p', folder],
    render: renderNginx
  },
  caddy: {
    words: (folder: string) => [
      caddy,
      'run',
      '--adapter',
      'caddyfile',
      '--config',
      join(folder, 'Caddyfile')
    ],
    checkWords: (folder: string) => [
      caddy,
      'validate',
      '--adapter',
      'caddyfile',
      '--config',
      join(folder, 'Caddyfile')
    ],
    render: renderCaddy
  }
}

const someStation: ProxiedPorts = { cuewire: 8_080, icecast: 8_000, station: 'demo' }

/** Makes a certificate and chooses ports. `start` starts the proxy. */
export async function openShippedProxy(name: ProxyName): Promise<ShippedProxy> {
  // The workers of nginx are another user if it is started by root.
  const folder = await openTempFolder(0o777)
  const { words, checkWords, render } = programs[name]
  const [http, https] = [await findFreePort(), await findFreePort()]
  await makeCertificate(folder.path)
  await mkdir(join(folder.path, 'hls'))
  const env = { PATH: process.env['PATH'], HOME: folder.path }
  const write = async (ports: ProxiedPorts) => {
    for (const [file, text] of Object.entries(render({ ...ports, http, https, folder: folder.path })))
      await writeFile(join(folder.path, file), text)
  }
  let stop = async () => {}
  return {
    http,
    https,
    ca: readFileSync(join(folder.path, 'cert.pem'), 'utf8'),
    hlsFolder: join(folder.path, 'hls'),
    check: async () => {
      await write(someStation)
      const [command = '', ...args] = checkWords(folder.path)
      await promisify(execFile)(command, args, { env, timeout: 20_000 })
    },
    start: async ports => {
      await write(ports)
      const [command = '', ...args] = words(folder.path)
      const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'pipe'] })
      let log = ''
      child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4_000)))
      stop = async () => {
        const ended = once(child, 'exit')
        if (child.exitCode === null && child.kill('SIGKILL')) await ended
      }
      const responses = async () => {
        if (child.exitCode !== null) throw new Error(`${name} ended: ${log}`)
        const { status } = await fetch(`http://127.0.0.1:${http}/`, {
          headers: { Host: 'localhost' },
          redirect: 'manual'
        })
        return status > 0
      }
      await waitFor(responses, { deadlineMs: 10_000, what: name })
    },
    async [Symbol.asyncDispose]() {
      await stop()
      await folder[Symbol.asyncDispose]()
    }
  }
}

async function makeCertificate(folder: string): Promise<void> {
  const args =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout key.pem -out cert.pem ' +
    '-subj /CN=localhost -addext subjectAltName=DNS:localhost'
  await promisify(execFile)('openssl', args.split(' '), { cwd: folder, timeout: 10_000 })
}

function renderNginx(places: Places): Record<string, string> {
  const { cuewire, secondCuewire, icecast, station, http, https, folder } = places
  const second = '  # server 127.0.0.1:8081 '
  const site = replaceTexts('nginx/cuewire.conf', [
    [second, secondCuewire === undefined ? second : `  server 127.0.0.1:${secondCuewire} `],
    ['  server 127.0.0.1:8080 ', `  server 127.0.0.1:${cuewire} `],
    ['  demo 127.0.0.1:8000;', `  ${station} 127.0.0.1:${icecast};`],
    ['listen 80;', `listen 127.0.0.1:${http};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${https} ssl http2;`],
    // The machine may have no IPv6.
    ['listen [::]:80;', ''],
    ['listen [::]:443 ssl http2;', ''],
    ['/etc/letsencrypt/live/radio.example.com/fullchain.pem', join(folder, 'cert.pem')],
    ['/etc/letsencrypt/live/radio.example.com/privkey.pem', join(folder, 'key.pem')],
    ['radio.example.com', 'localhost'],
    ['/srv/hls/', `${folder}/hls/`],
    ['/var/log/nginx/', `${folder}/`]
  ])
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    kind => `${kind}_temp_path ${join(folder, kind)};`
  )
  const main = `daemon off;
    master_process off;
    pid ${join(folder, 'pid')};
    error_log ${join(folder, 'error.log')};
    include ${join(folder, 'cuewire-limits.conf')};
    events { worker_connections 32768; }
    http {
      access_log off;
      ${paths.join('\n')}
      include ${join(folder, 'cuewire.conf')};
    }
  `
  const limits = replaceTexts('nginx/cuewire-limits.conf', [])
  return { 'nginx.conf': main, 'cuewire-limits.conf': limits, 'cuewire.conf': site }
}

function renderCaddy({ cuewire, icecast, station, http, https, folder }: Places): Record<string, string> {
  const site = replaceTexts('caddy/Caddyfile', [
    ['127.0.0.1:8080', `127.0.0.1:${cuewire}`],
    ['127.0.0.1:8000', `127.0.0.1:${icecast}`],
    ['^/listen/demo', `^/listen/${station}`],
    ['\nhttp://radio.example.com {\n', `\nhttp://localhost:${http} {\n\tbind 127.0.0.1\n`],
    [
      '\nradio.example.com {\n',
      `\nhttps://localhost:${https} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem\n`
    ],
    ['/srv/hls', `${folder}/hls`]
  ])
  return { Caddyfile: `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}` }
}

/** Reads a file of `ops` and replaces texts, each of which must occur. */
function replaceTexts(file: string, changes: readonly (readonly [from: string, to: string])[]): string {
  let text = readFileSync(new URL(`../../ops/${file}`, import.meta.url), 'utf8')
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`ops/${file} does not contain "${from}"`)
    text = text.replaceAll(from, to)
  }
  return text
}
