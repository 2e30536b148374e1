import { readFile } from 'node:fs/promises'

import { builtFileUrl, projectFileUrl } from '../../platform/process/program-files.ts'
import { loadOnce } from '../../platform/runtime/cache.ts'
import type { HandledRoute } from './route.ts'

/** Allows requests to `BASE_URL` too, since the page may be open under another name of the server. */
const contentSecurityPolicy = (baseUrl: string) =>
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

const readPage = loadOnce(() => readFile(projectFileUrl('assets/docs.html')))

/** The page of Swagger UI with `/api/openapi.json`. */
const docs: HandledRoute = {
  method: 'GET',
  path: '/api/docs',
  access: 'public',
  handle: async (_, { config }) => ({
    body: await readPage(),
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': contentSecurityPolicy(config.BASE_URL),
      'Referrer-Policy': 'no-referrer'
    }
  })
}

function fileRoute(name: string, contentType: string, file: URL): HandledRoute {
  const read = loadOnce(() => readFile(file))
  const headers = { 'Content-Type': `${contentType}; charset=utf-8`, 'Cache-Control': 'public, max-age=3600' }
  return {
    method: 'GET',
    path: `/api/docs/${name}`,
    access: 'public',
    handle: async () => ({ body: await read(), headers })
  }
}

export const docsRoutes = [
  docs,
  fileRoute('start.js', 'text/javascript', projectFileUrl('assets/docs.js')),
  fileRoute('swagger-ui-bundle.js', 'text/javascript', builtFileUrl('web/swagger-ui-bundle.js')),
  fileRoute('swagger-ui.css', 'text/css', builtFileUrl('web/swagger-ui.css'))
]
