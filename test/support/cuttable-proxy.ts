import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a Postgres or a Redis whose connections can be cut. */
export interface CuttableProxy extends AsyncDisposable {
  /** The URL of what is behind it, by this way. */
  readonly url: string
  /** Connections that are open now. */
  readonly open: () => number
  /** Closes all connections at the same moment, from the side of the server. */
  readonly cut: () => void
  /** From now on nothing passes over the connections that are open, and nobody is told: they are half-open. New ones work. */
  readonly freeze: () => void
}

/** Opens one on 127.0.0.1. */
export async function openCuttableProxy(storeUrl: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(storeUrl)
  const clients = new Set<Socket>()
  const pipes = new Map<Socket, () => void>()
  const proxy = createServer(client => {
    clients.add(client)
    const server = connect(Number(port), hostname)
    const end = () => {
      clients.delete(client)
      pipes.delete(client)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    server.pipe(client).pipe(server)
    pipes.set(client, () => {
      server.unpipe(client)
      client.unpipe(server)
      // What comes is taken, as a network would lose it.
      for (const socket of [client, server]) socket.resume()
    })
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const address = proxy.address()
  const url = new URL(storeUrl)
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const freeze = () => {
    for (const unpipe of pipes.values()) unpipe()
  }
  const cut = () => {
    for (const client of clients) client.destroy()
  }
  return {
    url: url.href,
    open: () => clients.size,
    cut,
    freeze,
    [Symbol.asyncDispose]: async () => {
      cut()
      await new Promise(resolve => proxy.close(resolve))
    }
  }
}
