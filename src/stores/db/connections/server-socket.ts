import { isIP, Socket } from 'node:net'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'

import type { TlsTarget } from './database-url.ts'

/** Where a server listens. */
export type ServerAddress = { readonly host: string; readonly port: number } | { readonly path: string }

export interface ServerTls {
  readonly mode: TlsTarget['mode']
  /** Whether the handshake begins without a question in the protocol of Postgres. */
  readonly isDirect: boolean
  /** Certificates, and how that of the server is checked. */
  readonly options: ConnectionOptions
}

/** A message that asks for TLS. A server answers with one byte, `S` if it has it. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

/**
 * Opens a connection to a server, with TLS as its mode says. Throws the error of the connection or certificate,
 * CONNECT_TIMEOUT after `limitMs`, CONNECTION_CLOSED, or CONNECTION_TLS_REFUSED.
 */
export async function openServerSocket(
  server: ServerAddress,
  tls: ServerTls,
  limitMs: number
): Promise<Socket | TLSSocket> {
  let socket: Socket | TLSSocket = new Socket()
  const timer = setTimeout(() => socket.destroy(failure('CONNECT_TIMEOUT', server)), limitMs)
  try {
    socket.connect(server)
    await until(socket, 'connect', server)
    if (tls.mode === 'disable') return socket
    if (!tls.isDirect) {
      socket.write(tlsRequest)
      // More than one byte was not sent by the server: no part of it may count as encrypted.
      const isAccepted = String(await until(socket, 'data', server)) === 'S'
      if (!isAccepted && tls.mode === 'prefer') return socket
      if (!isAccepted) throw failure('CONNECTION_TLS_REFUSED', server)
    }
    const alpn = tls.isDirect ? { ALPNProtocols: ['postgresql'] } : {}
    socket = connect({ socket, ...nameOf(server), ...alpn, ...tls.options })
    await until(socket, 'secureConnect', server)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Without the host, a certificate would be compared with the name "localhost" where the host is an address. */
const nameOf = (server: ServerAddress) => {
  if ('path' in server) return {}
  return { host: server.host, ...(isIP(server.host) === 0 ? { servername: server.host } : {}) }
}

/** Returns the first value of an event. Throws if the connection ends before. */
function until(socket: Socket, event: string, server: ServerAddress): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stop = () => void socket.off(event, succeed).off('error', fail).off('close', close)
    const succeed = (value: unknown) => {
      stop()
      resolve(value)
    }
    const fail = (error: Error) => {
      stop()
      reject(error)
    }
    const close = () => fail(failure('CONNECTION_CLOSED', server))
    socket.on(event, succeed).on('error', fail).on('close', close)
  })
}

/** An error as the package reports it. */
function failure(code: string, server: ServerAddress): Error {
  return Object.assign(new Error(`connect ${code} ${formatServerAddress(server)}`), { code })
}

/** Names a server in messages. */
export const formatServerAddress = (server: ServerAddress): string =>
  'path' in server ? server.path : `${server.host}:${server.port}`
