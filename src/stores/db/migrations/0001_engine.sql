-- The facts the engine steps on. Instants are Unix milliseconds in columns that end in _ms.

create table stations (
  id bigint generated always as identity primary key,
  name text not null,
  short_name text not null unique check (short_name !~ '^[0-9]*$'),
  description text not null default '',
  url text not null default '',
  timezone text not null default 'UTC',
  frontend text not null default 'icecast' check (frontend in ('icecast', 'shoutcast2', 'rsas', 'remote')),
  backend text not null default 'clock' check (backend in ('clock', 'liquidsoap', 'none')),
  is_public boolean not null default true,
  is_enabled boolean not null default true,
  hls_enabled boolean not null default false,
  hls_is_default boolean not null default false,
  queue_length integer not null default 3 check (queue_length between 2 and 25),
  history_length integer not null default 5 check (history_length between 0 and 50),
  offline_text text not null default 'Station Offline',
  live_text text not null default 'Live Broadcast',
  listeners_total integer not null default 0,
  listeners_unique integer not null default 0,
  -- Seeds every choice of the AutoDJ together with the slot number, so that a repeated step chooses the same.
  random_seed integer not null default floor(random() * 2147483647),
  next_seq bigint not null default 1,
  -- Each transaction that changes what the station shows takes the next revision and stamps the parts it
  -- touched; the live state in Redis remembers the stamps it has seen and ignores what is not newer.
  revision bigint not null default 1,
  station_revision bigint not null default 1,
  playback_revision bigint not null default 1,
  queue_revision bigint not null default 1,
  listeners_revision bigint not null default 1,
  created_at timestamptz not null default now()
) with (fillfactor = 70);

create table mounts (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  path text not null,
  display_name text not null default '',
  bitrate integer not null default 128,
  format text not null default 'mp3' check (format in ('mp3', 'ogg', 'aac', 'opus', 'flac', '')),
  is_default boolean not null default false,
  is_visible boolean not null default true,
  listeners_total integer not null default 0,
  listeners_unique integer not null default 0,
  unique (station_id, path)
);
create unique index mounts_one_default on mounts (station_id) where is_default;

create table remotes (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  name text not null,
  url text not null,
  bitrate integer not null default 0,
  format text not null default '' check (format in ('mp3', 'ogg', 'aac', 'opus', 'flac', '')),
  is_visible boolean not null default true,
  listeners_total integer not null default 0,
  listeners_unique integer not null default 0
);
create index remotes_of_station on remotes (station_id);

create table hls_streams (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  name text not null,
  listeners_total integer not null default 0,
  listeners_unique integer not null default 0,
  unique (station_id, name)
);

create table artwork (
  hash text primary key,
  content_type text not null,
  bytes bytea not null
);

create table media (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  unique_id text not null unique,
  path text not null,
  song_id text not null,
  artist text not null default '',
  title text not null default '',
  album text not null default '',
  genre text not null default '',
  isrc text not null default '',
  lyrics text not null default '',
  duration_ms integer not null default 0 check (duration_ms >= 0),
  artwork_hash text references artwork,
  size_bytes bigint not null default 0,
  modified_ms bigint not null default 0,
  created_at timestamptz not null default now(),
  unique (station_id, path)
);

create table custom_fields (
  id bigint generated always as identity primary key,
  name text not null,
  short_name text not null,
  auto_assign text not null default ''
);
create unique index custom_fields_short_name on custom_fields (lower(short_name));

create table media_custom_fields (
  media_id bigint not null references media on delete cascade,
  field_id bigint not null references custom_fields on delete cascade,
  value text not null,
  primary key (media_id, field_id)
);

create table playlists (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  name text not null,
  type text not null default 'default',
  source text not null default 'songs',
  is_enabled boolean not null default true,
  is_jingle boolean not null default false,
  weight integer not null default 3 check (weight between 1 and 100),
  -- The number of the current run through all tracks; a shuffle order is a hash of track and pass.
  pass bigint not null default 1
);
create index playlists_of_station on playlists (station_id);

create table playlist_tracks (
  id bigint generated always as identity primary key,
  playlist_id bigint not null references playlists on delete cascade,
  media_id bigint not null references media on delete cascade,
  position integer not null,
  -- The pass in which the track last aired.
  last_pass bigint not null default 0,
  last_aired_ms bigint
) with (fillfactor = 80);
create index playlist_tracks_of_playlist on playlist_tracks (playlist_id);
create index playlist_tracks_of_media on playlist_tracks (media_id);

create table song_history (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  media_id bigint references media on delete set null,
  playlist_id bigint references playlists on delete set null,
  playlist text not null default '',
  streamer text not null default '',
  is_request boolean not null default false,
  is_visible boolean not null default true,
  song_id text not null,
  artist text not null default '',
  title text not null default '',
  album text not null default '',
  genre text not null default '',
  isrc text not null default '',
  duration_ms integer not null default 0,
  started_at_ms bigint not null,
  -- When the clock has to end it; null where only a report can.
  due_at_ms bigint,
  ended_at_ms bigint check (ended_at_ms >= started_at_ms),
  listeners_start integer not null default 0,
  listeners_end integer not null default 0,
  listeners_peak integer not null default 0,
  delta_positive integer not null default 0,
  delta_negative integer not null default 0,
  unique_listeners integer not null default 0
) with (fillfactor = 80);
create unique index song_history_one_open on song_history (station_id) where ended_at_ms is null;
create index song_history_due on song_history (due_at_ms) where ended_at_ms is null;
create index song_history_of_station on song_history (station_id, id desc);

create table queue (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  -- The slot: never reused, so a slot is filled once, whoever computes it.
  seq bigint not null,
  playlist_id bigint references playlists on delete set null,
  track_id bigint references playlist_tracks on delete set null,
  media_id bigint not null references media on delete cascade,
  pass bigint not null default 0,
  is_request boolean not null default false,
  is_visible boolean not null default true,
  cued_at_ms bigint not null,
  plays_at_ms bigint not null,
  duration_ms integer not null,
  is_sent boolean not null default false,
  autodj_custom_uri text not null default '',
  log jsonb not null default '[]',
  -- The play it became, or the moment an operator took it out; live rows have neither.
  history_id bigint references song_history on delete set null,
  played_at_ms bigint,
  skipped_at_ms bigint,
  unique (station_id, seq)
);
create index queue_live on queue (station_id, seq) where played_at_ms is null and skipped_at_ms is null;
create index queue_ended on queue ((coalesce(played_at_ms, skipped_at_ms)));
create index queue_of_media on queue (media_id);
create index queue_of_history on queue (history_id);

create table api_keys (
  id bigint generated always as identity primary key,
  name text not null,
  -- The first half of the key finds the row; of the second only a SHA-256 hash is kept.
  identifier text not null unique,
  verifier bytea not null,
  permissions jsonb not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
