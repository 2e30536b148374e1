import { customFields } from '../../api/library/custom-fields.ts'
import { playlists } from '../../api/playlists/playlists.ts'
import { hlsStreams } from '../../api/stations/hls-streams.ts'
import { remotes } from '../../api/stations/remotes.ts'
import { stations } from '../../api/stations/stations.ts'
import { streamers } from '../../api/streamers/streamers.ts'
import { webhooks } from '../../api/webhooks/webhooks.ts'
import { type Fields, isWebAddress } from '../../model/fields/field.ts'
import { maxAmplifyDb } from '../../model/songs/cue-points.ts'
import { uniqueIdPattern, maxLengths } from '../../model/songs/song.ts'
import { configWithoutCredentials, hookHasCredential } from '../../upkeep/archives/sealed-values.ts'
import {
  audioFileName,
  columnsOf,
  folderPath,
  id,
  line,
  lines,
  list,
  matching,
  maxInteger,
  moment,
  number,
  optional,
  passwordHash,
  sha256,
  songId,
  songPath,
  timestamp,
  truth,
  value,
  whole,
  word
} from './station-columns.ts'
import { findHookAddresses, withoutHookSecrets } from './station-hooks.ts'

/** A row of the file by column, as JSON. Bytes are left out. */
export type StagedRow = Readonly<Record<string, unknown>>

/** A table with rows of a station, in the order in which they are imported. */
export interface StationTable {
  readonly name: string
  /** SQL: which rows `t` belong to the station; `$ID` is its id. */
  readonly where: string
  /** The columns that are exported and imported, with what they may hold. */
  readonly columns: Fields
  /**
   * Columns that are neither: counts, states, credentials and what belongs to the installation. They get their
   * defaults.
   */
  readonly without?: readonly string[]
  /** SQL of columns that are exported in another form; `$FOLDER` is that of the songs, with a slash at its end. */
  readonly exportedAs?: Readonly<Record<string, string>>
  /** Columns with ids of other exported rows, and their tables. */
  readonly references?: Readonly<Record<string, string>>
  /** SQL of columns of imported rows `s`, instead of their values. */
  readonly importedAs?: Readonly<Record<string, string>>
  /** The column whose value identifies a row in every installation; rows that are there are used. */
  readonly sharedBy?: string
  /**
   * The columns of a picture: its bytes, and what follows from them. A picture that `isKey` is identified by its hash.
   */
  readonly picture?: {
    readonly bytes: string
    readonly type: string
    readonly hash: string
    readonly isKey: boolean
  }
  /**
   * Completes the check of a row whose columns are valid. Returns it as it is stored, or a column and what is wrong
   * with it.
   */
  readonly accept?: (row: StagedRow) => StagedRow | { readonly column: string; readonly sentence: string }
  /** The addresses in a row that this installation will request. */
  readonly addresses?: (row: StagedRow) => readonly { readonly column: string; readonly url: string }[]
}

const ofStation = 't.station_id = $ID'
const ofPlaylist = 't.playlist_id in (select id from playlists where station_id = $ID)'
const ofMedia = 't.media_id in (select id from media where station_id = $ID)'

const newScheduleItems = `(
  select coalesce(jsonb_agg(item || jsonb_build_object('id', nextval('schedule_item_ids')) order by place), '[]')
  from jsonb_array_elements(s.schedule_items) with ordinality items (item, place))`

const isBelowFolder = (path: string) => `($FOLDER <> '' and starts_with(${path}, $FOLDER))`

/** SQL: the path below the folder of the songs that a song `t` outside of it gets in another installation. */
const importedPath = `'imported/' || left(md5(t.path), 12) || '-' || substring(t.path from '[^/]*$')`

/** SQL: whether the file of a song is on this machine, outside of the folder of the songs. */
export const isOutside = (table: string) =>
  `(starts_with(${table}.path, '/') and not ${isBelowFolder(`${table}.path`)})`

/** SQL: the path of a song `t` in the file. Paths of this machine mean nothing in another installation. */
export const exportedPath = `case when ${isBelowFolder('t.path')} then substr(t.path, length($FOLDER) + 1)
  when starts_with(t.path, '/') then ${importedPath} else t.path end`

const text = (row: StagedRow, column: string) => {
  const found = row[column]
  return typeof found === 'string' ? found : ''
}

/** An address of a row, unless it is empty. */
const address = (row: StagedRow, column: string) =>
  text(row, column) === '' ? [] : [{ column, url: text(row, column) }]

const keys = {
  title_key: optional(whole(-Number.MAX_SAFE_INTEGER)),
  artist_keys: optional(list(whole(-Number.MAX_SAFE_INTEGER), 1_000))
}
const song = {
  song_id: songId,
  artist: line(maxLengths.artist),
  title: line(maxLengths.title),
  album: line(maxLengths.album),
  genre: line(maxLengths.genre),
  isrc: line(maxLengths.isrc),
  duration_ms: whole(0, maxInteger),
  ...keys
}
const count = whole(0, maxInteger)

