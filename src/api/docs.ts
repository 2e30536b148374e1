import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import type { Route } from './route.ts'
import type { ApiServices } from './services.ts'

const { resolve } = createRequire(import.meta.url)

const page = readFileSync(new URL('../../assets/docs.html', import.meta.url))
const start = readFileSync(new URL('../../assets/docs.js', import.meta.url))
const script = readFileSync(resolve('swagger-ui-dist/swagger-ui-bundle.js'))
const styles = readFileSync(resolve('swagger-ui-dist/swagger-ui.css'))

/**
 * What the page may load: files of this server, and pictures inside its style sheet. Requests that a reader tries
 * out go to this server, or to `BASE_URL` where the page was opened under another name.
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
  handle: (_, { config }) => ({
    body: page,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': policy(config.BASE_URL),
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff'
    }
  })
}

const file = (name: string, contentType: string, body: Uint8Array): Route<ApiServices> => ({
  method: 'GET',
  path: `/api/docs/${name}`,
  access: 'public',
  handle: () => ({
    body,
    headers: {
      'Content-Type': `${contentType}; charset=utf-8`,
      'Cache-Control': 'public, max-age=3600',
      'X-Content-Type-Options': 'nosniff'
    }
  })
})

export const docsRoutes = [
  docs,
  file('start.js', 'text/javascript', start),
  file('swagger-ui-bundle.js', 'text/javascript', script),
  file('swagger-ui.css', 'text/css', styles)
]
