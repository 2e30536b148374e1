import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A proxy in front of a Postgres or Redis whose connections can be interrupted. */
export interface CuttableProxy extends AsyncDisposable {
  /** The URL of the store through the proxy. */
  readonly url: string
  /** The number of open connections. */
  readonly open: () => number
  /** The number of all connections since the start. */
  readonly taken: () => number
  /** Closes all connections at once, from the side of the server. */
  readonly cut: () => void
  /** Sets whether new connections are closed at once, reset, or accepted. */
  readonly refuse: (how: boolean | 'reset') => void
  /**
   * Stops all traffic on the open connections without closing them, so that they are half-open. New
   * connections work.
   */
  readonly freeze: () => void
  /** Delays all data by this number of milliseconds, in each direction. */
  readonly delay: (delayMs: number) => void
  /** Connects new clients to another server. Open connections stay where they are, as with a name or load balancer. */
  readonly pointTo: (storeUrl: string) => void
}

/** Opens a proxy on 127.0.0.1. */
export async function openCuttableProxy(storeUrl: string): Promise<CuttableProxy> {
  let target = new URL(storeUrl)
  const pairs = new Map<Socket, Socket>()
  const frozen = new WeakSet<Socket>()
  let delayMs = 0
  let refusing: boolean | 'reset' = false

  /** Forwards data in order. Data of a half-open connection is read and dropped, as by a broken network. */
  const forward = async (from: Socket, to: Socket) => {
    for await (const chunk of from) {
      if (delayMs > 0) await sleep(delayMs)
      if (!frozen.has(from) && !to.write(chunk)) await once(to, 'drain')
    }
  }
  let taken = 0
  const proxy = createServer(client => {
    taken++
    if (refusing !== false) {
      if (refusing === 'reset') client.resetAndDestroy()
      else client.destroy()
      return
    }
    const server = connect(Number(target.port), target.hostname)
    pairs.set(client, server)
    const end = () => {
      pairs.delete(client)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    for (const direction of [forward(client, server), forward(server, client)]) direction.catch(end)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const address = proxy.address()
  const url = new URL(storeUrl)
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const cut = () => {
    for (const client of pairs.keys()) client.destroy()
  }
  return {
    url: url.href,
    open: () => pairs.size,
    taken: () => taken,
    cut,
    refuse: how => {
      refusing = how
    },
    freeze: () => {
      for (const pair of pairs) for (const socket of pair) frozen.add(socket)
    },
    delay: ms => {
      delayMs = ms
    },
    pointTo: newUrl => {
      target = new URL(newUrl)
    },
    [Symbol.asyncDispose]: async () => {
      cut()
      await new Promise(resolve => proxy.close(resolve))
    }
  }
}
