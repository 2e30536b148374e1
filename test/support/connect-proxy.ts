import { createServer } from 'node:http'
import { connect } from 'node:net'

/** A proxy that opens tunnels (CONNECT) for a test. */
export interface ConnectProxy extends AsyncDisposable {
  readonly url: string
  /** What was asked for, as `host:port`, and the credentials. */
  readonly asked: readonly { readonly target: string; readonly credentials: string | undefined }[]
}

/** Starts a proxy on 127.0.0.1. All targets lead to 127.0.0.1; with `status`, it refuses them. */
export async function startConnectProxy({ status = 200 } = {}): Promise<ConnectProxy> {
  const asked: { target: string; credentials: string | undefined }[] = []
  const server = createServer((_, response) => response.writeHead(405).end())
  server.on('connect', (request, client) => {
    const target = request.url ?? ''
    asked.push({ target, credentials: request.headers['proxy-authorization'] })
    if (status !== 200) return client.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`)
    const upstream = connect(Number(target.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [upstream, client]) socket.on('error', () => upstream.destroy() && client.destroy())
    return undefined
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://radio:se%40cret@127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}
