import { customFieldsResource } from '../../api/library/custom-fields.ts'
import { playlistsResource } from '../../api/playlists/playlists.ts'
import { hlsStreamsResource } from '../../api/stations/hls-streams.ts'
import { remotesResource } from '../../api/stations/remotes.ts'
import { stationsResource } from '../../api/stations/stations.ts'
import { streamersResource } from '../../api/streamers/streamers.ts'
import { webhooksResource } from '../../api/webhooks/webhooks.ts'
import { type Fields, isWebAddress } from '../../model/fields/field.ts'
import { maxAmplifyDb } from '../../model/songs/cue-points.ts'
import { uniqueIdPattern, maxTagLengths } from '../../model/songs/song.ts'
import { configWithoutCredentialsSql, hookHasCredentialSql } from '../../upkeep/archives/sealed-values.ts'
import {
  audioFileNameColumn,
  resourceColumns,
  folderPathColumn,
  idColumn,
  lineColumn,
  linesColumn,
  listColumn,
  matchingTextColumn,
  maxInt32,
  pastMsColumn,
  numberColumn,
  nullableColumn,
  passwordHashColumn,
  sha256Column,
  songIdColumn,
  songPathColumn,
  timestampColumn,
  booleanColumn,
  customValueColumn,
  wholeNumberColumn,
  wordColumn
} from './station-columns.ts'
import { findHookAddresses, withoutHookSecrets } from './station-hooks.ts'

/** A row of the file by column, as JSON. Bytes are left out. */
export type StagedRow = Readonly<Record<string, unknown>>

