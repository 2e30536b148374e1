import { configWithoutCredentials, hookHasCredential } from './sealed-values.ts'

/** SQL: the path below the folder of the songs that a song `t` outside of it gets in another installation. */
export const importedPath = `'imported/' || left(md5(t.path), 12) || '-' || substring(t.path from '[^/]*$')`

/** A table with rows of a station, in the order in which they are imported. */
export interface StationTable {
  readonly name: string
  /** SQL: which rows `t` belong to the station; `$ID` is its id. */
  readonly where: string
  /** Columns that are not exported: counts, states and what belongs to the installation. They get their defaults. */
  readonly without?: readonly string[]
  /**
   * SQL of columns that are exported in another form; `$FOLDER` is that of the songs, with a slash at its end, and `$MEDIA`
   * whether songs are exported.
   */
  readonly exportedAs?: Readonly<Record<string, string>>
  /** Columns with ids of other exported rows, and their tables. */
  readonly references?: Readonly<Record<string, string>>
  /** SQL of columns of imported rows `s`, instead of their values. */
  readonly importedAs?: Readonly<Record<string, string>>
  /** The column whose value identifies a row in every installation; rows that are there are used. */
  readonly sharedBy?: string
}

const ofStation = 't.station_id = $ID'
const ofPlaylist = 't.playlist_id in (select id from playlists where station_id = $ID)'
const ofMedia = 't.media_id in (select id from media where station_id = $ID)'

const newScheduleItems = `(
  select coalesce(jsonb_agg(item || jsonb_build_object('id', nextval('schedule_item_ids')) order by place), '[]')
  from jsonb_array_elements(s.schedule_items) with ordinality items (item, place))`

export const stationTables: readonly StationTable[] = [
  {
    name: 'stations',
    where: 't.id = $ID',
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
    sharedBy: 'hash'
  },
  {
    name: 'custom_fields',
    where:
      't.id in (select f.field_id from media_custom_fields f join media m on m.id = f.media_id where m.station_id = $ID)',
    sharedBy: 'short_name'
  },
  {
    name: 'hls_streams',
    where: ofStation,
    without: [
      'mount_listeners_total',
      'mount_listeners_unique',
      'hls_listeners_total',
      'hls_listeners_unique'
    ],
    references: { station_id: 'stations' }
  },
  {
    name: 'remotes',
    where: `${ofStation} and t.relay_id is null`,
    without: ['admin_password', 'relay_id', 'relayed_mount', 'listeners_total', 'listeners_unique'],
    references: { station_id: 'stations' }
  },
  {
    name: 'playlists',
    where: ofStation,
    references: { station_id: 'stations' },
    importedAs: { schedule_items: newScheduleItems }
  },
  {
    name: 'media',
    where: ofStation,
    // The folder of the new station is another one.
    exportedAs: {
      path: `case when starts_with(t.path, $FOLDER) then substr(t.path, length($FOLDER) + 1)
        when $MEDIA and starts_with(t.path, '/') then ${importedPath} else t.path end`
    },
    references: { station_id: 'stations', remote_playlist_id: 'playlists' }
  },
  {
    name: 'media_custom_fields',
    where: ofMedia,
    references: { media_id: 'media', field_id: 'custom_fields' }
  },
  { name: 'media_folders', where: ofStation, references: { station_id: 'stations' } },
  {
    name: 'playlist_folders',
    where: ofPlaylist,
    // The paths of songs change likewise.
    exportedAs: {
      path: `case when starts_with(t.path || '/', $FOLDER) then rtrim(substr(t.path || '/', length($FOLDER) + 1), '/') else t.path end`
    },
    references: { playlist_id: 'playlists' }
  },
  {
    name: 'playlist_tracks',
    where: ofPlaylist,
    // Songs outside of the folder get other paths, in none of the folders of playlists.
    exportedAs: {
      is_from_folder: `t.is_from_folder and not ($MEDIA and exists (
        select from media m where m.id = t.media_id and starts_with(m.path, '/') and not starts_with(m.path, $FOLDER)))`
    },
    references: { playlist_id: 'playlists', media_id: 'media', repeated_media_id: 'media' }
  },
  {
    name: 'streamers',
    where: ofStation,
    references: { station_id: 'stations' },
    importedAs: { schedule_items: newScheduleItems }
  },
  {
    name: 'webhooks',
    where: ofStation,
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
      'last_status'
    ],
    references: { station_id: 'stations' },
    exportedAs: {
      // A hook whose credential is missing must not be sent.
      is_enabled: `t.is_enabled and not ${hookHasCredential}`,
      config: configWithoutCredentials
    }
  },
  {
    name: 'song_history',
    where: `${ofStation} and t.ended_at_ms is not null`,
    without: ['track_id', 'request_id', 'counts_offset'],
    references: { station_id: 'stations', media_id: 'media', playlist_id: 'playlists' }
  },
  {
    name: 'broadcasts',
    where: `${ofStation} and t.ended_at_ms is not null`,
    without: ['unheard_since_ms', 'recording_path'],
    references: { station_id: 'stations', streamer_id: 'streamers' }
  },
  {
    name: 'listener_minutes',
    where: ofStation,
    without: ['counts_offset'],
    references: { station_id: 'stations' }
  },
  { name: 'listener_sessions', where: ofStation, references: { station_id: 'stations' } }
]
