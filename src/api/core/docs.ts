import { readFile } from 'node:fs/promises'

import { builtFile, programFile } from '../../runtime/program-files.ts'
import type { Route } from './route.ts'
import type { ApiServices } from './services.ts'

/** Reads a file at the first call and keeps it in memory. A call after a failure reads again. */
function readOnce(file: URL): () => Promise<Uint8Array> {
  let bytes: Promise<Uint8Array> | null = null
  return () => {
    bytes ??= readFile(file).catch((error: unknown) => {
      bytes = null
      throw error
    })
    return bytes
  }
}

const page = readOnce(programFile('assets/docs.html'))

/**
 * What the page may load: files of this server, and pictures inside its style sheet. Requests that a reader
 * tries out go to this server, or to `BASE_URL` where the page was opened under another name.
 */
const policy = (baseUrl: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    `connect-src 'self' ${new URL(baseUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; ')

/** The API for people to read and to try, drawn by Swagger UI from `/api/openapi.json`. */
const docs: Route<ApiServices> = {
  method: 'GET',
  path: '/api/docs',
  access: 'public',
  handle: async (_, { config }) => ({
    body: await page(),
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': policy(config.BASE_URL),
      'Referrer-Policy': 'no-referrer'
    }
  })
}

const file = (name: string, contentType: string, body: () => Promise<Uint8Array>): Route<ApiServices> => ({
  method: 'GET',
  path: `/api/docs/${name}`,
  access: 'public',
  handle: async () => ({
    body: await body(),
    headers: {
      'Content-Type': `${contentType}; charset=utf-8`,
      'Cache-Control': 'public, max-age=3600'
    }
  })
})

export const docsRoutes = [
  docs,
  file('start.js', 'text/javascript', readOnce(programFile('assets/docs.js'))),
  file('swagger-ui-bundle.js', 'text/javascript', readOnce(builtFile('web/swagger-ui-bundle.js'))),
  file('swagger-ui.css', 'text/css', readOnce(builtFile('web/swagger-ui.css')))
]
