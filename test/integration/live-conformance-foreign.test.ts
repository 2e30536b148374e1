import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { describe, expect, onTestFinished } from 'vitest'

import { startCaddy, startProxy } from '../support/buffering-proxy.ts'
import { test } from '../support/fixtures.ts'
import { python, whyWithout } from '../support/foreign-programs.ts'
import { openInbox } from '../support/live-inbox.ts'
import { connectBy, livePath, transports } from '../support/live-ways.ts'
import { sized } from '../support/tier.ts'
import { patience, waitFor } from '../support/wait.ts'

// Acceptance checks 26 to 28: Python, a browser, and a proxy that buffers.

/** The deadline for a frame; longer in the quick tier, which runs on busy machines. */
const soonMs = sized({ quick: 5_000, deep: 1_000 })

const subsOf = (channel: string) => JSON.stringify({ subs: { [channel]: { recover: true } } })

const pathsOfClients = {
  websocket: 'websocket',
  sse: 'sse',
  requests: 'http_stream',
  'requests-sse': 'sse',
  sseclient: 'sse'
} as const

function startClient(kind: keyof typeof pathsOfClients, baseUrl: string, message: string) {
  const script = fileURLToPath(new URL('../support/live-client.py', import.meta.url))
  const url = kind === 'websocket' ? baseUrl.replace('http', 'ws') : baseUrl
  const child = spawn(python, [script, kind, `${url}${livePath}/${pathsOfClients[kind]}`, message], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const inbox = openInbox()
  createInterface(child.stdout).on('line', line => {
    const [, code, reason] = /^closed (\d+) (.*)$/.exec(line) ?? []
    if (code === undefined) inbox.accept(line)
    else inbox.finish({ status: 0, code: Number(code), reason: String(reason) })
  })
  return inbox
}

// They read whole chunks, so the end of each must not come with the next one.
for (const [kind, needed] of [
  ['requests', 'requests'],
  ['requests-sse', 'requests'],
  ['sseclient', 'sseclient']
] as const)
  test.skipIf(whyWithout(needed) !== null)(
    `Python's packages get each frame at once: ${kind}`,
    async ({ stage }) => {
      const station = await stage.put()
      const client = startClient(kind, stage.baseUrl, subsOf(station.channel))
      await client.until('connect')
      for (const title of ['Night Ferry', 'Tidewater', 'Aria']) {
        await station.play(title)
        const playedAtMs = performance.now()
        const { pub } = await client.until('pub')
        expect(pub.data.np.now_playing.song.title).toBe(title)
        // One frame late is the next heartbeat, after 12 seconds.
        expect(performance.now() - playedAtMs).toBeLessThan(1_000 * patience)
      }
    }
  )

describe.skipIf(whyWithout('python') !== null)('Python', () => {
  test.for(['websocket', 'sse'] as const)('follows a station: %s', async (kind, { stage }) => {
    const station = await stage.put()
    const client = startClient(kind, stage.baseUrl, subsOf(station.channel))
    await client.until('connect')
    await station.play('Déjà Vu')
    const { pub } = await client.until('pub')
    expect(pub.data.np.now_playing.song.title).toBe('Déjà Vu')
  })

  test('receives the close code and reason', async ({ stage }) => {
    const client = startClient('websocket', stage.baseUrl, 'no JSON')
    expect(await client.ended).toEqual({ status: 0, code: 3501, reason: 'bad request' })
  })
})

describe.skipIf(whyWithout('nginx') !== null)('a proxy that buffers and compresses', () => {
  test.for(transports)(
    'passes the first frame and every change on without delay: %s',
    async (way, { stage }) => {
      await using proxy = await startProxy(stage.baseUrl)
      const station = await stage.put()
      const startedAtMs = Date.now()
      const { reader } = await connectBy(way, { baseUrl: proxy.baseUrl, message: subsOf(station.channel) })
      expect(Date.now() - startedAtMs).toBeLessThan(soonMs)
      for (const title of ['Night Ferry', 'Tidewater']) {
        await station.play(title)
        const { pub } = await reader.until('pub', () => true, soonMs)
        expect(pub.data.np.now_playing.song.title).toBe(title)
      }
    }
  )
})

describe.skipIf(whyWithout('caddy') !== null)('a Caddy that compresses', () => {
  test.for(['sse', 'http_stream'])('passes every frame on without delay: %s', async (kind, { stage }) => {
    await using proxy = await startCaddy(stage.baseUrl)
    const station = await stage.put()
    const leaving = new AbortController()
    const { body } = await fetch(`${proxy.baseUrl}${livePath}/${kind}`, {
      method: 'POST',
      headers: { 'Accept-Encoding': 'gzip, zstd' },
      body: subsOf(station.channel),
      signal: leaving.signal
    })
    let text = ''
    const reading = (async () => {
      for await (const piece of body ?? []) text += Buffer.from(piece).toString()
    })()
    reading.catch(() => {})
    await waitFor(() => text.includes('"connect"'), { deadlineMs: soonMs, what: 'the first frame' })
    for (const title of ['Night Ferry', 'Tidewater']) {
      await station.play(title)
      await waitFor(() => text.includes(title), { deadlineMs: soonMs, what: 'the change' })
    }
    leaving.abort()
  })
})

interface ReceivedTitle {
  readonly name: string
  readonly title: string
  readonly atMs: number
}

/** Serves the page of widgets and the example client on an origin of their own. */
async function servePage(): Promise<string> {
  const files = {
    '/': ['text/html', await readFile(new URL('../support/widget.html', import.meta.url))],
    '/delta-client.mjs': [
      'text/javascript',
      await readFile(new URL('../../examples/delta-client.mjs', import.meta.url))
    ]
  } as const
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    const [type, bytes] = path === '/delta-client.mjs' ? files[path] : files['/']
    response.setHeader('Content-Type', type).end(bytes)
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}

const widgets = ['eventsource', 'eventsource-credentials', 'websocket', 'http-stream', 'example']

describe.skipIf(whyWithout('chromium') !== null)('a page in Chromium', () => {
  test(
    'widgets of another origin show the title, follow changes, and survive a restart',
    {
      timeout: 60_000
    },
    async ({ stage, openPage }) => {
      const station = await stage.put()
      const origin = await servePage()
      const page = await openPage({ allowsErrors: true })
      const consoleErrors: string[] = []
      page.on('pageerror', error => consoleErrors.push(String(error)))
      page.on('console', line => {
        if (line.type() === 'error') consoleErrors.push(line.text())
      })

      const titles = async () =>
        page.evaluate<string[]>("[...document.querySelectorAll('li')].map(line => line.textContent)")
      const showAll = (title: string, deadlineMs: number) =>
        waitFor(async () => (await titles()).every(text => text === title), {
          deadlineMs,
          what: `all widgets to show ${title}`
        })
      const waitForAll = (title: string, deadlineMs: number) =>
        waitFor(
          async () => {
            const received = await page.evaluate<ReceivedTitle[]>('heard')
            const names = received.filter(each => each.title === title).map(({ name }) => name)
            return new Set(names).size === widgets.length
          },
          { deadlineMs, what: `all widgets to receive ${title}` }
        )

      const query = new URLSearchParams({ server: stage.baseUrl, station: station.shortName })
      await page.goto(`${origin}/?${query.toString()}`)
      await showAll('Paper Lanterns', soonMs)
      expect(await titles()).toHaveLength(widgets.length)

      await station.play('Night Ferry')
      await waitForAll('Night Ferry', soonMs)
      await showAll('Night Ferry', 3_000 + soonMs)
      expect(consoleErrors).toEqual([])

      expect(await stage.restart('SIGTERM')).toBe(0)
      await station.play('Tidewater')
      // A client whose reconnect failed uses a longer backoff.
      await waitForAll('Tidewater', 30_000)
      expect(await page.evaluate('errors')).toEqual([])
    }
  )
})