export const stationTables: readonly StationTable[] = [
  {
    name: 'stations',
    where: 't.id = $ID',
    columns: {
      id,
      ...columnsOf(stations, [
        'media_storage_location_id',
        'recordings_storage_location_id',
        'podcasts_storage_location_id'
      ]),
      random_seed: count,
      created_at: timestamp,
      playout_key: matching(/^$|^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits.'),
      fallback_path: audioFileName
    },
    without: [
      'epoch',
      'epoch_since',
      'everywhere',
      'revision',
      'station_revision',
      'playback_revision',
      'queue_revision',
      'listeners_revision',
      'live_revision',
      'counts_offset',
      'next_seq',
      'wake_at_ms',
      'wake_version',
      'filled_version',
      'listen_token_generation',
      'listeners_total',
      'listeners_unique',
      'turned_online',
      'turned_at_ms',
      'deleted_at',
      'media_storage_location_id',
      'recordings_storage_location_id',
      'podcasts_storage_location_id',
      'frontend_admin_password',
      'source_password'
    ]
  },
  {
    name: 'artwork',
    where: 't.hash in (select artwork_hash from media where station_id = $ID)',
    columns: { hash: sha256, content_type: value(100) },
    picture: { bytes: 'bytes', type: 'content_type', hash: 'hash', isKey: true },
    sharedBy: 'hash'
  },
  {
    name: 'custom_fields',
    where:
      't.id in (select f.field_id from media_custom_fields f join media m on m.id = f.media_id where m.station_id = $ID)',
    columns: { id, ...columnsOf(customFields) },
    sharedBy: 'short_name',
    accept: row =>
      text(row, 'short_name') === '' || text(row, 'short_name') in Object.prototype
        ? { column: 'short_name', sentence: 'cannot be used.' }
        : row
  },
  {
    name: 'hls_streams',
    where: ofStation,
    columns: { id, station_id: id, ...columnsOf(hlsStreams), intro_path: audioFileName },
    without: [
      'mount_listeners_total',
      'mount_listeners_unique',
      'hls_listeners_total',
      'hls_listeners_unique'
    ],
    references: { station_id: 'stations' },
    addresses: row => address(row, 'relay_url')
  },
  {
    name: 'remotes',
    where: `${ofStation} and t.relay_id is null`,
    columns: { id, station_id: id, ...columnsOf(remotes) },
    without: ['admin_password', 'relay_id', 'relayed_mount', 'listeners_total', 'listeners_unique'],
    references: { station_id: 'stations' },
    addresses: row => (text(row, 'type') === '' ? [] : address(row, 'url'))
  },
  {
    name: 'playlists',
    where: ofStation,
    columns: { id, station_id: id, ...columnsOf(playlists), pass: whole(0, 1e12) },
    without: ['fetched_at_ms', 'fetch_at_ms', 'fetch_problem', 'failing_since_ms'],
    references: { station_id: 'stations' },
    importedAs: { schedule_items: newScheduleItems },
    accept: row =>
      row['source'] !== 'remote_url' || isWebAddress(text(row, 'remote_url'))
        ? row
        : { column: 'remote_url', sentence: 'must be an address that begins with http:// or https://.' },
    addresses: row => (row['source'] === 'remote_url' ? address(row, 'remote_url') : [])
  },
  {
    name: 'media',
    where: ofStation,
    columns: {
      id,
      station_id: id,
      unique_id: matching(uniqueIdPattern, 'must be 24 hexadecimal digits.'),
      path: songPath,
      ...song,
      lyrics: lines(maxLengths.lyrics),
      artwork_hash: optional(sha256),
      size_bytes: whole(),
      modified_ms: whole(),
      created_at: timestamp,
      remote_playlist_id: optional(id),
      cue_in_ms: optional(count),
      cue_out_ms: optional(whole(1, maxInteger)),
      fade_in_ms: optional(count),
      fade_out_ms: optional(count),
      start_next_ms: optional(count),
      amplify_db: optional(number(-maxAmplifyDb, maxAmplifyDb)),
      operator_cues: list(matching(/^[a-z_]{1,40}$/, 'must be the name of a column.'), 100),
      tag_version: whole(0, 32_767),
      artists: list(line(maxLengths.artist), 20),
      artists_for: line(maxLengths.artist)
    },
    // The machine that imports it does not have the file.
    without: ['imported_from'],
    exportedAs: { path: exportedPath },
    references: { station_id: 'stations', remote_playlist_id: 'playlists' },
    // A cover that the file does not have may be one of another station.
    importedAs: {
      artwork_hash: '(select a.hash from staged_artwork a where a.hash = s.artwork_hash limit 1)'
    }
  },
  {
    name: 'media_custom_fields',
    where: ofMedia,
    columns: { media_id: id, field_id: id, value: value(10_000), is_from_tag: truth },
    references: { media_id: 'media', field_id: 'custom_fields' }
  },
  {
    name: 'media_folders',
    where: ofStation,
    columns: { station_id: id, path: songPath },
    references: { station_id: 'stations' }
  },
  {
    name: 'playlist_folders',
    // Songs of folders elsewhere get other paths, in none of the folders of playlists.
    where: `${ofPlaylist} and not (starts_with(t.path, '/') and not ${isBelowFolder("t.path || '/'")})`,
    columns: { id, playlist_id: id, path: folderPath },
    // The paths of songs change likewise.
    exportedAs: {
      path: `case when ${isBelowFolder("t.path || '/'")} then rtrim(substr(t.path || '/', length($FOLDER) + 1), '/') else t.path end`
    },
    references: { playlist_id: 'playlists' }
  },
  {
    name: 'playlist_tracks',
    where: ofPlaylist,
    columns: {
      id,
      playlist_id: id,
      media_id: optional(id),
      repeated_media_id: optional(id),
      position: whole(-maxInteger, maxInteger),
      last_pass: whole(0, 1e12),
      last_aired_ms: optional(moment),
      is_from_folder: truth
    },
    exportedAs: {
      is_from_folder: `t.is_from_folder and not exists (
        select from media m where m.id = t.media_id and ${isOutside('m')})`
    },
    references: { playlist_id: 'playlists', media_id: 'media', repeated_media_id: 'media' }
  },
  {
    name: 'streamers',
    where: ofStation,
    columns: { id, station_id: id, ...columnsOf(streamers), streamer_password: passwordHash },
    picture: { bytes: 'artwork', type: 'artwork_type', hash: 'artwork_hash', isKey: false },
    references: { station_id: 'stations' },
    importedAs: { schedule_items: newScheduleItems }
  },
  {
    name: 'webhooks',
    where: ofStation,
    columns: { id, station_id: id, ...columnsOf(webhooks), is_auto_disabled: truth },
    without: [
      'former_secret',
      'former_secret_until_ms',
      'holder',
      'held_until_ms',
      'pauses',
      'paused_until_ms',
      'failing_since_ms',
      'consecutive_failures',
      'last_message_sent',
      'last_sent_ms',
      'last_status'
    ],
    references: { station_id: 'stations' },
    exportedAs: {
      // A hook whose credential is missing must not be sent.
      is_enabled: `t.is_enabled and not ${hookHasCredential}`,
      config: configWithoutCredentials
    },
    accept: withoutHookSecrets,
    addresses: findHookAddresses
  },
  {
    name: 'song_history',
    where: `${ofStation} and t.ended_at_ms is not null`,
    columns: {
      id,
      station_id: id,
      media_id: optional(id),
      playlist_id: optional(id),
      playlist: line(200),
      streamer: line(255),
      is_request: truth,
      is_visible: truth,
      ...song,
      started_at_ms: moment,
      due_at_ms: optional(whole()),
      ended_at_ms: moment,
      listeners_start: count,
      listeners_end: count,
      listeners_peak: count,
      delta_positive: count,
      delta_negative: count,
      unique_listeners: count,
      pass: whole(0, 1e12),
      occurrence_ms: optional(moment),
      is_bridged: truth,
      stopped_at_ms: optional(moment)
    },
    without: ['track_id', 'request_id', 'counts_offset'],
    references: { station_id: 'stations', media_id: 'media', playlist_id: 'playlists' }
  },
  {
    name: 'broadcasts',
    where: `${ofStation} and t.ended_at_ms is not null`,
    columns: {
      id,
      station_id: id,
      streamer_id: optional(id),
      username: line(255),
      streamer_name: line(255),
      started_at_ms: moment,
      ended_at_ms: moment
    },
    without: ['unheard_since_ms', 'recording_path'],
    references: { station_id: 'stations', streamer_id: 'streamers' }
  },
  {
    name: 'listener_minutes',
    where: ofStation,
    columns: {
      station_id: id,
      minute: whole(0, maxInteger),
      total: count,
      unique: count,
      most: count,
      fewest: count
    },
    without: ['counts_offset'],
    references: { station_id: 'stations' }
  },
  {
    name: 'listener_sessions',
    where: ofStation,
    columns: {
      station_id: id,
      started_at_ms: moment,
      opened: whole(),
      ordinal: count,
      ended_at_ms: moment,
      source: word(['mount', 'remote', 'hls']),
      stream: line(2_000),
      family: line(100),
      client: line(100),
      country: matching(/^([A-Z]{2})?$/, 'must be a code of two letters.')
    },
    references: { station_id: 'stations' }
  }
]

/** All columns of a table that are exported and imported. */
export const columnNamesOf = ({ columns, picture }: StationTable): string[] => [
  ...new Set([...Object.keys(columns), ...(picture ? [picture.bytes, picture.type, picture.hash] : [])])
]
