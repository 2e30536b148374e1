import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'

import { mp3 } from './audio-bytes.ts'

/** A received request. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A web server for a test, on 127.0.0.1. */
export interface WebServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** The received requests, in order. */
  readonly asked: readonly Asked[]
  /** Sets the response to the following requests: a body with status 200, or a function. */
  readonly respondWith: (next: string | Buffer | RequestListener) => void
}

/** Starts a server that responds to every request with audio. */
export async function startAudioServer(): Promise<WebServer> {
  const server = await startWebServer()
  const audio = mp3({}, 4_000)
  server.respondWith((_, response) => response.setHeader('Content-Type', 'audio/mpeg').end(audio))
  return server
}

export async function startWebServer(): Promise<WebServer> {
  const asked: Asked[] = []
  let listener: RequestListener = (_, response) => void response.end()
  const server = createServer((request, response) => {
    void record(request, asked).then(() => listener(request, response))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    asked,
    respondWith: next => {
      listener = typeof next === 'function' ? next : (_, response) => void response.end(next)
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

async function record(request: IncomingMessage, asked: Asked[]): Promise<void> {
  const { method = '', url: path = '', headers } = request
  asked.push({ method, path, headers, body: await text(request) })
}
