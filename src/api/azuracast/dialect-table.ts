import type { JsonSchema } from '../../model/fields/field.ts'
import type { RecordName } from '../core/record-names.ts'
import type { OperationDialect, RecordDialect } from './record-dialect.ts'
import { customFieldDialect } from './records/library/custom-field.ts'
import { changeFilesDialect, fileRowDialect, listFolderDialect } from './records/library/file-row.ts'
import { fileTableDialects } from './records/library/file-table.ts'
import { fileDialect, fileInPathDialect } from './records/library/file.ts'
import { onDemandSongDialect, requestableSongDialect } from './records/library/listener-songs.ts'
import { getPlaylistOrderDialect, reorderPlaylistDialect } from './records/library/playlist-order.ts'
import { playlistDialect } from './records/library/playlist.ts'
import { queueItemDialect } from './records/library/queue-item.ts'
import { listScheduleDialect, scheduleEntryDialect } from './records/library/schedule.ts'
import { listRequestsDialect, songRequestDialect } from './records/library/song-request.ts'
import { recordWithSongDialect } from './records/library/song.ts'
import { broadcastDialect, streamerBroadcastDialect } from './records/people/broadcast.ts'
import { listPermissionsDialect, roleDialect } from './records/people/role.ts'
import { sftpUserDialect } from './records/people/sftp-user.ts'
import { streamerDialect } from './records/people/streamer.ts'
import { userDialect } from './records/people/user.ts'
import { auditEntryDialect } from './records/reports/audit-entry.ts'
import { bestAndWorstDialect } from './records/reports/best-and-worst.ts'
import {
  connectedListenerDialect,
  listConnectedListenersDialect
} from './records/reports/connected-listener.ts'
import { listHistoryDialect, playedItemDialect } from './records/reports/played-item.ts'
import { hlsStreamDialect } from './records/stations/hls-stream.ts'
import { mountDialect } from './records/stations/mount.ts'
import { nowPlayingDialect, nowPlayingSchemaChanges } from './records/stations/now-playing.ts'
import { editableProfileDialect, stationProfileDialect } from './records/stations/profile.ts'
import { remoteDialect } from './records/stations/remote.ts'
import {
  getSettingsGroupDialect,
  settingsDialect,
  settingsGroupDialect
} from './records/stations/settings.ts'
import { stationSummaryDialect } from './records/stations/station-summary.ts'
import { stationDialect } from './records/stations/station.ts'
import { storageLocationDialect } from './records/stations/storage-location.ts'
import { streamKindDialects } from './records/stations/stream-kinds.ts'
import { testWebhookDialect, webhookDialect } from './records/stations/webhook.ts'

/** What AzuraCast answers and takes for each record. */
export const recordDialects: Readonly<Record<RecordName, RecordDialect>> = {
  AuditEntry: auditEntryDialect,
  BestAndWorst: bestAndWorstDialect,
  Broadcast: broadcastDialect,
  ConnectedListener: connectedListenerDialect,
  CustomField: customFieldDialect,
  DashboardStation: nowPlayingDialect,
  DetailedPlay: playedItemDialect,
  EditableProfile: editableProfileDialect,
  FileRow: fileRowDialect,
  HlsStream: hlsStreamDialect,
  NowPlaying: nowPlayingDialect,
  NowPlayingEvent: nowPlayingDialect,
  OnDemandSong: onDemandSongDialect,
  Playlist: playlistDialect,
  QueueItem: queueItemDialect,
  Remote: remoteDialect,
  RequestableSong: requestableSongDialect,
  Role: roleDialect,
  ScheduleEntry: scheduleEntryDialect,
  Settings: settingsDialect,
  SettingsBranding: settingsGroupDialect,
  SettingsGeneral: settingsGroupDialect,
  SftpUser: sftpUserDialect,
  SongReport: recordWithSongDialect,
  SongRequest: songRequestDialect,
  Station: stationDialect,
  StationFile: fileDialect,
  StationMount: mountDialect,
  StationProfile: stationProfileDialect,
  StationSummary: stationSummaryDialect,
  StorageLocation: storageLocationDialect,
  Streamer: streamerDialect,
  StreamerBroadcast: streamerBroadcastDialect,
  User: userDialect,
  Webhook: webhookDialect
}

/** What AzuraCast answers and takes beside records, by the id of the operation. */
export const operationDialects: Readonly<Record<string, OperationDialect>> = {
  ...fileTableDialects,
  ...streamKindDialects,
  changeFiles: changeFilesDialect,
  deleteStationFile: fileInPathDialect,
  editStationFile: fileInPathDialect,
  getPlaylistOrder: getPlaylistOrderDialect,
  getSettingsBranding: getSettingsGroupDialect,
  getSettingsGeneral: getSettingsGroupDialect,
  getStationFile: fileInPathDialect,
  listConnectedListeners: listConnectedListenersDialect,
  listFolder: listFolderDialect,
  listHistory: listHistoryDialect,
  listPermissions: listPermissionsDialect,
  listRequests: listRequestsDialect,
  listSchedule: listScheduleDialect,
  reorderPlaylist: reorderPlaylistDialect,
  testWebhook: testWebhookDialect
}

/** How the shared schemas of parts of records differ. */
export const partSchemaChanges: Readonly<Record<string, (documented: JsonSchema) => JsonSchema>> =
  nowPlayingSchemaChanges
