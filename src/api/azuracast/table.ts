import { auditEntry } from './audit-entry.ts'
import { broadcast } from './broadcast.ts'
import { connectedListener } from './connected-listener.ts'
import { customField } from './custom-field.ts'
import { changeFiles, fileRow, listFolder } from './file-row.ts'
import { file } from './file.ts'
import { hlsStream } from './hls-stream.ts'
import { onDemandSong, requestableSong } from './listener-songs.ts'
import { mount } from './mount.ts'
import { listHistory, playedItem } from './played-item.ts'
import { getPlaylistOrder, reorderPlaylist } from './playlist-order.ts'
import { playlist } from './playlist.ts'
import { editableProfile, profileBody, stationProfile } from './profile.ts'
import { queueItem } from './queue-item.ts'
import type { OperationDialect, RecordDialect } from './record-dialect.ts'
import { remote } from './remote.ts'
import { listPermissions, role } from './role.ts'
import { listSchedule } from './schedule.ts'
import { sftpUser } from './sftp-user.ts'
import { listRequests, songRequest } from './song-request.ts'
import { stationSummary } from './station-summary.ts'
import { station } from './station.ts'
import { storageLocation } from './storage-location.ts'
import { streamer } from './streamer.ts'
import { user } from './user.ts'
import { testWebhook, webhook } from './webhook.ts'

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
  SftpUser: sftpUser,
  Streamer: streamer,
  Broadcast: broadcast,
  Webhook: webhook,
  QueueItem: queueItem,
  PlayedItem: playedItem,
  RequestableSong: requestableSong,
  OnDemandSong: onDemandSong,
  SongRequest: songRequest,
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
  listFolder,
  listHistory,
  listPermissions,
  listRequests,
  listSchedule,
  reorderPlaylist,
  testWebhook
}
