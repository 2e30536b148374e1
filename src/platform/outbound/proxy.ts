import * as http from 'node:http'
import * as https from 'node:https'
import { type BlockList, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { stripIpv6Brackets, isAddressOrNetwork, isInNetworks, parseUrl, toNetworkList } from './networks.ts'

type Environment = Readonly<Record<string, string | undefined>>

const connectMs = 3_000
/** Icecast and others on this machine are never behind a proxy. */
const local = ['localhost', '127.0.0.1', '[::1]']

/** Parses the URL of a proxy, which may lack `http://`, as for curl. Returns null if it is none. */
export function parseProxyUrl(text: string): URL | null {
  const url = parseUrl(text.includes('://') ? text : `http://${text}`)
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : null
}

/** Reads a variable of proxies, whose name in lower case comes first, as in curl. */
export const readProxyVariable = (env: Environment, name: string): string | undefined =>
  env[name.toLowerCase()] || env[name] || undefined

/**
 * Returns the proxy for a URL by HTTP_PROXY, HTTPS_PROXY and NO_PROXY; null if it is reached directly, or is no URL.
 */
export function findProxy(target: string, env: Environment = process.env): URL | null {
  const url = parseUrl(target)
  if (url === null) return null
  const { protocol, hostname, port } = url
  const isHttps = protocol === 'https:'
  const proxy = readProxyVariable(env, isHttps ? 'HTTPS_PROXY' : 'HTTP_PROXY')
  if (proxy === undefined || local.includes(hostname)) return null
  const excluded = readProxyVariable(env, 'NO_PROXY') ?? ''
  return isExcluded(hostname, port || (isHttps ? '443' : '80'), excluded) ? null : parseProxyUrl(proxy)
}

/**
 * NO_PROXY: names with their subdomains (`a.example`, `.a.example`), addresses, networks, each with or without a port,
 * and `*`.
 */
function isExcluded(hostname: string, port: string, list: string): boolean {
  const host = stripIpv6Brackets(hostname).replace(/\.$/, '')
  const networks: string[] = []
  for (const entry of list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)) {
    if (entry === '*') return true
    if (isAddressOrNetwork(entry)) {
      networks.push(entry)
      continue
    }
    const [, bracketed, written = '', ownPort] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? []
    if (ownPort !== undefined && ownPort !== port) continue
    const name = bracketed ?? written.replace(/^\*?\./, '')
    if (name !== '' && (host === name || (isIP(host) === 0 && host.endsWith(`.${name}`)))) return true
  }
  return networks.length > 0 && isIn(toNetworkList(networks), host)
}

const isIn = (networks: BlockList, host: string) => isIP(host) !== 0 && isInNetworks(networks, host)

/** A proxy has no connection to a target. */
export class ProxyFault extends Error {
  /** What the proxy answered; 0 if it does not answer. */
  readonly status: number

  constructor(status: number, options?: ErrorOptions) {
    super(
      status === 0 ? 'The proxy does not answer.' : `The proxy refuses the connection (${status}).`,
      options
    )
    this.status = status
  }
}

interface TunnelOptions extends https.AgentOptions {
  readonly host?: string
}

/**
 * Returns an agent whose connections are tunnels of a proxy (CONNECT), for both schemes. `host` replaces that of the
 * request, so that the proxy resolves no name that was checked here.
 */
export function openTunnelAgent(
  proxy: URL,
  protocol: string,
  { host, ...options }: TunnelOptions = {}
): http.Agent {
  const agent = protocol === 'https:' ? new https.Agent(options) : new http.Agent(options)
  agent.createConnection = (request, callback) => {
    const target = host ?? request.host ?? ''
    openTunnel(proxy, `${isIP(target) === 6 ? `[${target}]` : target}:${request.port}`).then(
      socket => callback?.(null, protocol === 'https:' ? secure(socket, target, options) : socket),
      // A failed connection has a socket for the types only.
      (error: unknown) => callback?.(error instanceof Error ? error : new Error(String(error)), new Socket())
    )
    return undefined
  }
  return agent
}

/** Starts TLS in a tunnel. The certificate is that of the name, or of the address where there is none. */
function secure(
  socket: Socket,
  target: string,
  { servername = isIP(target) === 0 ? target : '' }: TunnelOptions
) {
  return connectTls({ socket, host: servername || target, servername })
}

/** Asks a proxy for a connection to `target`, `host:port`. Rejects with a `ProxyFault`. */
function openTunnel(proxy: URL, target: string): Promise<Socket> {
  const { protocol, hostname, port, username, password } = proxy
  const { request } = protocol === 'https:' ? https : http
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return new Promise((resolve, reject) => {
    const sent = request({
      method: 'CONNECT',
      host: stripIpv6Brackets(hostname),
      port: port || (protocol === 'https:' ? 443 : 80),
      path: target,
      agent: false,
      signal: AbortSignal.timeout(connectMs),
      headers: {
        host: target,
        ...(username === ''
          ? {}
          : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` })
      }
    })
    sent.once('connect', ({ statusCode = 0 }, socket, head) => {
      // Bytes before the first of this side are none of the target.
      if (statusCode >= 200 && statusCode < 300 && head.length === 0) return resolve(socket)
      socket.destroy()
      reject(new ProxyFault(statusCode))
    })
    sent.once('response', response => {
      response.destroy()
      reject(new ProxyFault(response.statusCode ?? 0))
    })
    sent.once('error', error => reject(new ProxyFault(0, { cause: error })))
    sent.end()
  })
}
