import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a Postgres whose connections can be cut. */
export interface CuttableProxy extends AsyncDisposable {
  /** The database behind it. */
  readonly url: string
  /** Connections that are open now. */
  readonly open: () => number
  /** Closes all connections at the same moment, from the side of the server. */
  readonly cut: () => void
}

/** Opens one on 127.0.0.1. */
export async function openCuttableProxy(databaseUrl: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(databaseUrl)
  const clients = new Set<Socket>()
  const proxy = createServer(client => {
    clients.add(client)
    const server = connect(Number(port), hostname)
    const end = () => {
      clients.delete(client)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    server.pipe(client).pipe(server)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const address = proxy.address()
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const cut = () => {
    for (const client of clients) client.destroy()
  }
  return {
    url: url.href,
    open: () => clients.size,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut()
      await new Promise(resolve => proxy.close(resolve))
    }
  }
}
