import type { JsonSchema } from '../fields/field.ts'
import { auditEntrySchema } from './admin/audit-log.ts'
import { articleSchema } from './admin/news.ts'
import { notificationSchema } from './admin/notifications.ts'
import { settingsSchema } from './admin/settings.ts'
import { sftpUsers } from './admin/sftp-users.ts'
import { storageLocations } from './admin/storage-locations.ts'
import { apiKeySchema } from './auth/api-keys.ts'
import { uploadedFileSchema } from './broadcasting/fallback.ts'
import { logContentsSchema, logTypeSchema } from './broadcasting/logs.ts'
import { serviceStatusSchema } from './broadcasting/services.ts'
import { describeApi } from './core/openapi.ts'
import { recordSchema } from './core/resource-routes.ts'
import type { ResourceBase } from './core/resource.ts'
import { type ApiRoute, apiRoute } from './core/route.ts'
import { sharedSchemas } from './core/schemas.ts'
import { dashboardStationSchema } from './dashboard/stations.ts'
import { bulkImportSchema, bulkPreviewSchema } from './library/bulk-files.ts'
import { customFields } from './library/custom-fields.ts'
import { fileRowSchema } from './library/file-list.ts'
import { files } from './library/files.ts'
import { uploadSchema } from './library/uploads/tus-uploads.ts'
import { listenTokenSchema } from './now-playing/listen-tokens.ts'
import { occupancySchema } from './now-playing/occupancy.ts'
import { invitationSchema } from './people/invitations.ts'
import { roleSchema } from './people/roles.ts'
import { userKeySchema } from './people/user-keys.ts'
import { userSchema } from './people/users.ts'
import { calendarEventSchema } from './playlists/calendars.ts'
import { playlistQueueSchema } from './playlists/playlist-queue.ts'
import { playlists } from './playlists/playlists.ts'
import { scheduleSimulationSchema } from './playlists/simulation-answer.ts'
import { listenersReportedSchema } from './playout/listener-reports.ts'
import { playoutKeySchema } from './playout/playout-caller.ts'
import { connectedListenerSchema, listenerSummarySchema } from './stations/connected-listeners.ts'
import { hlsStreams } from './stations/hls-streams.ts'
import { mounts } from './stations/mounts.ts'
import { playReasonsSchema } from './stations/play-reasons.ts'
import { pollSchema } from './stations/polls.ts'
import { editableProfileSchema, stationProfileSchema } from './stations/profile.ts'
import { stationQuotaSchema } from './stations/quota.ts'
import { remotes } from './stations/remotes.ts'
import { bestAndWorstSchema, songReportSchema } from './stations/song-reports.ts'
import { stations } from './stations/stations.ts'
import { broadcastSchema } from './streamers/broadcasts.ts'
import { batchResultSchema, streamerBroadcastSchema } from './streamers/streamer-broadcasts.ts'
import { streamers } from './streamers/streamers.ts'
import { deliveryLogSchema, deliverySchema } from './webhooks/deliveries.ts'
import { redeliveredSchema } from './webhooks/redeliver.ts'
import { webhookTestSchema } from './webhooks/test.ts'
import { rotatedSecretSchema } from './webhooks/webhook-actions.ts'
import { webhooks } from './webhooks/webhooks.ts'

/** Every resource. */
export const resources: readonly ResourceBase[] = [
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
  ...sharedSchemas,
  ...Object.fromEntries(resources.map(each => [each.name, recordSchema(each)])),
  ListenToken: listenTokenSchema,
  Occupancy: occupancySchema,
  Upload: uploadSchema,
  FileRow: fileRowSchema,
  StationMount: recordSchema(mounts),
  ServiceStatus: serviceStatusSchema,
  StationProfile: stationProfileSchema,
  EditableProfile: editableProfileSchema,
  StationQuota: stationQuotaSchema,
  BulkImport: bulkImportSchema,
  BulkPreview: bulkPreviewSchema,
  UploadedFile: uploadedFileSchema,
  PlaylistQueueItem: playlistQueueSchema,
  CalendarEvent: calendarEventSchema,
  LogType: logTypeSchema,
  LogContents: logContentsSchema,
  StreamerBroadcast: streamerBroadcastSchema,
  BatchResult: batchResultSchema,
  Broadcast: broadcastSchema,
  Poll: pollSchema,
  PlayReasons: playReasonsSchema,
  SongReport: songReportSchema,
  BestAndWorst: bestAndWorstSchema,
  ConnectedListener: connectedListenerSchema,
  ListenerSummary: listenerSummarySchema,
  WebhookTest: webhookTestSchema,
  WebhookDelivery: deliverySchema,
  WebhookDeliveryLog: deliveryLogSchema,
  ListenersReported: listenersReportedSchema,
  Redelivered: redeliveredSchema,
  RotatedSecret: rotatedSecretSchema,
  PlayoutKey: playoutKeySchema,
  ScheduleSimulation: scheduleSimulationSchema,
  AuditEntry: auditEntrySchema,
  ApiKey: apiKeySchema,
  UserApiKey: userKeySchema,
  Settings: settingsSchema,
  DashboardStation: dashboardStationSchema,
  User: userSchema,
  Role: roleSchema,
  Invitation: invitationSchema,
  Article: articleSchema,
  Notification: notificationSchema
}

/** The routes of the OpenAPI document of these routes and of themselves. */
export function documentRoutes(documented: readonly ApiRoute[]): readonly ApiRoute[] {
  let json: string | null = null
  let yaml: Promise<string> | null = null
  const describeAll = (baseUrl: string) => describeApi([...documented, ...routes], records, baseUrl)

  /** The library is loaded on demand. Paths and schemas are rendered one by one. */
  async function renderDocument(baseUrl: string): Promise<string> {
    const { renderYaml } = await import('./core/yaml.ts')
    return renderYaml(describeAll(baseUrl), 3)
  }

  const routes: readonly ApiRoute[] = [
    apiRoute('GET', '/api/openapi.json', 'public', {
      id: 'getOpenApi',
      tag: 'Status',
      summary: 'This document',
      answer: { type: 'object' },
      handle: (_, { config }) => ({ body: (json ??= JSON.stringify(describeAll(config.BASE_URL))) })
    }),
    apiRoute('GET', '/api/openapi.yml', 'public', {
      id: 'getOpenApiYaml',
      tag: 'Status',
      summary: 'This document as YAML',
      answer: { type: 'string' },
      contentTypes: ['text/x-yaml'],
      handle: async (_, { config }) => ({
        body: await (yaml ??= renderDocument(config.BASE_URL)),
        headers: { 'Content-Type': 'text/x-yaml; charset=utf-8', 'Cache-Control': 'public, max-age=3600' }
      })
    })
  ]
  return routes
}
