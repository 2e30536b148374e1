import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { ffmpeg } from './foreign-programs.ts'
import type { Radio } from './radio.ts'

/** A streamer who is live until `leave` is called. */
export interface LiveStreamer extends AsyncDisposable {
  readonly user: string
  /** Sends a title, as streaming software does. Returns the status of the response. */
  readonly tellTitle: (text: string) => Promise<number>
  /** Sends a title with percent escapes, and names a charset. */
  readonly tellEscapedTitle: (escaped: string, charset: string) => Promise<number>
  readonly leave: () => Promise<void>
  /** The error output of the client; empty without errors. */
  readonly problem: () => string
}

/** Connects as a streamer with a sine tone of `hertz`. The radio decides whether to accept it. */
export function goLive({ liquidsoap }: Radio, user: string, password: string, hertz = 660): LiveStreamer {
  const place = `127.0.0.1:${liquidsoap.port}`
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  const sound = ['-re', '-f', 'lavfi', '-i', `sine=frequency=${hertz}:sample_rate=44100`]
  const encoded = ['-ac', '2', '-b:a', '64k', '-content_type', 'audio/mpeg', '-f', 'mp3']
  const child = spawn(
    ffmpeg,
    ['-nostdin', '-v', 'error', ...sound, ...encoded, `icecast://${login}@${place}/live`],
    {
      stdio: ['ignore', 'ignore', 'pipe']
    }
  )
  let problem = ''
  child.stderr.on('data', (chunk: Buffer) => (problem += chunk.toString()))
  const leave = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  const tellEscapedTitle = async (escaped: string, charset: string) => {
    const address = `http://${place}/admin/metadata?mode=updinfo&mount=/live&charset=${charset}&song=${escaped}`
    const { status } = await fetch(address, {
      headers: { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
      signal: AbortSignal.timeout(5_000)
    })
    return status
  }
  return {
    user,
    problem: () => problem,
    leave,
    tellTitle: text => tellEscapedTitle(encodeURIComponent(text), 'UTF-8'),
    tellEscapedTitle,
    [Symbol.asyncDispose]: leave
  }
}

/** A listener of a mount that records titles with their times. */
export interface Listener extends Disposable {
  readonly bytes: () => number
  readonly titles: () => readonly { readonly text: string; readonly atMs: number }[]
  readonly leave: () => void
}

/**
 * Listens to a mount in MP3 or AAC. Icecast sends buffered audio first, so titles arrive some seconds late.
 */
export async function listen(url: string, userAgent = 'cuewire-test'): Promise<Listener> {
  const leaving = new AbortController()
  const response = await fetch(url, {
    headers: { 'Icy-MetaData': '1', 'User-Agent': userAgent },
    signal: leaving.signal
  })
  const interval = Number(response.headers.get('icy-metaint'))
  if (!response.ok || !response.body || !interval)
    throw new Error(`${url} was answered with ${response.status}`)
  const titles: { text: string; atMs: number }[] = []
  let bytes = 0
  const read = async (chunks: AsyncIterable<Uint8Array>) => {
    let held = Buffer.alloc(0)
    for await (const chunk of chunks) {
      bytes += chunk.length
      held = Buffer.concat([held, chunk])
      for (;;) {
        const size = (held[interval] ?? 0) * 16
        if (held.length <= interval || held.length < interval + 1 + size) break
        const block = held.subarray(interval + 1, interval + 1 + size).toString()
        const [, text] = /StreamTitle='(.*?)';/s.exec(block) ?? []
        if (text !== undefined) titles.push({ text, atMs: Date.now() })
        held = held.subarray(interval + 1 + size)
      }
    }
  }
  // It ends when the listener leaves or the mount ends.
  void read(response.body).catch(() => {})
  return {
    bytes: () => bytes,
    titles: () => titles,
    leave: () => leaving.abort(),
    [Symbol.dispose]: () => leaving.abort()
  }
}
