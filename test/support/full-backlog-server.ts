import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A port on 127.0.0.1 that never accepts connections, with a small backlog. */
export interface FullBacklogServer extends AsyncDisposable {
  readonly port: number
}

export async function startFullBacklogServer(): Promise<FullBacklogServer> {
  // A blocked thread leaves connections in the backlog of the kernel.
  const thread = new Worker(
    `const { parentPort } = require('node:worker_threads')
    const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`,
    { eval: true }
  )
  const [port] = await once(thread, 'message')
  return { port: Number(port), [Symbol.asyncDispose]: async () => void (await thread.terminate()) }
}
