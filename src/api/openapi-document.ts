import { createHash } from 'node:crypto'

import type { CachedResponse } from '../station/document.ts'
import { renderJson } from './core/json-slices.ts'
import { describeApi } from './core/openapi.ts'
import { type ApiRoute, apiRoute } from './core/route.ts'

/** The routes of the OpenAPI document of these routes and of themselves. */
export function documentRoutes(documented: readonly ApiRoute[]): readonly ApiRoute[] {
  let json: Promise<CachedResponse> | null = null
  let yaml: Promise<CachedResponse> | null = null
  const describeAll = (baseUrl: string) => describeApi([...documented, ...routes], baseUrl)

  const renderAsJson = async (baseUrl: string) =>
    toCachedResponse(await renderJson(await describeAll(baseUrl), 3))

  /** The library is loaded on demand. */
  async function renderAsYaml(baseUrl: string): Promise<CachedResponse> {
    const { renderYaml } = await import('./core/yaml.ts')
    return toCachedResponse(await renderYaml(await describeAll(baseUrl), 3))
  }

  const routes: readonly ApiRoute[] = [
    apiRoute('GET', '/api/openapi.json', 'public', {
      id: 'getOpenApi',
      tag: 'Status',
      summary: 'This document',
      answer: { type: 'object' },
      unchanged,
      async handle(_, { config }) {
        const document = await (json ??= renderAsJson(config.BASE_URL))
        return { document: () => document, headers: { 'Cache-Control': 'no-cache' } }
      }
    }),
    apiRoute('GET', '/api/openapi.yml', 'public', {
      id: 'getOpenApiYaml',
      tag: 'Status',
      summary: 'This document as YAML',
      answer: { type: 'string' },
      contentTypes: ['text/x-yaml'],
      unchanged,
      async handle(_, { config }) {
        const document = await (yaml ??= renderAsYaml(config.BASE_URL))
        return {
          document: () => document,
          headers: { 'Content-Type': 'text/x-yaml; charset=utf-8', 'Cache-Control': 'public, max-age=3600' }
        }
      }
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
