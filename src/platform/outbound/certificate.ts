import { isIP } from 'node:net'
import { connect } from 'node:tls'

import { canonicalHostOf } from './guard.ts'

const timeoutMs = 10_000

/**
 * Returns when the certificate of an HTTPS address ends, in Unix milliseconds, valid or not; null without TLS, or if
 * the address does not answer in time.
 */
export async function readCertificateEnd(url: string, signal?: AbortSignal): Promise<number | null> {
  const { protocol, port } = new URL(url)
  if (protocol !== 'https:') return null
  const host = canonicalHostOf(url)
  return new Promise(resolve => {
    const socket = connect({
      host,
      port: Number(port || 443),
      servername: isIP(host) === 0 ? host : '',
      // One that has ended is read as well.
      rejectUnauthorized: false
    })
    const end = (endMs: number | null) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      socket.destroy()
      resolve(endMs)
    }
    const abort = () => end(null)
    const timer = setTimeout(abort, timeoutMs)
    signal?.addEventListener('abort', abort)
    socket.once('error', abort).once('close', abort)
    socket.once('secureConnect', () => {
      const endMs = Date.parse(socket.getPeerCertificate().valid_to)
      end(Number.isNaN(endMs) ? null : endMs)
    })
    if (signal?.aborted) abort()
  })
}
