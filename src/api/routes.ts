import type { JsonSchema } from '../fields/field.ts'
import { ApiError, codeOf, Overloaded } from '../runtime/errors.ts'
import { auditEntrySchema, auditLogRoute } from './admin/audit-log.ts'
import { customAssetRoutes } from './admin/custom-assets.ts'
import { debugRoutes } from './admin/debug.ts'
import { externalProgramRoutes } from './admin/external-programs.ts'
import { systemLogRoutes } from './admin/logs.ts'
import { articleSchema, newsRoutes } from './admin/news.ts'
import { notificationRoutes, notificationSchema } from './admin/notifications.ts'
import { prometheusRoute } from './admin/prometheus.ts'
import { queuesRoute } from './admin/queues.ts'
import { serverStatsRoute } from './admin/server-stats.ts'
import { serviceListRoute } from './admin/service-list.ts'
import { settingsRoutes, settingsSchema } from './admin/settings.ts'
import { sftpUserRoutes, sftpUsers } from './admin/sftp-users.ts'
import { statsRoute } from './admin/stats.ts'
import { statusRoutes } from './admin/status.ts'
import { storageLocationRoutes, storageLocations } from './admin/storage-locations.ts'
import { testMessageRoute } from './admin/test-message.ts'
import { apiKeyRoutes, apiKeySchema } from './auth/api-keys.ts'
import { withDialects } from './azuracast/with-dialects.ts'
import { fallbackRoutes, uploadedFileSchema } from './broadcasting/fallback.ts'
import { liquidsoapConfigRoutes } from './broadcasting/liquidsoap-config.ts'
import { logContentsSchema, logRoutes, logTypeSchema } from './broadcasting/logs.ts'
import { serviceRoutes, serviceStatusSchema } from './broadcasting/services.ts'
import { docsRoutes } from './core/docs.ts'
import { describeApi } from './core/openapi.ts'
import { recordSchema } from './core/resource-routes.ts'
import type { ResourceBase } from './core/resource.ts'
import { type ApiRoute, apiRoute, type Route } from './core/route.ts'
import { sharedSchemas } from './core/schemas.ts'
import type { ApiServices } from './core/services.ts'
import { chartRoutes } from './dashboard/charts.ts'
import { dashboardNotificationsRoute } from './dashboard/notifications.ts'
import { dashboardStationSchema, dashboardStationsRoute } from './dashboard/stations.ts'
import { artRoutes } from './library/art.ts'
import { bulkFileRoutes, bulkImportSchema, bulkPreviewSchema } from './library/bulk-files.ts'
import { customFieldRoutes, customFields } from './library/custom-fields.ts'
import { changeFiles } from './library/file-batches.ts'
import { fileContentRoutes } from './library/file-content.ts'
import { fileListRoutes, fileRowSchema } from './library/file-list.ts'
import { renameFile } from './library/file-renames.ts'
import { fileRoutes } from './library/file-routes.ts'
import { files } from './library/files.ts'
import { mediaArtRoutes } from './library/media-art.ts'
import { createFolder } from './library/media-folders.ts'
import { onDemandRoutes } from './library/on-demand.ts'
import { flowRoutes } from './library/uploads/flow-uploads.ts'
import { tusRoutes, uploadSchema } from './library/uploads/tus-uploads.ts'
import { waveformUploadRoute } from './library/waveform-upload.ts'
import { waveformRoute } from './library/waveform.ts'
import { listenTokenRoutes, listenTokenSchema } from './now-playing/listen-tokens.ts'
import { liveRoutes } from './now-playing/live.ts'
import { nowPlayingList } from './now-playing/now-playing-list.ts'
import { nowPlayingUpdateRoutes } from './now-playing/now-playing-update.ts'
import { nowPlayingRoutes } from './now-playing/now-playing.ts'
import { occupancyRoute, occupancySchema } from './now-playing/occupancy.ts'
import { outOfScopeRoutes } from './out-of-scope.ts'
import { accountRoutes } from './people/account.ts'
import { invitationRoutes, invitationSchema } from './people/invitations.ts'
import { ownKeyRoutes } from './people/own-keys.ts'
import { passkeyRoutes } from './people/passkeys.ts'
import { roleRoutes, roleSchema } from './people/roles.ts'
import { sessionRoutes } from './people/sessions.ts'
import { signInRoutes } from './people/sign-in.ts'
import { userKeyAdminRoutes } from './people/user-key-admin.ts'
import { userKeySchema } from './people/user-keys.ts'
import { userRoutes, userSchema } from './people/users.ts'
import { calendarEventSchema, calendarRoutes } from './playlists/calendars.ts'
import { playlistActionRoutes } from './playlists/playlist-actions.ts'
import { playlistCopyRoutes } from './playlists/playlist-copies.ts'
import { playlistFileRoutes } from './playlists/playlist-files.ts'
import { playlistFolderRoutes } from './playlists/playlist-folders.ts'
import { playlistQueueRoutes, playlistQueueSchema } from './playlists/playlist-queue.ts'
import { playlistRoutes, playlists } from './playlists/playlists.ts'
import { scheduleSimulationRoutes } from './playlists/schedule-simulation.ts'
import { scheduleRoute } from './playlists/schedule.ts'
import { scheduleSimulationSchema } from './playlists/simulation-answer.ts'
import { autocueRoute } from './playout/autocue.ts'
import { liquidsoapCommandRoutes } from './playout/liquidsoap-commands.ts'
import { liquidsoapLiveRoutes } from './playout/liquidsoap-live.ts'
import { liquidsoapRoutes, liquidsoapScriptRoutes } from './playout/liquidsoap.ts'
import { listenerReportRoutes, listenersReportedSchema } from './playout/listener-reports.ts'
import { playoutKeyRoute, playoutKeySchema } from './playout/playout-caller.ts'
import { playoutRoutes } from './playout/playout.ts'
import { songAudioRoutes } from './playout/song-audio.ts'
import { queuePreviewRoute } from './queue/queue-preview.ts'
import { queueRoutes } from './queue/queue.ts'
import { requestReportRoutes } from './queue/request-reports.ts'
import { requestByLinkRoute, requestRoutes } from './queue/requests.ts'
import { audienceErasureRoute } from './reports/audience-erasure.ts'
import { audienceRoutes } from './reports/audience.ts'
import { listenerChartsRoute } from './reports/listener-charts.ts'
import { listenerOverviewRoutes } from './reports/listener-overview.ts'
import { soundExchangeRoute } from './reports/sound-exchange.ts'
import { cloneStationRoute } from './stations/clone.ts'
import {
  connectedListenerRoutes,
  connectedListenerSchema,
  listenerSummarySchema
} from './stations/connected-listeners.ts'
import { historyRoute } from './stations/history.ts'
import { hlsStreamRoutes, hlsStreams } from './stations/hls-streams.ts'
import { listenerSeriesRoute } from './stations/listener-series.ts'
import { mountRoutes, mounts } from './stations/mounts.ts'
import { playReasonsRoute, playReasonsSchema } from './stations/play-reasons.ts'
import { pollRoute, pollSchema } from './stations/polls.ts'
import { editableProfileSchema, profileRoutes, stationProfileSchema } from './stations/profile.ts'
import { quotaRoutes, stationQuotaSchema } from './stations/quota.ts'
import { relayRedirects, relayRoutes } from './stations/relays.ts'
import { remoteRoutes, remotes } from './stations/remotes.ts'
import { bestAndWorstSchema, songReportRoutes, songReportSchema } from './stations/song-reports.ts'
import { stationRoutes, stations } from './stations/stations.ts'
import { storageChoicesRoute } from './stations/storage-choices.ts'
import { broadcastRoute, broadcastSchema } from './streamers/broadcasts.ts'
import { streamerArtRoutes } from './streamers/streamer-art.ts'
import {
  batchResultSchema,
  streamerBroadcastRoutes,
  streamerBroadcastSchema
} from './streamers/streamer-broadcasts.ts'
import { streamerRoutes, streamers } from './streamers/streamers.ts'
import { deliveryLogSchema, deliverySchema, webhookDeliveryRoutes } from './webhooks/deliveries.ts'
import { redeliveredSchema, webhookRedeliverRoutes } from './webhooks/redeliver.ts'
import { webhookTestLogRoutes } from './webhooks/test-log.ts'
import { webhookTestRoute, webhookTestSchema } from './webhooks/test.ts'
import { rotatedSecretSchema, webhookActionRoutes } from './webhooks/webhook-actions.ts'
import { webhookRoutes, webhooks } from './webhooks/webhooks.ts'

