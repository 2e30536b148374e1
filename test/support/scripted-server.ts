import { createServer, type Socket } from 'node:net'

/** A TCP server on 127.0.0.1. */
export interface ScriptedServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** The number of open connections. */
  readonly open: () => number
}

/** Starts a server that calls `respond` with the first data of each connection, and ignores later data. */
export async function startScriptedServer(
  respond: (socket: Socket, first: Buffer) => void
): Promise<ScriptedServer> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.once('data', first => respond(socket, first))
    socket.resume()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    open: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    }
  }
}
