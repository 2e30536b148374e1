import type { Route } from '../api/route.ts'
import type { ApiServices } from '../api/services.ts'
import { sendTo } from './send-to.ts'
import { showMissing } from './station-page.ts'
import type { WebFiles } from './web-files.ts'

/** An address that is nearly one of a page. */
const stray = (path: string, placeOf: (params: Readonly<Record<string, string>>) => string) =>
  ({
    method: 'GET',
    path,
    access: 'public',
    handle: ({ params, query }) => sendTo(placeOf(params), query)
  }) satisfies Route<ApiServices>

const above = (name = '') => `../${encodeURIComponent(name)}`

/** What people make of the addresses of pages: one slash too much, a piece too little, a page that is not there. */
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
