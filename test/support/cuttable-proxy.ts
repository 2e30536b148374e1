import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A way to a Postgres or a Redis whose connections can be cut. */
export interface CuttableProxy extends AsyncDisposable {
  /** The URL of what is behind it, by this way. */
  readonly url: string
  /** Connections that are open now. */
  readonly open: () => number
  /** Connections that were ever made. */
  readonly taken: () => number
  /** Closes all connections at the same moment, from the side of the server. */
  readonly cut: () => void
  /** From now on new connections are closed at once, or reset, or no longer. */
  readonly refuse: (how: boolean | 'reset') => void
  /**
   * From now on nothing passes over the connections that are open, and nobody is told: they are half-open.
   * New ones work.
   */
  readonly freeze: () => void
  /** From now on everything arrives so many milliseconds later, in each direction. */
  readonly delay: (delayMs: number) => void
}

/** Opens one on 127.0.0.1. */
export async function openCuttableProxy(storeUrl: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(storeUrl)
  const pairs = new Map<Socket, Socket>()
  const frozen = new WeakSet<Socket>()
  let delayMs = 0
  let refusing: boolean | 'reset' = false

  /**
   * Passes on what comes, one piece after the other; what comes over a frozen connection is taken, as a
   * network would lose it.
   */
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
    const server = connect(Number(port), hostname)
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
    [Symbol.asyncDispose]: async () => {
      cut()
      await new Promise(resolve => proxy.close(resolve))
    }
  }
}
