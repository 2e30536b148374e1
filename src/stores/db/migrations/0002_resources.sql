-- The resources of the REST interface. A column is named after the field it holds; secrets are sealed or hashed.

-- An HLS stream of the interface is a mount-like record, and what now playing lists as a mount: one table for both.
drop table hls_streams;
alter table mounts rename to hls_streams;
alter table hls_streams rename column path to name;
alter table hls_streams rename column bitrate to autodj_bitrate;
alter table hls_streams rename column format to autodj_format;
alter table hls_streams rename column is_visible to is_visible_on_public_pages;
alter table hls_streams drop constraint mounts_format_check;
alter table hls_streams rename constraint mounts_station_id_path_key to hls_streams_name;
alter index mounts_one_default rename to hls_streams_one_default;
alter table hls_streams
  add check (autodj_format in ('mp3', 'ogg', 'aac', 'opus', 'flac')),
  add is_public boolean not null default false,
  add fallback_mount text not null default '',
  add relay_url text not null default '',
  add authhash text not null default '',
  add max_listener_duration integer not null default 0,
  add enable_autodj boolean not null default true,
  add custom_listen_url text not null default '',
  add frontend_config jsonb not null default '[]',
  add hls_listeners_total integer not null default 0,
  add hls_listeners_unique integer not null default 0;
alter table hls_streams rename column listeners_total to mount_listeners_total;
alter table hls_streams rename column listeners_unique to mount_listeners_unique;
alter table hls_streams
  add listeners_total integer generated always as (mount_listeners_total + hls_listeners_total) stored,
  add listeners_unique integer generated always as (mount_listeners_unique + hls_listeners_unique) stored;

create table storage_locations (
  id bigint generated always as identity primary key,
  type text not null check (type in ('backup', 'station_media', 'station_recordings', 'station_podcasts')),
  adapter text not null check (adapter in ('local', 's3', 'dropbox', 'sftp')),
  path text not null default '',
  s3_credential_key text not null default '',
  s3_credential_secret text not null default '',
  s3_region text not null default '',
  s3_version text not null default 'latest',
  s3_bucket text not null default '',
  s3_endpoint text not null default '',
  dropbox_app_key text not null default '',
  dropbox_app_secret text not null default '',
  dropbox_auth_token text not null default '',
  sftp_host text not null default '',
  sftp_username text not null default '',
  sftp_password text not null default '',
  -- The user and the server that the password was entered for.
  sftp_password_for text not null default '',
  sftp_port integer not null default 0,
  sftp_private_key text not null default '',
  sftp_private_key_pass_phrase text not null default '',
  -- 0: no quota.
  storage_quota_bytes numeric(20) not null default 0,
  -- What makes it the same place as another one: adapter, server and path.
  place text,
  used_bytes numeric(20) not null default 0,
  -- Free bytes of the volume; null where nobody can tell.
  free_bytes numeric(20),
  -- When the workers measure it next.
  measure_at timestamptz not null default now(),
  constraint storage_locations_place unique (type, place)
);

alter table stations
  add media_storage_location_id bigint references storage_locations,
  add recordings_storage_location_id bigint references storage_locations,
  add podcasts_storage_location_id bigint references storage_locations,
  -- 0: no limit.
  add max_bitrate integer not null default 0,
  add max_hls_streams integer not null default 0,
  -- The newest fact shown by all stations (custom fields) that this one was given a revision for.
  add everywhere bigint not null default 0;
create index stations_media_storage on stations (media_storage_location_id);
create index stations_recordings_storage on stations (recordings_storage_location_id);
create index stations_podcasts_storage on stations (podcasts_storage_location_id);

alter table playlists
  add "order" text not null default 'shuffle',
  add remote_url text not null default '',
  add remote_type text not null default 'stream',
  add remote_buffer integer not null default 0,
  add play_per_songs integer not null default 0,
  add play_per_minutes integer not null default 0,
  add play_per_hour_minute integer not null default 0,
  add include_in_requests boolean not null default true,
  add include_in_on_demand boolean not null default false,
  add backend_options text not null default '',
  add avoid_duplicates boolean not null default true,
  add schedule_items jsonb not null default '[]',
  add podcasts jsonb not null default '[]';
create sequence schedule_item_ids;

-- The history tells what was played; what it names may be gone since. So it holds plain ids, and nothing that is
-- deleted has to be looked for in a long history.
alter table song_history
  drop constraint song_history_media_id_fkey,
  drop constraint song_history_playlist_id_fkey;
alter table queue drop constraint queue_history_id_fkey;
drop index queue_of_history;
-- For the keys that are set to null.
create index queue_of_playlist on queue (playlist_id);
create index queue_of_track on queue (track_id);

-- Stations that are gone, for as long as a server may still have to learn of it.
create table deleted_stations (
  id bigint primary key,
  deleted_at timestamptz not null default now()
);
create index deleted_stations_age on deleted_stations (deleted_at);

-- A song is in a playlist once, whoever puts it there. The index serves for all tracks of a playlist as well.
delete from playlist_tracks t using playlist_tracks first
  where t.playlist_id = first.playlist_id and t.media_id = first.media_id and t.id > first.id;
drop index playlist_tracks_of_playlist;
create unique index playlist_tracks_once on playlist_tracks (playlist_id, media_id);

create table sftp_users (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  username text not null constraint sftp_users_username unique,
  -- An argon2id PHC string, empty: nobody gets in by password.
  password text not null default '',
  public_keys text not null default ''
);
create index sftp_users_of_station on sftp_users (station_id);

create table webhooks (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  name text not null default '',
  type text not null,
  is_enabled boolean not null default true,
  triggers jsonb not null default '[]',
  -- Elements {key, value} as they were sent; values of secret keys are sealed.
  config jsonb not null default '[]',
  is_auto_disabled boolean not null default false,
  last_message_sent bigint not null default 0,
  last_status integer not null default 0,
  consecutive_failures integer not null default 0,
  pending integer not null default 0
);
create index webhooks_of_station on webhooks (station_id);

alter table api_keys
  -- Rights by station id, beside those that hold everywhere.
  add station_permissions jsonb not null default '{}';

create table news (
  article_id text primary key,
  title text not null,
  body text not null default '',
  type text not null default 'info',
  is_published boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table notifications (
  notification_id text primary key default gen_random_uuid()::text,
  title text not null,
  body text not null default '',
  type text not null default 'info' check (type in ('info', 'success', 'warning', 'danger')),
  -- `operator`, or the part of the system that raised it.
  source text not null default 'operator',
  created_at timestamptz not null default now(),
  read_at timestamptz
);
create index notifications_newest on notifications (created_at desc, notification_id);

-- What the system has told the operators of and is not over: told once, however often it is noticed.
create table open_facts (
  fact text primary key,
  raised_at timestamptz not null default now()
);

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  key_id bigint,
  key_name text not null,
  method text not null,
  path text not null,
  record text not null,
  record_id text not null,
  station_id bigint,
  -- Names of the fields that changed; never a value.
  fields jsonb not null default '[]'
);
create index audit_log_at on audit_log (at);
create index audit_log_of_record on audit_log (record, record_id);
create index audit_log_of_station on audit_log (station_id);

create index media_custom_fields_of_field on media_custom_fields (field_id);

create table settings (
  name text primary key,
  value text not null
);

-- Plays are counted by the day.
create index song_history_started on song_history (started_at_ms);
