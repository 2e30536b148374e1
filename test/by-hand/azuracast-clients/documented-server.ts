import { createServer } from 'node:http'

import { mp3 } from '../../support/audio-bytes.ts'
import type { Operation, OpenApiDocument } from '../azuracast-coverage/document.ts'
import { sampleOf } from '../azuracast-coverage/sample.ts'

/** A server that answers every request as AzuraCast documents it. */
export interface DocumentedServer extends AsyncDisposable {
  readonly baseUrl: string
}

/**
 * Starts a server that answers every operation with the sample of its answer, whatever was sent. A client that
 * fails with it cannot read what AzuraCast answers.
 */
export async function startDocumentedServer(document: OpenApiDocument): Promise<DocumentedServer> {
  const routes = document.operations.map(operation => ({
    operation,
    pattern: new RegExp(`^/api${operation.path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`)
  }))
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const found = routes.find(
      ({ operation, pattern }) => operation.method === request.method && pattern.test(path)
    )
    request.resume().on('end', () => {
      if (found === undefined) {
        response.writeHead(404).end()
        return
      }
      const { type, content } = renderResponse(found.operation, document, request.url ?? '')
      response.writeHead(200, { 'Content-Type': type }).end(content)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

function renderResponse({ response }: Operation, document: OpenApiDocument, url: string) {
  if (response.type.startsWith('image/')) return { type: 'image/png', content: onePixel }
  if (response.type !== 'application/json') return { type: 'audio/mpeg', content: mp3() }
  const sample = response.schema === null ? {} : sampleOf(response.schema, document, 'answer')
  // Lists are pages if the client asks for them.
  const isPaged = Array.isArray(sample) && /[?&](per_page|page|rowCount)=/.test(url)
  const page = { page: 1, per_page: 25, total: 1, total_pages: 1, links: pageLinks, rows: sample }
  return { type: 'application/json', content: JSON.stringify(isPaged ? page : sample) }
}

const pageLinks = { first: '/1', previous: '/1', next: '/1', last: '/1' }
const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)
