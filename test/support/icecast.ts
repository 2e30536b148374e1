import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { get, request } from 'node:http'
import { join } from 'node:path'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

const program = '/usr/bin/icecast2'

/** The reason why tests with a real Icecast are skipped, which is printed; null if they run. */
export function whyWithoutIcecast(): string | null {
  const reason = process.env['CI']
    ? 'no Icecast on CI'
    : existsSync(program)
      ? null
      : `there is no ${program}`
  if (reason !== null) process.stdout.write(`skipped: ${reason}\n`)
  return reason
}

/** A real Icecast on 127.0.0.1. The admin password is `hush`, the source password `send`. */
export interface Icecast extends AsyncDisposable {
  readonly url: string
  /** Kills it, which closes its connections. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
  /** Sends a stream to a mount. Returns a function that stops it. With `again` the audio is repeated. */
  readonly source: (
    mount: string,
    audio: { readonly type: string; readonly bytes: Buffer; readonly again?: boolean }
  ) => Promise<() => void>
  readonly setTitle: (mount: string, title: string) => Promise<void>
  /** Listens to a mount, and waits for the first audio. Returns a function that stops it. */
  readonly listen: (mount: string, userAgent: string) => Promise<() => void>
}

/** With `relayed`, it relays this mount of another one. */
export async function startIcecast(relayed?: {
  readonly url: string
  readonly mount: string
}): Promise<Icecast> {
  const folder = await openTempFolder()
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const logs = join(folder.path, 'logs')
  await mkdir(logs)
  // Started by root, it switches to the user nobody.
  await chmod(logs, 0o777)
  const file = join(folder.path, 'icecast.xml')
  const relay = relayed ? relayElement(new URL(relayed.url), relayed.mount) : ''
  await writeFile(file, configuration(port, logs, relay))
  const spawnIcecast = () => spawn(program, ['-c', file], { stdio: 'ignore' })
  let running = spawnIcecast()
  const hasEnded = () => running.exitCode !== null || running.signalCode !== null
  const ends: (() => void)[] = []
  const up = () =>
    waitFor(
      async () => {
        // It exits if its port is in use, which may happen for a moment after a kill.
        if (hasEnded()) running = spawnIcecast()
        return (await fetch(`${url}/status-json.xsl`)).ok
      },
      { deadlineMs: 15_000, what: 'Icecast' }
    )
  const kill = async () => {
    const ended = new Promise(resolve => running.once('exit', resolve))
    if (hasEnded()) return
    running.kill('SIGKILL')
    await ended
  }
  await up()
  return {
    url,
    kill,
    start: async () => {
      running = spawnIcecast()
      await up()
    },
    source: async (mount, { type, bytes, again = false }) => {
      const headers = { 'content-type': type, 'ice-bitrate': '128', expect: '100-continue' }
      const sending = request(url + mount, { method: 'PUT', auth: 'source:send', headers })
      sending.on('error', () => {})
      await new Promise<void>((resolve, reject) => {
        sending.once('continue', resolve)
        sending.once('response', response =>
          reject(new Error(`the source was answered ${response.statusCode}`))
        )
        sending.flushHeaders()
      })
      sending.write(bytes)
      const timer = setInterval(() => again && sending.write(bytes), 50)
      const end = () => {
        clearInterval(timer)
        sending.destroy()
      }
      ends.push(end)
      return end
    },
    setTitle: async (mount, title) => {
      const query = new URLSearchParams({ mount, mode: 'updinfo', song: title, charset: 'UTF-8' })
      const authorization = `Basic ${btoa('admin:hush')}`
      const response = await fetch(`${url}/admin/metadata?${query.toString()}`, {
        headers: { authorization }
      })
      if (!response.ok) throw new Error(`the title was answered ${response.status}`)
    },
    listen: async (mount, userAgent) => {
      const listening = get(url + mount, { headers: { 'user-agent': userAgent } })
      listening.on('error', () => {})
      const end = () => listening.destroy()
      ends.push(end)
      await new Promise<void>((resolve, reject) => {
        listening.once('error', reject)
        listening.once('response', response => {
          response.on('error', () => {})
          response.once('data', () => resolve())
        })
      })
      return end
    },
    [Symbol.asyncDispose]: async () => {
      for (const end of ends) end()
      await kill()
      await folder[Symbol.asyncDispose]()
    }
  }
}

const relayElement = ({ hostname, port }: URL, mount: string) =>
  `<relay><server>${hostname}</server><port>${port}</port><mount>${mount}</mount><local-mount>${mount}</local-mount></relay>`

const configuration = (port: number, logs: string, relay: string) => `<icecast>
  <limits><clients>50</clients><sources>5</sources><source-timeout>5</source-timeout></limits>
  <authentication>
    <source-password>send</source-password><admin-user>admin</admin-user><admin-password>hush</admin-password>
  </authentication>
  <hostname>localhost</hostname>
  ${relay}
  <listen-socket><port>${port}</port><bind-address>127.0.0.1</bind-address></listen-socket>
  <paths>
    <basedir>/usr/share/icecast2</basedir><logdir>${logs}</logdir>
    <webroot>/usr/share/icecast2/web</webroot><adminroot>/usr/share/icecast2/admin</adminroot>
  </paths>
  <logging><accesslog>access.log</accesslog><errorlog>error.log</errorlog><loglevel>2</loglevel></logging>
  <security>
    <chroot>0</chroot>
    ${process.getuid?.() === 0 ? '<changeowner><user>nobody</user><group>nogroup</group></changeowner>' : ''}
  </security>
</icecast>
`
