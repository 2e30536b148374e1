import type { OperationDialect, RecordDialect } from './record-dialect.ts'
import { auditEntry } from './records/audit-entry.ts'
import { bestAndWorst } from './records/best-and-worst.ts'
import { broadcast } from './records/broadcast.ts'
import { connectedListener, listConnectedListeners } from './records/connected-listener.ts'
import { customField } from './records/custom-field.ts'
import { changeFiles, fileRow, listFolder } from './records/file-row.ts'
import { file } from './records/file.ts'
import { hlsStream } from './records/hls-stream.ts'
import { onDemandSong, requestableSong } from './records/listener-songs.ts'
import { mount } from './records/mount.ts'
import { listHistory, playedItem } from './records/played-item.ts'
import { getPlaylistOrder, reorderPlaylist } from './records/playlist-order.ts'
import { playlist } from './records/playlist.ts'
import { editableProfile, profileBody, stationProfile } from './records/profile.ts'
import { queueItem } from './records/queue-item.ts'
import { remote } from './records/remote.ts'
import { listPermissions, role } from './records/role.ts'
import { listSchedule } from './records/schedule.ts'
import { getSettingsGroup, settings } from './records/settings.ts'
import { sftpUser } from './records/sftp-user.ts'
import { listRequests, songRequest } from './records/song-request.ts'
import { withSong } from './records/song.ts'
import { stationSummary } from './records/station-summary.ts'
import { station } from './records/station.ts'
import { storageLocation } from './records/storage-location.ts'
import { streamer } from './records/streamer.ts'
import { user } from './records/user.ts'
import { testWebhook, webhook } from './records/webhook.ts'

/** What AzuraCast answers and takes, by the name of the record's schema. */
export const records: Readonly<Record<string, RecordDialect>> = {
  Playlist: playlist,
  StationFile: file,
  FileRow: fileRow,
  HlsStream: hlsStream,
  StationMount: mount,
  ConnectedListener: connectedListener,
  StationProfile: stationProfile,
  EditableProfile: editableProfile,
  Profile: profileBody,
  Remote: remote,
  Settings: settings,
  SettingsGeneral: settings,
  SettingsBranding: settings,
  SftpUser: sftpUser,
  Streamer: streamer,
  Broadcast: broadcast,
  Webhook: webhook,
  QueueItem: queueItem,
  PlayedItem: playedItem,
  RequestableSong: requestableSong,
  OnDemandSong: onDemandSong,
  SongRequest: songRequest,
  SongReport: withSong,
  BestAndWorst: bestAndWorst,
  StationSummary: stationSummary,
  AuditEntry: auditEntry,
  CustomField: customField,
  StorageLocation: storageLocation,
  Station: station,
  Role: role,
  User: user
}

/** What AzuraCast answers and takes beside records, by the id of the operation. */
export const operations: Readonly<Record<string, OperationDialect>> = {
  changeFiles,
  getPlaylistOrder,
  getSettingsBranding: getSettingsGroup,
  getSettingsGeneral: getSettingsGroup,
  listConnectedListeners,
  listFolder,
  listHistory,
  listPermissions,
  listRequests,
  listSchedule,
  reorderPlaylist,
  testWebhook
}