const documented: readonly ApiRoute[] = [
  nowPlayingList,
  ...nowPlayingRoutes,
  ...liveRoutes,
  ...listenTokenRoutes,
  occupancyRoute,
  ...artRoutes,
  ...playlistRoutes,
  ...playlistFileRoutes,
  ...fileRoutes,
  ...tusRoutes,
  ...flowRoutes,
  ...fileListRoutes,
  ...bulkFileRoutes,
  renameFile,
  createFolder,
  changeFiles,
  ...fileContentRoutes,
  ...mediaArtRoutes,
  waveformRoute,
  waveformUploadRoute,
  ...hlsStreamRoutes,
  ...mountRoutes,
  ...remoteRoutes,
  pollRoute,
  ...serviceRoutes,
  ...profileRoutes,
  ...quotaRoutes,
  ...logRoutes,
  ...fallbackRoutes,
  ...liquidsoapConfigRoutes,
  ...sftpUserRoutes,
  ...streamerRoutes,
  ...streamerArtRoutes,
  broadcastRoute,
  ...streamerBroadcastRoutes,
  ...queueRoutes,
  historyRoute,
  playReasonsRoute,
  ...songReportRoutes,
  listenerChartsRoute,
  ...listenerOverviewRoutes,
  ...audienceRoutes,
  audienceErasureRoute,
  soundExchangeRoute,
  ...requestRoutes,
  ...requestReportRoutes,
  ...onDemandRoutes,
  scheduleRoute,
  ...scheduleSimulationRoutes,
  ...playlistActionRoutes,
  ...playlistCopyRoutes,
  ...playlistFolderRoutes,
  ...playlistQueueRoutes,
  ...calendarRoutes,
  queuePreviewRoute,
  ...playoutRoutes,
  ...listenerReportRoutes,
  listenerSeriesRoute,
  ...connectedListenerRoutes,
  ...nowPlayingUpdateRoutes,
  playoutKeyRoute,
  ...liquidsoapRoutes,
  ...songAudioRoutes,
  ...liquidsoapLiveRoutes,
  ...liquidsoapCommandRoutes,
  autocueRoute,
  ...liquidsoapScriptRoutes,
  ...webhookRoutes,
  ...webhookActionRoutes,
  webhookTestRoute,
  ...webhookTestLogRoutes,
  ...webhookDeliveryRoutes,
  ...webhookRedeliverRoutes,
  ...customFieldRoutes,
  ...storageLocationRoutes,
  ...stationRoutes,
  cloneStationRoute,
  storageChoicesRoute,
  ...relayRoutes,
  auditLogRoute,
  ...settingsRoutes,
  ...customAssetRoutes,
  testMessageRoute,
  ...externalProgramRoutes,
  ...systemLogRoutes,
  ...apiKeyRoutes,
  ...userKeyAdminRoutes,
  ...userRoutes,
  ...roleRoutes,
  ...invitationRoutes,
  ...accountRoutes,
  ...ownKeyRoutes,
  ...sessionRoutes,
  ...signInRoutes,
  ...passkeyRoutes,
  ...newsRoutes,
  ...notificationRoutes,
  statsRoute,
  ...statusRoutes,
  queuesRoute,
  serverStatsRoute,
  serviceListRoute,
  prometheusRoute,
  ...debugRoutes,
  dashboardStationsRoute,
  dashboardNotificationsRoute,
  ...chartRoutes
]

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

