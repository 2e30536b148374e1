import type { Reply, Route } from '../api/core/route.ts'
import type { ApiServices } from '../api/core/services.ts'
import { ApiError } from '../runtime/errors.ts'
import { sendTo } from './page.ts'
import { showMissing } from './station-page.ts'
import type { WebFile, WebFiles } from './web-files.ts'

type GetFiles = () => Promise<WebFiles>

const reply = (file: WebFile, caching: string): Reply => ({
  headers: {
    'Content-Type': file.contentType,
    'Cache-Control': caching,
    // Other websites load the widget and what it needs.
    'Cross-Origin-Resource-Policy': 'cross-origin'
  },
  document: () => file
})

/**
 * The files of pages, under names that change with their content. While servers are being replaced one may be
 * asked for another version's file: it gives its own, which nobody may keep.
 */
const assets = (files: GetFiles): Route<ApiServices> => ({
  method: 'GET',
  path: '/assets/:file',
  access: 'public',
  handle: async ({ params: { file: name = '' } }) => {
    const file = (await files()).hashed(name)
    if (file === undefined) throw new ApiError('not-found')
    return reply(file, file.name === name ? 'public, max-age=31536000, immutable' : 'no-cache')
  }
})

/** A file under a name that stays, for other websites: what is new in it reaches them within minutes. */
const stable = (name: string, files: GetFiles, path = `/${name}`): Route<ApiServices> => ({
  method: 'GET',
  path,
  access: 'public',
  handle: async () => reply((await files()).named(name), 'public, max-age=300, stale-while-revalidate=86400')
})

export const pageFileRoutes = (files: GetFiles): readonly Route<ApiServices>[] => [
  assets(files),
  stable('widget.js', files),
  stable('client.js', files),
  stable('client.d.ts', files),
  // Where browsers look that show something else than a page.
  stable('icon.svg', files, '/favicon.ico')
]

/** An address that is nearly one of a page. */
const stray = (path: string, placeOf: (params: Readonly<Record<string, string>>) => string) =>
  ({
    method: 'GET',
    path,
    access: 'public',
    handle: ({ params, query }) => sendTo(placeOf(params), query)
  }) satisfies Route<ApiServices>

const above = (name = '') => `../${encodeURIComponent(name)}`

/**
 * What people make of the addresses of pages: one slash too much, a piece too little, a page that is not
 * there.
 */
export const strayRoutes = (files: () => Promise<WebFiles>): readonly Route<ApiServices>[] => [
  stray('/public', () => './'),
  stray('/public/', () => '../'),
  stray('/public/:station_id/', ({ station_id: name }) => above(name)),
  stray('/public/:station_id/:page/', ({ page }) => above(page)),
  {
    method: 'GET',
    path: '/public/:station_id/:page',
    access: 'public',
    handle: async (_, { config: { BASE_URL: baseUrl } }) => showMissing(await files(), baseUrl, '../..')
  }
]
