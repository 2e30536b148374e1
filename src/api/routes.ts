import type { JsonSchema } from '../fields/field.ts'
import { artRoutes } from './art.ts'
import { customFieldRoutes, customFields } from './custom-fields.ts'
import { hlsStreamRoutes, hlsStreams } from './hls-streams.ts'
import { nowPlayingRoutes } from './now-playing.ts'
import { describeApi } from './openapi.ts'
import { playlistRoutes, playlists } from './playlists.ts'
import { playoutRoutes } from './playout.ts'
import { queueRoutes } from './queue.ts'
import { recordSchema } from './resource-routes.ts'
import type { ApiRoute } from './route.ts'
import { schemas } from './schemas.ts'
import { statusRoutes } from './status.ts'
import { webhookRoutes, webhooks } from './webhooks.ts'

const documented: readonly ApiRoute[] = [
  ...nowPlayingRoutes,
  ...artRoutes,
  ...playlistRoutes,
  ...hlsStreamRoutes,
  ...queueRoutes,
  ...playoutRoutes,
  ...webhookRoutes,
  ...customFieldRoutes,
  ...statusRoutes
]

/** The schemas of all records, by name. */
const records: Readonly<Record<string, JsonSchema>> = {
  ...schemas,
  Playlist: recordSchema(playlists),
  HlsStream: recordSchema(hlsStreams),
  CustomField: recordSchema(customFields),
  Webhook: recordSchema(webhooks)
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
