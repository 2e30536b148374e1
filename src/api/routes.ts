import { auditLogRoute } from './admin/audit-log.ts'
import { installationChecksRoute } from './admin/checks.ts'
import { customAssetRoutes } from './admin/custom-assets.ts'
import { debugRoutes } from './admin/debug.ts'
import { externalProgramRoutes } from './admin/external-programs.ts'
import { systemLogRoutes } from './admin/logs.ts'
import { newsRoutes } from './admin/news.ts'
import { notificationRoutes } from './admin/notifications.ts'
import { prometheusRoute } from './admin/prometheus.ts'
import { jobQueuesRoute } from './admin/queues.ts'
import { serverStatsRoute } from './admin/server-stats.ts'
import { serviceListRoute } from './admin/service-list.ts'
import { settingsRoutes } from './admin/settings.ts'
import { sftpUserRoutes } from './admin/sftp-users.ts'
import { statsRoute } from './admin/stats.ts'
import { statusRoutes } from './admin/status.ts'
import { storageLocationRoutes } from './admin/storage-locations.ts'
import { testMailRoute } from './admin/test-message.ts'
import { apiKeyRoutes } from './auth/api-keys.ts'
import { outOfScopeRoutes } from './azuracast/out-of-scope.ts'
import { requestByLinkRoute } from './azuracast/request-by-link.ts'
import { azuracastOpenApiDialect, withDialects } from './azuracast/with-dialects.ts'
import { fallbackTrackRoutes } from './broadcasting/fallback.ts'
import { liquidsoapConfigRoutes } from './broadcasting/liquidsoap-config.ts'
import { stationLogRoutes } from './broadcasting/logs.ts'
import { stationServiceRoutes } from './broadcasting/services.ts'
import { docsRoutes } from './core/docs.ts'
import type { ApiRoute, HandledRoute } from './core/route.ts'
import { dashboardChartRoutes } from './dashboard/charts.ts'
import { dashboardNotificationsRoute } from './dashboard/notifications.ts'
import { dashboardStationsRoute } from './dashboard/stations.ts'
import { artRoutes } from './library/art.ts'
import { customFieldRoutes } from './library/custom-fields.ts'
import { changeFilesRoute } from './library/file-batches.ts'
import { fileContentRoutes } from './library/file-content.ts'
import { fileListRoutes } from './library/file-list.ts'
import { renameFileRoute } from './library/file-renames.ts'
import { fileRoutes } from './library/file-routes.ts'
import { mediaArtRoutes } from './library/media-art.ts'
import { createFolderRoute } from './library/media-folders.ts'
import { onDemandRoutes } from './library/on-demand.ts'
import { fileTableRoutes } from './library/table/table-routes.ts'
import { flowRoutes } from './library/uploads/flow-uploads.ts'
import { tusRoutes } from './library/uploads/tus-uploads.ts'
import { waveformUploadRoute } from './library/waveform-upload.ts'
import { waveformRoute } from './library/waveform.ts'
import { listenTokenRoutes } from './now-playing/listen-tokens.ts'
import { liveProtocolRoutes } from './now-playing/live-protocol-routes.ts'
import { nowPlayingListRoute } from './now-playing/now-playing-list.ts'
import { nowPlayingUpdateRoutes } from './now-playing/now-playing-update.ts'
import { nowPlayingRoutes } from './now-playing/now-playing.ts'
import { occupancyRoute } from './now-playing/occupancy.ts'
import { openApiDocumentRoutes } from './openapi-document.ts'
import { ownAccountRoutes } from './people/account.ts'
import { invitationRoutes } from './people/invitations.ts'
import { ownKeyRoutes } from './people/own-keys.ts'
import { passkeyRoutes } from './people/passkeys.ts'
import { roleRoutes } from './people/roles.ts'
import { signInSessionRoutes } from './people/sessions.ts'
import { signInRoutes } from './people/sign-in.ts'
import { userKeyAdminRoutes } from './people/user-key-admin.ts'
import { userRoutes } from './people/users.ts'
import { calendarRoutes } from './playlists/calendars.ts'
import { playlistActionRoutes } from './playlists/playlist-actions.ts'
import { playlistCopyRoutes } from './playlists/playlist-copies.ts'
import { playlistEntryRoutes } from './playlists/playlist-entries.ts'
import { playlistFileRoutes } from './playlists/playlist-files.ts'
import { playlistFolderRoutes } from './playlists/playlist-folders.ts'
import { playlistQueueRoutes } from './playlists/playlist-queue.ts'
import { playlistRoutes } from './playlists/playlists.ts'
import { scheduleSimulationRoutes } from './playlists/schedule-simulation.ts'
import { scheduleRoute } from './playlists/schedule.ts'
import { autocueRoute } from './playout/autocue.ts'
import { liquidsoapCommandRoutes } from './playout/liquidsoap-commands.ts'
import { liquidsoapLiveRoutes } from './playout/liquidsoap-live.ts'
import { liquidsoapSongRoutes, liquidsoapScriptRoutes } from './playout/liquidsoap.ts'
import { listenerReportRoutes } from './playout/listener-reports.ts'
import { playoutKeyRoute } from './playout/playout-caller.ts'
import { skipSongRoutes } from './playout/playout.ts'
import { songAudioRoutes } from './playout/song-audio.ts'
import { queuePreviewRoute } from './queue/queue-preview.ts'
import { queueRoutes } from './queue/queue.ts'
import { requestReportRoutes } from './queue/request-reports.ts'
import { requestRoutes } from './queue/requests.ts'
import { audienceRoutes } from './reports/audience.ts'
import { deleteAudienceRoute } from './reports/delete-audience.ts'
import { listenerChartsRoute } from './reports/listener-charts.ts'
import { listenerOverviewRoutes } from './reports/listener-overview.ts'
import { soundExchangeRoute } from './reports/sound-exchange.ts'
import { cloneStationRoute } from './stations/clone.ts'
import { connectedListenerRoutes } from './stations/connected-listeners.ts'
import { historyRoute } from './stations/history.ts'
import { hlsStreamRoutes } from './stations/hls-streams.ts'
import { listenerSeriesRoute } from './stations/listener-series.ts'
import { mountRoutes } from './stations/mounts.ts'
import { playReasonsRoute } from './stations/play-reasons.ts'
import { pollListRoute } from './stations/polls.ts'
import { profileRoutes } from './stations/profile.ts'
import { quotaRoutes } from './stations/quota.ts'
import { relayRedirects, relayRoutes } from './stations/relays.ts'
import { remoteRoutes } from './stations/remotes.ts'
import { songReportRoutes } from './stations/song-reports.ts'
import { stationRoutes } from './stations/stations.ts'
import { storageChoicesRoute } from './stations/storage-choices.ts'
import { broadcastListRoute } from './streamers/broadcasts.ts'
import { streamerArtRoutes } from './streamers/streamer-art.ts'
import { streamerBroadcastRoutes } from './streamers/streamer-broadcasts.ts'
import { streamerRoutes } from './streamers/streamers.ts'
import { webhookDeliveryRoutes } from './webhooks/deliveries.ts'
import { webhookRedeliverRoutes } from './webhooks/redeliver.ts'
import { webhookTestLogRoutes } from './webhooks/test-log.ts'
import { webhookTestRoute } from './webhooks/test.ts'
import { webhookActionRoutes } from './webhooks/webhook-actions.ts'
import { webhookRoutes } from './webhooks/webhooks.ts'

