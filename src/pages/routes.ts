import type { Route } from '../api/route.ts'
import type { ApiServices } from '../api/services.ts'
import { fileRoutes } from './files.ts'
import { openWebFiles } from './web-files.ts'

/** The pages for people, and what they load. */
export function openPages(): readonly Route<ApiServices>[] {
  const files = openWebFiles()
  return [...fileRoutes(files)]
}
