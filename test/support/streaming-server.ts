import type { RequestListener } from 'node:http'

import { startWebServer, type WebServer } from './web-server.ts'

/** A mount with its source. Each listener is an address, an agent, and the seconds since it connected. */
interface FakeMount {
  readonly path: string
  readonly title?: string
  readonly artist?: string
  readonly bitrate?: number
  readonly contentType?: string
  readonly listeners?: readonly (readonly [address: string, agent: string, seconds?: number])[]
}

export interface FakeServer extends WebServer {
  /** Replaces its mounts. */
  readonly send: (...mounts: FakeMount[]) => void
}

const password = 'open sesame'

/**
 * Responds as Icecast 2.4 does, with admin statistics for the password `open sesame`, and a public status.
 */
export async function startFakeIcecast(): Promise<FakeServer> {
  return start(mounts => (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const page = pathname.startsWith('/admin/') ? adminPage : publicPage
    const isAdmin = request.headers.authorization === `Basic ${btoa(`admin:${password}`)}`
    if (page === adminPage && !isAdmin) {
      response.writeHead(401, { connection: 'close' }).end('You need to authenticate\r\n')
      return
    }
    const text = page(mounts, pathname, searchParams)
    response
      .writeHead(text === null ? 400 : 200, { connection: 'close' })
      .end(text ?? 'Source does not exist')
  })
}

/** Responds as Shoutcast 2 does to a browser. */
export async function startFakeShoutcast(): Promise<FakeServer> {
  return start(mounts => (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const isBrowser = request.headers['user-agent']?.startsWith('Mozilla/') === true
    const isAdmin = request.headers.authorization === `Basic ${btoa(`admin:${password}`)}`
    if (isBrowser && pathname === '/statistics') response.end(JSON.stringify(statisticsOf(mounts)))
    else if (isBrowser && pathname === '/admin.cgi' && isAdmin) {
      const { listeners = [] } = mounts[Number(searchParams.get('sid')) - 1] ?? {}
      response.end(
        JSON.stringify(
          listeners.map(([hostname, useragent, seconds = 0]) => ({
            hostname,
            useragent,
            xff: '',
            connecttime: String(seconds)
          }))
        )
      )
    } else response.writeHead(401).end('Unauthorized')
  })
}

async function start(responding: (mounts: readonly FakeMount[]) => RequestListener): Promise<FakeServer> {
  const server = await startWebServer()
  const send = (...mounts: FakeMount[]) => server.respondWith(responding(mounts))
  send()
  return { ...server, send }
}

const xml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function adminPage(mounts: readonly FakeMount[], pathname: string, query: URLSearchParams): string | null {
  if (pathname === '/admin/stats') return `<icestats>${mounts.map(sourceXml).join('')}</icestats>`
  const mount = mounts.find(({ path }) => path === query.get('mount'))
  if (!mount) return null
  const listeners = (mount.listeners ?? []).map(
    ([ip, agent, seconds = 0]) =>
      `<listener><IP>${ip}</IP><UserAgent>${xml(agent)}</UserAgent><Connected>${seconds}</Connected></listener>`
  )
  return `<icestats><source mount="${xml(mount.path)}">${listeners.join('')}</source></icestats>`
}

const sourceXml = ({
  path,
  artist = '',
  title = '',
  bitrate = 0,
  contentType = 'audio/mpeg',
  listeners = []
}: FakeMount) =>
  `<source mount="${xml(path)}"><listeners>${listeners.length}</listeners><artist>${xml(artist)}</artist>` +
  `<bitrate>${bitrate}</bitrate><title>${xml(title)}</title><server_type>${contentType}</server_type></source>`

function publicPage(mounts: readonly FakeMount[]): string {
  const sources = mounts.map(
    ({ path, artist, title, bitrate = 0, contentType = 'audio/mpeg', listeners = [] }) => ({
      artist,
      bitrate,
      title,
      listeners: listeners.length,
      listenurl: `http://radio.example:8000${path}`,
      server_type: contentType
    })
  )
  const source = sources.length > 1 ? sources : sources[0]
  return JSON.stringify({ icestats: { source, dummy: null } })
}

function statisticsOf(mounts: readonly FakeMount[]) {
  const streams = mounts.map(({ path, artist, title, bitrate = 0, contentType, listeners = [] }, index) => ({
    id: index + 1,
    currentlisteners: listeners.length,
    uniquelisteners: new Set(listeners.map(String)).size,
    songtitle: [artist, title].filter(Boolean).join(' - '),
    streamstatus: 1,
    streampath: path,
    bitrate: String(bitrate),
    content: contentType ?? 'audio/mpeg'
  }))
  return { totalstreams: streams.length, ...(streams.length > 0 && { streams }) }
}
