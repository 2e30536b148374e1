import { createHash } from 'node:crypto'

import type { Reply } from '../http/route.ts'
import type { CachedResponse } from '../model/station/cached-response.ts'
import { keyVary } from '../model/station/public-headers.ts'
import { openCache } from '../platform/runtime/cache.ts'
import { renderJsonInSlices } from './core/json-slices.ts'
import { describeApi, documentedDialect } from './core/openapi.ts'
import { type ApiRoute, apiRoute, type RouteHandler, type ApiOperation } from './core/route.ts'
import type { OpenApiDialect } from './core/schema-components.ts'

/** The routes of the OpenAPI document of these routes and of themselves, which describes the dialect of the caller. */
export function openApiDocumentRoutes(
  described: readonly ApiRoute[],
  dialects: readonly OpenApiDialect[]
): readonly ApiRoute[] {
  const rendered = openCache<string, CachedResponse>({ maxEntries: 1 + dialects.length })

  function documentRoute(
    path: string,
    declared: Pick<ApiOperation, 'id' | 'summary' | 'response' | 'contentTypes'>,
    headers: Readonly<Record<string, string>>
  ): ApiRoute {
    const operation = { tag: 'Status', unchanged: 'The entity tag matches.', ...declared }
    const handleIn =
      (dialect: OpenApiDialect): RouteHandler =>
      async (_, { config }): Promise<Reply> => {
        const document = await rendered.load(dialect.name, async () => {
          const value = await describeApi([...described, ...routes], config.BASE_URL, dialect)
          return toCachedResponse(await renderJsonInSlices(value, 3))
        })
        return { document: () => document, headers: { ...headers, ...keyVary } }
      }
    const variants = dialects.map(each => [each.name, { operation, handle: handleIn(each) }] as const)
    return apiRoute('GET', path, 'public', {
      ...operation,
      handle: handleIn(documentedDialect),
      variants: Object.fromEntries(variants)
    })
  }

  const routes: readonly ApiRoute[] = [
    documentRoute(
      '/api/openapi.json',
      { id: 'getOpenApi', summary: 'This document', response: { type: 'object' } },
      { 'Cache-Control': 'no-cache' }
    ),
    // JSON is YAML (YAML 1.2, section 1.3).
    documentRoute(
      '/api/openapi.yml',
      {
        id: 'getOpenApiYaml',
        summary: 'This document as YAML',
        response: { type: 'string' },
        contentTypes: ['text/x-yaml']
      },
      { 'Content-Type': 'text/x-yaml; charset=utf-8', 'Cache-Control': 'public, max-age=3600' }
    )
  ]
  return routes
}

function toCachedResponse(text: string): CachedResponse {
  const body = Buffer.from(text)
  const hash = createHash('sha1').update(body).digest('base64url').slice(0, 16)
  return { body, etag: `W/"${hash}"`, position: null }
}
