import { artRoutes } from './art.ts'
import { customFieldRoutes, customFields } from './custom-fields.ts'
import type { JsonSchema } from './field.ts'
import { fileRoutes, files } from './files.ts'
import { hlsStreamRoutes, hlsStreams } from './hls-streams.ts'
import { nowPlayingRoutes } from './now-playing.ts'
import { describeApi } from './openapi.ts'
import { playlistFileRoutes } from './playlist-files.ts'
import { playlistRoutes, playlists } from './playlists.ts'
import { playoutRoutes } from './playout.ts'
import { queueRoutes } from './queue.ts'
import { recordSchema } from './resource-routes.ts'
import type { DeclaredResource } from './resource.ts'
import type { ApiRoute } from './route.ts'
import { schemas } from './schemas.ts'
import { sftpAuthRoutes } from './sftp-auth.ts'
import { sftpUserRoutes, sftpUsers } from './sftp-users.ts'
import { statusRoutes } from './status.ts'

const documented: readonly ApiRoute[] = [
  ...nowPlayingRoutes,
  ...artRoutes,
  ...playlistRoutes,
  ...playlistFileRoutes,
  ...fileRoutes,
  ...hlsStreamRoutes,
  ...sftpUserRoutes,
  ...sftpAuthRoutes,
  ...queueRoutes,
  ...playoutRoutes,
  ...customFieldRoutes,
  ...statusRoutes
]

/** Every declared resource. */
export const resources: readonly DeclaredResource[] = [playlists, files, hlsStreams, sftpUsers, customFields]

/** The schemas of all records, by name. */
const records: Readonly<Record<string, JsonSchema>> = {
  ...schemas,
  ...Object.fromEntries(resources.map(each => [each.name, recordSchema(each)]))
}

const openApi: ApiRoute = {
  method: 'GET',
  path: '/api/openapi.json',
  access: 'public',
  operation: {
    id: 'getOpenApi',
    tag: 'Status',
    summary: 'This document',
    answer: { type: 'object' }
  },
  handle: (_, { config }) => ({
    body: (document ??= JSON.stringify(describeApi(apiRoutes, records, config.BASE_URL)))
  })
}

let document: string | null = null

/** Every route of the API. */
export const apiRoutes: readonly ApiRoute[] = [...documented, openApi]
