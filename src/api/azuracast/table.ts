import type { JsonSchema } from '../../model/fields/field.ts'
import type { RecordName } from '../core/record-names.ts'
import type { OperationDialect, RecordDialect } from './record-dialect.ts'
import { customField } from './records/library/custom-field.ts'
import { changeFiles, fileRow, listFolder } from './records/library/file-row.ts'
import { fileTable } from './records/library/file-table.ts'
import { file, fileInPath } from './records/library/file.ts'
import { onDemandSong, requestableSong } from './records/library/listener-songs.ts'
import { getPlaylistOrder, reorderPlaylist } from './records/library/playlist-order.ts'
import { playlist } from './records/library/playlist.ts'
import { queueItem } from './records/library/queue-item.ts'
import { listSchedule, scheduleEntry } from './records/library/schedule.ts'
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
import { nowPlaying, nowPlayingParts } from './records/stations/now-playing.ts'
import { editableProfile, stationProfile } from './records/stations/profile.ts'
import { remote } from './records/stations/remote.ts'
import { getSettingsGroup, settings, settingsGroup } from './records/stations/settings.ts'
import { stationSummary } from './records/stations/station-summary.ts'
import { station } from './records/stations/station.ts'
import { storageLocation } from './records/stations/storage-location.ts'
import { streamKinds } from './records/stations/stream-kinds.ts'
import { testWebhook, webhook } from './records/stations/webhook.ts'

/** What AzuraCast answers and takes for each record. */
export const records: Readonly<Record<RecordName, RecordDialect>> = {
  AuditEntry: auditEntry,
  BestAndWorst: bestAndWorst,
  Broadcast: broadcast,
  ConnectedListener: connectedListener,
  CustomField: customField,
  DashboardStation: nowPlaying,
  DetailedPlay: playedItem,
  EditableProfile: editableProfile,
  FileRow: fileRow,
  HlsStream: hlsStream,
  NowPlaying: nowPlaying,
  NowPlayingEvent: nowPlaying,
  OnDemandSong: onDemandSong,
  Playlist: playlist,
  QueueItem: queueItem,
  Remote: remote,
  RequestableSong: requestableSong,
  Role: role,
  ScheduleEntry: scheduleEntry,
  Settings: settings,
  SettingsBranding: settingsGroup,
  SettingsGeneral: settingsGroup,
  SftpUser: sftpUser,
  SongReport: withSong,
  SongRequest: songRequest,
  Station: station,
  StationFile: file,
  StationMount: mount,
  StationProfile: stationProfile,
  StationSummary: stationSummary,
  StorageLocation: storageLocation,
  Streamer: streamer,
  StreamerBroadcast: streamerBroadcast,
  User: user,
  Webhook: webhook
}

/** What AzuraCast answers and takes beside records, by the id of the operation. */
export const operations: Readonly<Record<string, OperationDialect>> = {
  ...fileTable,
  ...streamKinds,
  changeFiles,
  deleteStationFile: fileInPath,
  editStationFile: fileInPath,
  getPlaylistOrder,
  getSettingsBranding: getSettingsGroup,
  getSettingsGeneral: getSettingsGroup,
  getStationFile: fileInPath,
  listConnectedListeners,
  listFolder,
  listHistory,
  listPermissions,
  listRequests,
  listSchedule,
  reorderPlaylist,
  testWebhook
}

/** How the shared schemas of parts of records differ. */
export const parts: Readonly<Record<string, (documented: JsonSchema) => JsonSchema>> = nowPlayingParts
