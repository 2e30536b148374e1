import type { OperationDialect, RecordDialect } from './record-dialect.ts'
import { customField } from './records/library/custom-field.ts'
import { changeFiles, fileRow, listFolder } from './records/library/file-row.ts'
import { file } from './records/library/file.ts'
import { onDemandSong, requestableSong } from './records/library/listener-songs.ts'
import { getPlaylistOrder, reorderPlaylist } from './records/library/playlist-order.ts'
import { playlist } from './records/library/playlist.ts'
import { queueItem } from './records/library/queue-item.ts'
import { listSchedule } from './records/library/schedule.ts'
import { listRequests, songRequest } from './records/library/song-request.ts'
import { withSong } from './records/library/song.ts'
import { broadcast, streamerBroadcast } from './records/people/broadcast.ts'
import { listPermissions, role } from './records/people/role.ts'
import { sftpUser } from './records/people/sftp-user.ts'
import { streamer } from './records/people/streamer.ts'
import { user } from './records/people/user.ts'
import { auditEntry } from './records/reports/audit-entry.ts'
import { bestAndWorst } from './records/reports/best-and-worst.ts'
import { connectedListener, listConnectedListeners } from './records/reports/connected-listener.ts'
import { listHistory, playedItem } from './records/reports/played-item.ts'
import { hlsStream } from './records/stations/hls-stream.ts'
import { mount } from './records/stations/mount.ts'
import { editableProfile, profileBody, stationProfile } from './records/stations/profile.ts'
import { remote } from './records/stations/remote.ts'
import { getSettingsGroup, settings } from './records/stations/settings.ts'
import { stationSummary } from './records/stations/station-summary.ts'
import { station } from './records/stations/station.ts'
import { storageLocation } from './records/stations/storage-location.ts'
import { testWebhook, webhook } from './records/stations/webhook.ts'

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
  StreamerBroadcast: streamerBroadcast,
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
