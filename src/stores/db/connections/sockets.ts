import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import postgres, { type Options } from 'postgres'

import { openPrimaryFinder } from './primary.ts'
import { openServerSocket, type ServerAddress, type ServerTls } from './server-socket.ts'

/** How long one of several servers may take to accept a connection, with TLS. */
const oneOfSeveralMs = 1_500

type ConnectOptions = Options<{}> & { readonly connect_timeout: number; readonly backoff: () => number }

/**
 * Returns the function with which the package opens the sockets of a pool: to the server, and of several to the one
 * whose sessions are not refused. While there is none, for `connect_timeout`, they are asked again.
 */
export function openSocketFactory(
  servers: readonly [ServerAddress, ...ServerAddress[]],
  tls: ServerTls,
  options: ConnectOptions
): () => Promise<Duplex> {
  const limitMs = options.connect_timeout * 1_000
  const [first, ...others] = servers
  const openWithin = async (ms: number, server: ServerAddress) =>
    coalesceWrites(await openServerSocket(server, tls, ms))
  if (others.length === 0) return async () => openWithin(limitMs, first).catch(failedSocket)

  const open = async (server: ServerAddress) => openWithin(oneOfSeveralMs, server)
  const primary = openPrimaryFinder(servers, {
    ask: async server => {
      const asking = postgres({
        ...options,
        max: 1,
        onnotice: () => {},
        socket: async () => open(server).catch(failedSocket)
      })
      try {
        await asking`select`
      } finally {
        await asking.end({ timeout: 1 })
      }
    },
    mayPass: error => !(error instanceof postgres.PostgresError) || /^(53|57P)/.test(error.code),
    limitMs,
    pauseMs: () => options.backoff() * 1_000
  })

  return async () => {
    try {
      const server = await primary.find()
      const doubt = () => primary.doubt(server)
      const socket = await open(server).catch((error: unknown) => {
        doubt()
        throw error
      })
      // Connections that have served long enough are ended by the package.
      socket.once('close', () => {
        if (!socket.writableEnded) doubt()
      })
      return socket
    } catch (error) {
      return failedSocket(error)
    }
  }
}

/**
 * Makes a socket write with one system call what is written in one tick of the event loop: the package writes the
 * statements of a transaction in pieces of a kilobyte.
 */
function coalesceWrites(socket: Socket): Socket {
  const write = socket.write.bind(socket)
  const uncork = () => socket.uncork()
  const corkAndWrite = (...parts: Parameters<typeof write>) => {
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(uncork)
    }
    return write(...parts)
  }
  return Object.assign(socket, { write: corkAndWrite })
}

/** A socket that fails with an error. If none were returned, the package would never use the connection again. */
function failedSocket(error: unknown): Socket {
  const socket = new Socket()
  setImmediate(() => socket.destroy(error instanceof Error ? error : new Error(String(error))))
  return socket
}
