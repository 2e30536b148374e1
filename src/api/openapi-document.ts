import { createHash } from 'node:crypto'

import type { Reply } from '../http/route.ts'
import { type Dialect, dialects } from '../model/station/dialect.ts'
import type { CachedResponse } from '../model/station/document.ts'
import { dialectVary } from '../model/station/public-headers.ts'
import { openCache } from '../platform/runtime/cache.ts'
import { azuracastSchemas } from './azuracast/with-dialects.ts'
import { renderJson } from './core/json-slices.ts'
import { describeApi } from './core/openapi.ts'
import { type ApiRequest, type ApiRoute, apiRoute } from './core/route.ts'
import type { ApiServices } from './core/services.ts'

/** The routes of the OpenAPI document of these routes and of themselves, which describes the dialect of the caller. */
export function documentRoutes(documented: readonly ApiRoute[]): readonly ApiRoute[] {
  const rendered = openCache<Dialect, CachedResponse>({ maxEntries: dialects.length })

  function serve(headers: Readonly<Record<string, string>>) {
    return async ({ dialect }: ApiRequest, { config }: ApiServices): Promise<Reply> => {
      const document = await rendered.load(dialect, async () => {
        const schemas = dialect === 'azuracast' ? azuracastSchemas : undefined
        const described = await describeApi([...documented, ...routes], config.BASE_URL, schemas)
        return toCachedResponse(await renderJson(described, 3))
      })
      return { document: () => document, headers: { ...headers, ...dialectVary } }
    }
  }

  const routes: readonly ApiRoute[] = [
    apiRoute('GET', '/api/openapi.json', 'public', {
      id: 'getOpenApi',
      tag: 'Status',
      summary: 'This document',
      answer: { type: 'object' },
      unchanged,
      hasDialects: true,
      handle: serve({ 'Cache-Control': 'no-cache' })
    }),
    // JSON is YAML (YAML 1.2, section 1.3).
    apiRoute('GET', '/api/openapi.yml', 'public', {
      id: 'getOpenApiYaml',
      tag: 'Status',
      summary: 'This document as YAML',
      answer: { type: 'string' },
      contentTypes: ['text/x-yaml'],
      unchanged,
      hasDialects: true,
      handle: serve({
        'Content-Type': 'text/x-yaml; charset=utf-8',
        'Cache-Control': 'public, max-age=3600'
      })
    })
  ]
  return routes
}

const unchanged = 'The entity tag matches.'

function toCachedResponse(text: string): CachedResponse {
  const body = Buffer.from(text)
  const hash = createHash('sha1').update(body).digest('base64url').slice(0, 16)
  return { body, etag: `W/"${hash}"`, position: null }
}
