import type { Route } from '../api/core/route.ts'
import type { ApiServices } from '../api/core/services.ts'
import { dashboardRoute } from './dashboard.ts'
import { embedRoute, oembedRoute } from './embed.ts'
import { pageFileRoutes, strayRoutes } from './files.ts'
import { galleryRoute } from './gallery.ts'
import { playerRoute } from './player.ts'
import { streamsRoutes } from './station-page.ts'
import { openWebFiles } from './web-files.ts'

/** The pages for people, and what they load. */
export function openPages(): readonly Route<ApiServices>[] {
  const files = openWebFiles()
  return [
    ...pageFileRoutes(files),
    dashboardRoute(files),
    playerRoute(files),
    embedRoute(files),
    galleryRoute(files),
    ...streamsRoutes(files),
    ...strayRoutes(files),
    oembedRoute
  ]
}