const openApi: ApiRoute = apiRoute('GET', '/api/openapi.json', 'public', {
  id: 'getOpenApi',
  tag: 'Status',
  summary: 'This document',
  answer: { type: 'object' },
  handle: (_, { config }) => ({ body: (document ??= JSON.stringify(describeAll(config.BASE_URL))) })
})

const openApiYaml: ApiRoute = apiRoute('GET', '/api/openapi.yml', 'public', {
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

/** The library is loaded on demand. Paths and schemas are rendered one by one. */
async function renderDocument(baseUrl: string): Promise<string> {
  const { renderYaml } = await import('./core/yaml.ts')
  return renderYaml(describeAll(baseUrl), 3)
}

const describeAll = (baseUrl: string) => describeApi([...documented, openApi, openApiYaml], records, baseUrl)

let document: string | null = null
let yaml: Promise<string> | null = null

/** Postgres: deadlock, serialization failure, and a reference that was deleted or inserted meanwhile. */
const conflictCodes = new Set(['40P01', '40001', '23503'])
/** Postgres: a lock timeout. */
const lockTimeoutCode = '55P03'
const retryAfterSeconds = 5

/** The same route, with a 409 for a conflict with a concurrent write, and a 503 for a lock timeout. */
function withContentionErrors(route: Route<ApiServices>): Route<ApiServices> {
  if (route.method === 'GET' && !route.changes) return route
  return {
    ...route,
    handle: async (request, services) => {
      try {
        return await route.handle(request, services)
      } catch (error) {
        const code = codeOf(error)
        if (conflictCodes.has(code))
          throw new ApiError('conflict', 'Conflict with a concurrent change: try again.')
        if (code === lockTimeoutCode)
          throw new Overloaded(retryAfterSeconds, 'A concurrent change takes too long: try again later.')
        throw error
      }
    }
  }
}

/** Every route of the API. */
export const apiRoutes: readonly Route<ApiServices>[] = [
  ...documented.map(route => withContentionErrors(withDialects(route))),
  withContentionErrors(requestByLinkRoute),
  openApi,
  openApiYaml,
  ...relayRedirects,
  ...outOfScopeRoutes,
  ...docsRoutes
]
