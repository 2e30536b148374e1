import type { HandledRoute } from '../api/core/route.ts'
import type { Reply } from '../http/route.ts'
import { ApiError } from '../platform/runtime/errors.ts'
import { dashboardRoute } from './dashboard.ts'
import { embedRoute, oembedRoute } from './embed.ts'
import { galleryRoute } from './gallery.ts'
import { listenRoutes } from './listen.ts'
import { pageRoute, redirectReply } from './page.ts'
import { playerRoute } from './player.ts'
import { renderMissingPage, streamPlaylistRoute } from './station-page.ts'
import { loadWebFiles, type WebFile } from './web-files.ts'

const fileReply = (file: WebFile, cacheControl: string): Reply => ({
  headers: {
    'Content-Type': file.contentType,
    'Cache-Control': cacheControl,
    // Other websites load the widget.
    'Cross-Origin-Resource-Policy': 'cross-origin'
  },
  document: () => file
})

/**
 * Files whose names contain a hash of their content. During an upgrade a server may be asked for a file of
 * another version. It sends its own, which must not be cached.
 */
const assetRoute = pageRoute('/assets/:file', async ({ params: { file: name = '' } }) => {
  const file = (await loadWebFiles()).findHashed(name)
  if (file === undefined) throw new ApiError('not-found')
  return fileReply(file, file.name === name ? 'public, max-age=31536000, immutable' : 'no-cache')
})

/** A file with a stable name. Other websites get a new version within minutes. */
const fileRoute = (name: string, path = `/${name}`) =>
  pageRoute(path, async () =>
    fileReply((await loadWebFiles()).get(name), 'public, max-age=300, stale-while-revalidate=86400')
  )

const toParent = (name = '') => `../${encodeURIComponent(name)}`

/** Redirects from addresses with a slash too many or a missing part, and the answer for unknown pages. */
const correctionRoutes = [
  pageRoute('/public', ({ query }) => redirectReply('./', query)),
  pageRoute('/public/', ({ query }) => redirectReply('../', query)),
  pageRoute('/public/:station_id/', ({ params, query }) =>
    redirectReply(toParent(params['station_id']), query)
  ),
  pageRoute('/public/:station_id/:page/', ({ params, query }) =>
    redirectReply(toParent(params['page']), query)
  ),
  pageRoute('/public/:station_id/:page', (_, { config: { BASE_URL: baseUrl } }) =>
    renderMissingPage(baseUrl, '../..')
  )
]

/** The pages, and the files that they and other websites load. */
export const pageRoutes: readonly HandledRoute[] = [
  assetRoute,
  ...['widget.js', 'client.js', 'client.d.ts', 'hls.js'].map(name => fileRoute(name)),
  // Browsers request this icon for everything that is not a page.
  fileRoute('icon.svg', '/favicon.ico'),
  dashboardRoute,
  // The address where operators of AzuraCast sign in.
  pageRoute('/login', () => redirectReply('./', new URLSearchParams({ dashboard: '' }))),
  playerRoute,
  embedRoute,
  galleryRoute,
  streamPlaylistRoute('pls'),
  streamPlaylistRoute('m3u'),
  ...listenRoutes,
  ...correctionRoutes,
  oembedRoute
]
