import * as http from 'node:http'
import * as https from 'node:https'

import { describeError } from '../../platform/runtime/store-errors.ts'
import { findTlsFault } from '../../platform/runtime/tls-faults.ts'
import { type Finding, okFinding, problemFinding, warningFinding } from './finding.ts'

const timeoutMs = 5_000
const maxBytes = 65_536

/**
 * Checks that Cuewire answers at its public address, that it is the installation with this identifier, which may be
 * empty, and that WebSockets get through.
 */
export async function checkBaseUrl(baseUrl: string, identifier: string): Promise<Finding> {
  const status = await request(`${baseUrl}/api/status`, {}).catch((error: unknown) =>
    toProblem(baseUrl, error)
  )
  if ('check' in status) return status
  if (status.code !== 200 || !/"online":\s*true/.test(status.body))
    return problemFinding(
      'BASE_URL',
      `${baseUrl}/api/status answers ${status.code}${status.code === 200 ? ', but not as Cuewire does' : ''}`,
      'let the proxy pass all paths to Cuewire, with HTTP/1.1'
    )
  const ready = await request(`${baseUrl}/api/health/ready`, {}).catch(() => null)
  if (ready !== null && /"status":\s*"read-only"/.test(ready.body))
    return problemFinding(
      'BASE_URL',
      `${baseUrl} answers, but the connections of this server lead to a Redis that refuses writes`,
      'wait ten seconds; if it stays so, the name in REDIS_URL leads to a node that is not the primary'
    )
  if (identifier !== '' && status.identifier !== '' && status.identifier !== identifier)
    return problemFinding(
      'BASE_URL',
      `${baseUrl} is another installation of Cuewire, with another database`,
      'correct BASE_URL or the proxy, or DATABASE_URL'
    )
  const upgrade = await request(`${baseUrl}/api/live/nowplaying/websocket`, {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'ZG9jdG9yIGRvY3RvciBkbw=='
  }).catch((error: unknown) => describeError(error))
  if (typeof upgrade === 'string' || upgrade.code !== 101)
    return problemFinding(
      'BASE_URL',
      `${baseUrl} answers, but refuses WebSockets (${typeof upgrade === 'string' ? upgrade : upgrade.code})`,
      'let the proxy pass the headers Upgrade and Connection'
    )
  if (/^http:\/\/(localhost|127\.|\[::1\])/.test(baseUrl))
    return warningFinding(
      'BASE_URL',
      `${baseUrl} answers, but only on this machine`,
      'set BASE_URL to the public address, which players and mails use'
    )
  return okFinding('BASE_URL', `${baseUrl} answers, also WebSockets`)
}

interface ProbeResponse {
  readonly code: number
  readonly body: string
  /** The header X-Installation; empty without it. */
  readonly identifier: string
}

function toProblem(baseUrl: string, error: unknown): Finding {
  const tlsFault = findTlsFault(error)
  if (tlsFault !== null)
    return problemFinding(
      'BASE_URL',
      `the certificate of ${baseUrl} ${tlsFault} (${describeError(error)})`,
      'correct it in the proxy, or set NODE_EXTRA_CA_CERTS to the file of an authority of your own'
    )
  return problemFinding(
    'BASE_URL',
    `${baseUrl} does not answer (${describeError(error)})`,
    'start the server and the proxy, or correct BASE_URL; if it answers elsewhere, this machine cannot reach its own public address'
  )
}

function request(url: string, headers: http.OutgoingHttpHeaders): Promise<ProbeResponse> {
  const { get } = url.startsWith('https:') ? https : http
  return new Promise((resolve, reject) => {
    const sent = get(url, {
      headers,
      agent: false,
      timeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs)
    })
    sent.once('error', reject)
    sent.once('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ code: response.statusCode ?? 0, body: '', identifier: '' })
    })
    sent.once('response', response => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
        if (body.length > maxBytes) response.destroy()
      })
      response.once('close', () => {
        const identifier = String(response.headers['x-installation'] ?? '')
        resolve({ code: response.statusCode ?? 0, body, identifier })
      })
    })
  })
}