/** A table with rows of a station, in the order in which they are imported. */
export interface ExportedTable {
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
export const isOutsideSql = (table: string) =>
  `(starts_with(${table}.path, '/') and not ${isBelowFolder(`${table}.path`)})`

/** SQL: the path of a song `t` in the file. Paths of this machine mean nothing in another installation. */
export const exportedPathSql = `case when ${isBelowFolder('t.path')} then substr(t.path, length($FOLDER) + 1)
  when starts_with(t.path, '/') then ${importedPath} else t.path end`

const text = (row: StagedRow, column: string) => {
  const found = row[column]
  return typeof found === 'string' ? found : ''
}

/** An address of a row, unless it is empty. */
const address = (row: StagedRow, column: string) =>
  text(row, column) === '' ? [] : [{ column, url: text(row, column) }]

const keys = {
  title_key: nullableColumn(wholeNumberColumn(-Number.MAX_SAFE_INTEGER)),
  artist_keys: nullableColumn(listColumn(wholeNumberColumn(-Number.MAX_SAFE_INTEGER), 1_000))
}
const song = {
  song_id: songIdColumn,
  artist: lineColumn(maxTagLengths.artist),
  title: lineColumn(maxTagLengths.title),
  album: lineColumn(maxTagLengths.album),
  genre: lineColumn(maxTagLengths.genre),
  isrc: lineColumn(maxTagLengths.isrc),
  duration_ms: wholeNumberColumn(0, maxInt32),
  ...keys
}
const count = wholeNumberColumn(0, maxInt32)

export const stationTables: readonly ExportedTable[] = [
  {
    name: 'stations',
    where: 't.id = $ID',
    columns: {
      id: idColumn,
      ...resourceColumns(stationsResource, [
        'media_storage_location_id',
        'recordings_storage_location_id',
        'podcasts_storage_location_id'
      ]),
      random_seed: count,
      created_at: timestampColumn,
      playout_key: matchingTextColumn(/^$|^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits.'),
      fallback_path: audioFileNameColumn
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
    columns: { hash: sha256Column, content_type: customValueColumn(100) },
    picture: { bytes: 'bytes', type: 'content_type', hash: 'hash', isKey: true },
    sharedBy: 'hash'
  },
  {
    name: 'custom_fields',
    where:
      't.id in (select f.field_id from media_custom_fields f join media m on m.id = f.media_id where m.station_id = $ID)',
    columns: { id: idColumn, ...resourceColumns(customFieldsResource) },
    sharedBy: 'short_name',
    accept: row =>
      text(row, 'short_name') === '' || text(row, 'short_name') in Object.prototype
        ? { column: 'short_name', sentence: 'cannot be used.' }
        : row
  },
  {
    name: 'hls_streams',
    where: ofStation,
    columns: {
      id: idColumn,
      station_id: idColumn,
      ...resourceColumns(hlsStreamsResource),
      intro_path: audioFileNameColumn
    },
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
    columns: { id: idColumn, station_id: idColumn, ...resourceColumns(remotesResource) },
    without: ['admin_password', 'relay_id', 'relayed_mount', 'listeners_total', 'listeners_unique'],
    references: { station_id: 'stations' },
    addresses: row => (text(row, 'type') === '' ? [] : address(row, 'url'))
  },
  {
    name: 'playlists',
    where: ofStation,
    columns: {
      id: idColumn,
      station_id: idColumn,
      ...resourceColumns(playlistsResource),
      pass: wholeNumberColumn(0, 1e12)
    },
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
      id: idColumn,
      station_id: idColumn,
      unique_id: matchingTextColumn(uniqueIdPattern, 'must be 24 hexadecimal digits.'),
      path: songPathColumn,
      ...song,
      lyrics: linesColumn(maxTagLengths.lyrics),
      artwork_hash: nullableColumn(sha256Column),
      size_bytes: wholeNumberColumn(),
      modified_ms: wholeNumberColumn(),
      created_at: timestampColumn,
      remote_playlist_id: nullableColumn(idColumn),
      cue_in_ms: nullableColumn(count),
      cue_out_ms: nullableColumn(wholeNumberColumn(1, maxInt32)),
      fade_in_ms: nullableColumn(count),
      fade_out_ms: nullableColumn(count),
      start_next_ms: nullableColumn(count),
      amplify_db: nullableColumn(numberColumn(-maxAmplifyDb, maxAmplifyDb)),
      operator_cues: listColumn(matchingTextColumn(/^[a-z_]{1,40}$/, 'must be the name of a column.'), 100),
      tag_version: wholeNumberColumn(0, 32_767),
      artists: listColumn(lineColumn(maxTagLengths.artist), 20),
      artists_for: lineColumn(maxTagLengths.artist)
    },
    // The machine that imports it does not have the file.
    without: ['imported_from'],
    exportedAs: { path: exportedPathSql },
    references: { station_id: 'stations', remote_playlist_id: 'playlists' },
    // A cover that the file does not have may be one of another station.
    importedAs: {
      artwork_hash: '(select a.hash from staged_artwork a where a.hash = s.artwork_hash limit 1)'
    }
  },
  {
    name: 'media_custom_fields',
    where: ofMedia,
    columns: {
      media_id: idColumn,
      field_id: idColumn,
      value: customValueColumn(10_000),
      is_from_tag: booleanColumn
    },
    references: { media_id: 'media', field_id: 'custom_fields' }
  },
  {
    name: 'media_folders',
    where: ofStation,
    columns: { station_id: idColumn, path: songPathColumn },
    references: { station_id: 'stations' }
  },
  {
    name: 'playlist_folders',
    // Songs of folders elsewhere get other paths, in none of the folders of playlists.
    where: `${ofPlaylist} and not (starts_with(t.path, '/') and not ${isBelowFolder("t.path || '/'")})`,
    columns: { id: idColumn, playlist_id: idColumn, path: folderPathColumn },
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
      id: idColumn,
      playlist_id: idColumn,
      media_id: nullableColumn(idColumn),
      repeated_media_id: nullableColumn(idColumn),
      position: wholeNumberColumn(-maxInt32, maxInt32),
      last_pass: wholeNumberColumn(0, 1e12),
      last_aired_ms: nullableColumn(pastMsColumn),
      is_from_folder: booleanColumn
    },
    exportedAs: {
      is_from_folder: `t.is_from_folder and not exists (
        select from media m where m.id = t.media_id and ${isOutsideSql('m')})`
    },
    references: { playlist_id: 'playlists', media_id: 'media', repeated_media_id: 'media' }
  },
  {
    name: 'streamers',
    where: ofStation,
    columns: {
      id: idColumn,
      station_id: idColumn,
      ...resourceColumns(streamersResource),
      streamer_password: passwordHashColumn
    },
    picture: { bytes: 'artwork', type: 'artwork_type', hash: 'artwork_hash', isKey: false },
    references: { station_id: 'stations' },
    importedAs: { schedule_items: newScheduleItems }
  },
  {
    name: 'webhooks',
    where: ofStation,
    columns: {
      id: idColumn,
      station_id: idColumn,
      ...resourceColumns(webhooksResource),
      is_auto_disabled: booleanColumn
    },
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
      is_enabled: `t.is_enabled and not ${hookHasCredentialSql}`,
      config: configWithoutCredentialsSql
    },
    accept: withoutHookSecrets,
    addresses: findHookAddresses
  },
  {
    name: 'song_history',
    where: `${ofStation} and t.ended_at_ms is not null`,
    columns: {
      id: idColumn,
      station_id: idColumn,
      media_id: nullableColumn(idColumn),
      playlist_id: nullableColumn(idColumn),
      playlist: lineColumn(200),
      streamer: lineColumn(255),
      is_request: booleanColumn,
      is_visible: booleanColumn,
      ...song,
      started_at_ms: pastMsColumn,
      due_at_ms: nullableColumn(wholeNumberColumn()),
      ended_at_ms: pastMsColumn,
      listeners_start: count,
      listeners_end: count,
      listeners_peak: count,
      delta_positive: count,
      delta_negative: count,
      unique_listeners: count,
      pass: wholeNumberColumn(0, 1e12),
      occurrence_ms: nullableColumn(pastMsColumn),
      is_bridged: booleanColumn,
      stopped_at_ms: nullableColumn(pastMsColumn)
    },
    without: ['track_id', 'request_id', 'counts_offset'],
    references: { station_id: 'stations', media_id: 'media', playlist_id: 'playlists' }
  },
  {
    name: 'broadcasts',
    where: `${ofStation} and t.ended_at_ms is not null`,
    columns: {
      id: idColumn,
      station_id: idColumn,
      streamer_id: nullableColumn(idColumn),
      username: lineColumn(255),
      streamer_name: lineColumn(255),
      started_at_ms: pastMsColumn,
      ended_at_ms: pastMsColumn
    },
    without: ['unheard_since_ms', 'recording_path'],
    references: { station_id: 'stations', streamer_id: 'streamers' }
  },
  {
    name: 'listener_minutes',
    where: ofStation,
    columns: {
      station_id: idColumn,
      minute: wholeNumberColumn(0, maxInt32),
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
      station_id: idColumn,
      started_at_ms: pastMsColumn,
      opened: wholeNumberColumn(),
      ordinal: count,
      ended_at_ms: pastMsColumn,
      source: wordColumn(['mount', 'remote', 'hls']),
      stream: lineColumn(2_000),
      family: lineColumn(100),
      client: lineColumn(100),
      country: matchingTextColumn(/^([A-Z]{2})?$/, 'must be a code of two letters.')
    },
    references: { station_id: 'stations' }
  }
]

/** All columns of a table that are exported and imported. */
export const columnNamesOf = ({ columns, picture }: ExportedTable): string[] => [
  ...new Set([...Object.keys(columns), ...(picture ? [picture.bytes, picture.type, picture.hash] : [])])
]
