import { createServer, type Socket } from 'node:net'

/** A server that accepts connections and never responds. */
export interface SilentServer extends AsyncDisposable {
  readonly port: number
  /** The number of open connections. */
  readonly open: () => number
}

export async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    // Unread data would hide that the peer has closed the connection.
    socket.resume()
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    open: () => sockets.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    }
  }
}
