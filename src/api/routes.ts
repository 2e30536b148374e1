import type { JsonSchema } from '../fields/field.ts'
import { apiKeyRoutes, apiKeySchema } from './api-keys.ts'
import { artRoutes } from './art.ts'
import { auditEntrySchema, auditLogRoutes } from './audit-log.ts'
import { broadcastRoutes, broadcastSchema } from './broadcasts.ts'
import { answeringContention } from './contention.ts'
import { customFieldRoutes, customFields } from './custom-fields.ts'
import { docsRoutes } from './docs.ts'
import { fileRoutes, files } from './files.ts'
import { historyRoutes } from './history.ts'
import { hlsStreamRoutes, hlsStreams } from './hls-streams.ts'
import { liquidsoapCommandRoutes } from './liquidsoap-commands.ts'
import { liquidsoapLiveRoutes } from './liquidsoap-live.ts'
import { liquidsoapRoutes, liquidsoapScriptRoutes } from './liquidsoap.ts'
import { listenerSeriesRoutes } from './listener-series.ts'
import { liveRoutes } from './live.ts'
import { articleSchema, newsRoutes } from './news.ts'
import { notificationRoutes, notificationSchema } from './notifications.ts'
import { nowPlayingUpdateRoutes } from './now-playing-update.ts'
import { nowPlayingRoutes } from './now-playing.ts'
import { onDemandRoutes } from './on-demand.ts'
import { describeApi } from './openapi.ts'
import { playlistActionRoutes } from './playlist-actions.ts'
import { playlistFileRoutes } from './playlist-files.ts'
import { playlistRoutes, playlists } from './playlists.ts'
import { playoutKeyRoutes, playoutKeySchema } from './playout-caller.ts'
import { playoutRoutes } from './playout.ts'
import { pollRoutes, pollSchema } from './polls.ts'
import { queuePreviewRoutes } from './queue-preview.ts'
import { queueWriteRoutes } from './queue-write.ts'
import { queueRoutes } from './queue.ts'
import { queuesRoutes } from './queues.ts'
import { remoteRoutes, remotes } from './remotes.ts'
import { requestReportRoutes } from './request-reports.ts'
import { requestRoutes } from './requests.ts'
import { recordSchema } from './resource-routes.ts'
import type { DeclaredResource } from './resource.ts'
import type { ApiRoute, Route } from './route.ts'
import { scheduleRoutes } from './schedule.ts'
import { schemas } from './schemas.ts'
import type { ApiServices } from './services.ts'
import { sftpAuthRoutes } from './sftp-auth.ts'
import { sftpUserRoutes, sftpUsers } from './sftp-users.ts'
import { stationRoutes, stations } from './stations.ts'
import { statsRoutes } from './stats.ts'
import { statusRoutes } from './status.ts'
import { storageLocationRoutes, storageLocations } from './storage-locations.ts'
import { streamerArtRoutes } from './streamer-art.ts'
import { streamerRoutes, streamers } from './streamers.ts'
import { deliveryLogSchema, deliverySchema, webhookDeliveryRoutes } from './webhook-deliveries.ts'
import { redeliveredSchema, webhookRedeliverRoutes } from './webhook-redeliver.ts'
import { webhookTestRoutes, webhookTestSchema } from './webhook-test.ts'
import {
  rotatedSecretSchema,
  webhookCloneRoutes,
  webhookRotateSecretRoutes,
  webhookToggleRoutes
} from './webhook-toggle.ts'
import { webhookRoutes, webhooks } from './webhooks.ts'

const documented: readonly ApiRoute[] = [
  ...nowPlayingRoutes,
  ...liveRoutes,
  ...artRoutes,
  ...playlistRoutes,
  ...playlistFileRoutes,
  ...fileRoutes,
  ...hlsStreamRoutes,
  ...remoteRoutes,
  ...pollRoutes,
  ...sftpUserRoutes,
  ...sftpAuthRoutes,
  ...streamerRoutes,
  ...streamerArtRoutes,
  ...broadcastRoutes,
  ...queueRoutes,
  ...queueWriteRoutes,
  ...historyRoutes,
  ...requestRoutes,
  ...requestReportRoutes,
  ...onDemandRoutes,
  ...scheduleRoutes,
  ...playlistActionRoutes,
  ...queuePreviewRoutes,
  ...playoutRoutes,
  ...listenerSeriesRoutes,
  ...nowPlayingUpdateRoutes,
  ...playoutKeyRoutes,
  ...liquidsoapRoutes,
  ...liquidsoapLiveRoutes,
  ...liquidsoapCommandRoutes,
  ...liquidsoapScriptRoutes,
  ...webhookRoutes,
  ...webhookToggleRoutes,
  ...webhookTestRoutes,
  ...webhookDeliveryRoutes,
  ...webhookRedeliverRoutes,
  ...webhookRotateSecretRoutes,
  ...webhookCloneRoutes,
  ...customFieldRoutes,
  ...storageLocationRoutes,
  ...stationRoutes,
  ...auditLogRoutes,
  ...apiKeyRoutes,
  ...newsRoutes,
  ...notificationRoutes,
  ...statsRoutes,
  ...statusRoutes,
  ...queuesRoutes
]

/** Every declared resource. */
export const resources: readonly DeclaredResource[] = [
  playlists,
  files,
  hlsStreams,
  remotes,
  sftpUsers,
  streamers,
  webhooks,
  customFields,
  storageLocations,
  stations
]

/** The schemas of all records, by name. */
const records: Readonly<Record<string, JsonSchema>> = {
  ...schemas,
  ...Object.fromEntries(resources.map(each => [each.name, recordSchema(each)])),
  Broadcast: broadcastSchema,
  Poll: pollSchema,
  WebhookTest: webhookTestSchema,
  WebhookDelivery: deliverySchema,
  WebhookDeliveryLog: deliveryLogSchema,
  Redelivered: redeliveredSchema,
  RotatedSecret: rotatedSecretSchema,
  PlayoutKey: playoutKeySchema,
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
    body: (document ??= JSON.stringify(describeApi([...documented, openApi], records, config.BASE_URL)))
  })
}

let document: string | null = null

/** Every route of the API. */
export const apiRoutes: readonly Route<ApiServices>[] = [
  ...documented.map(answeringContention),
  openApi,
  ...docsRoutes
]