const described: readonly ApiRoute[] = withDialects([
  nowPlayingListRoute,
  ...nowPlayingRoutes,
  ...liveProtocolRoutes,
  ...listenTokenRoutes,
  occupancyRoute,
  ...artRoutes,
  ...playlistRoutes,
  ...playlistFileRoutes,
  ...fileRoutes,
  ...tusRoutes,
  ...flowRoutes,
  ...fileListRoutes,
  ...fileTableRoutes,
  renameFileRoute,
  createFolderRoute,
  changeFilesRoute,
  ...fileContentRoutes,
  ...mediaArtRoutes,
  waveformRoute,
  waveformUploadRoute,
  ...hlsStreamRoutes,
  ...mountRoutes,
  ...remoteRoutes,
  pollListRoute,
  ...stationServiceRoutes,
  ...profileRoutes,
  ...quotaRoutes,
  ...stationLogRoutes,
  ...fallbackTrackRoutes,
  ...liquidsoapConfigRoutes,
  ...sftpUserRoutes,
  ...streamerRoutes,
  ...streamerArtRoutes,
  broadcastListRoute,
  ...streamerBroadcastRoutes,
  ...queueRoutes,
  historyRoute,
  playReasonsRoute,
  ...songReportRoutes,
  listenerChartsRoute,
  ...listenerOverviewRoutes,
  ...audienceRoutes,
  deleteAudienceRoute,
  soundExchangeRoute,
  ...requestRoutes,
  ...requestReportRoutes,
  ...onDemandRoutes,
  scheduleRoute,
  ...scheduleSimulationRoutes,
  ...playlistActionRoutes,
  ...playlistEntryRoutes,
  ...playlistCopyRoutes,
  ...playlistFolderRoutes,
  ...playlistQueueRoutes,
  ...calendarRoutes,
  queuePreviewRoute,
  ...skipSongRoutes,
  ...listenerReportRoutes,
  listenerSeriesRoute,
  ...connectedListenerRoutes,
  ...nowPlayingUpdateRoutes,
  playoutKeyRoute,
  ...liquidsoapSongRoutes,
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
  testMailRoute,
  ...externalProgramRoutes,
  ...systemLogRoutes,
  ...apiKeyRoutes,
  ...userKeyAdminRoutes,
  ...userRoutes,
  ...roleRoutes,
  ...invitationRoutes,
  ...ownAccountRoutes,
  ...ownKeyRoutes,
  ...signInSessionRoutes,
  ...signInRoutes,
  ...passkeyRoutes,
  ...newsRoutes,
  ...notificationRoutes,
  statsRoute,
  ...statusRoutes,
  jobQueuesRoute,
  serverStatsRoute,
  serviceListRoute,
  installationChecksRoute,
  prometheusRoute,
  ...debugRoutes,
  dashboardStationsRoute,
  dashboardNotificationsRoute,
  ...dashboardChartRoutes
])

/** Every route of the API. */
export const apiRoutes: readonly HandledRoute[] = [
  ...described,
  requestByLinkRoute,
  ...openApiDocumentRoutes(described, [azuracastOpenApiDialect]),
  ...relayRedirects,
  ...outOfScopeRoutes,
  ...docsRoutes
]
