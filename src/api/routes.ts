import { apiKeyRoutes, apiKeySchema } from './api-keys.ts'
import { artRoutes } from './art.ts'
import { auditEntrySchema, auditLogRoutes } from './audit-log.ts'
import { customFieldRoutes, customFields } from './custom-fields.ts'
import type { JsonSchema } from './field.ts'
import { hlsStreamRoutes, hlsStreams } from './hls-streams.ts'
import { articleSchema, newsRoutes } from './news.ts'
import { notificationRoutes, notificationSchema } from './notifications.ts'
import { nowPlayingRoutes } from './now-playing.ts'
import { describeApi } from './openapi.ts'
import { playlistRoutes, playlists } from './playlists.ts'
import { playoutRoutes } from './playout.ts'
import { queueRoutes } from './queue.ts'
import { recordSchema } from './resource-routes.ts'
import type { ApiRoute } from './route.ts'
import { schemas } from './schemas.ts'
import { statsRoutes } from './stats.ts'
import { statusRoutes } from './status.ts'

const documented: readonly ApiRoute[] = [
  ...nowPlayingRoutes,
  ...artRoutes,
  ...playlistRoutes,
  ...hlsStreamRoutes,
  ...queueRoutes,
  ...playoutRoutes,
  ...customFieldRoutes,
  ...auditLogRoutes,
  ...apiKeyRoutes,
  ...newsRoutes,
  ...notificationRoutes,
  ...statsRoutes,
  ...statusRoutes
]

/** The schemas of all records, by name. */
const records: Readonly<Record<string, JsonSchema>> = {
  ...schemas,
  Playlist: recordSchema(playlists),
  HlsStream: recordSchema(hlsStreams),
  CustomField: recordSchema(customFields),
  AuditEntry: auditEntrySchema,
  ApiKey: apiKeySchema,
  Article: articleSchema,
  Notification: notificationSchema
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
