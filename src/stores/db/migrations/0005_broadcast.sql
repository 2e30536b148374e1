-- Real broadcasters: playouts that report, streaming servers that are asked, streamers, listeners over time.

alter table stations
  -- Where its streaming server answers, and the sealed password of that server's admin; empty: it is not asked.
  add frontend_url text not null default '',
  add frontend_admin_password text not null default '',
  add enable_streamers boolean not null default false,
  -- Sealed; what the user `source` goes live with.
  add source_password text not null default '',
  -- SHA-256 of the key that its playout calls with, in hexadecimal; empty: no key fits.
  add playout_key text not null default '',
  add live_revision bigint not null default 1;

-- A remote is a stream on a server of somebody else's; `url` is where listeners find it.
alter table remotes
  add type text not null default '' check (type in ('icecast', 'shoutcast2', '')),
  -- Sealed.
  add admin_password text not null default '';

alter table song_history
  -- The clock began it because no report came; a report confirms it or takes its place.
  add is_bridged boolean not null default false,
  -- Its playout was seen to go in the middle of it, and came back without it.
  add stopped_at_ms bigint,
  -- The largest unique count of each source that changed while it played: {"mount:7": 12}.
  add unique_peaks jsonb not null default '{}';

-- Finds the song that somebody tells the name of.
create index media_of_song on media (station_id, song_id);

-- Finds the row that a play was.
create index queue_of_play on queue (history_id) where history_id is not null;

-- What is known of the playout of a station with the backend `liquidsoap`.
create table playouts (
  station_id bigint primary key references stations on delete cascade,
  -- When it last called, and since when it is known to have gone (null: it has not).
  seen_at_ms bigint not null,
  left_at_ms bigint,
  -- When it went the last time, whether or not it is back.
  left_last_ms bigint,
  -- It waits for commands, so that its silence means something.
  takes_commands boolean not null default false
) with (fillfactor = 50);

-- What a playout is told to do. Kept for a minute: what it did not take by then is no longer meant.
create table playout_commands (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  command jsonb not null,
  created_at_ms bigint not null
);
create index playout_commands_of_station on playout_commands (station_id, id);
create index playout_commands_of_time on playout_commands (created_at_ms);

create table streamers (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  streamer_username text not null,
  -- An argon2id PHC string.
  streamer_password text not null,
  display_name text not null default '',
  comments text not null default '',
  is_active boolean not null default true,
  -- Goes live in the times of its schedule only.
  enforce_schedule boolean not null default false,
  schedule_items jsonb not null default '[]',
  -- Its picture, the content type of that and its SHA-256 in hexadecimal; all null: it has none.
  artwork bytea,
  artwork_type text,
  artwork_hash text,
  constraint streamers_username unique (station_id, streamer_username)
);

-- The times when somebody was live.
create table broadcasts (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  -- A plain id: the streamer may be gone since. Null for the user `source`.
  streamer_id bigint,
  username text not null,
  -- As it was shown.
  streamer_name text not null,
  started_at_ms bigint not null,
  ended_at_ms bigint check (ended_at_ms >= started_at_ms),
  -- Since when the streaming server says that nobody sends; null: somebody does, or nobody asked.
  unheard_since_ms bigint
);
create unique index broadcasts_one_open on broadcasts (station_id) where ended_at_ms is null;
create index broadcasts_of_station on broadcasts (station_id, id desc);

-- When workers ask streaming servers next, and how it went: one row per station with an address, one per remote with a type.
create table polls (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  -- Null: the station's own server.
  remote_id bigint references remotes on delete cascade,
  due_at_ms bigint not null default 0,
  -- The last good answer, and since when there were none but bad ones (null: the last was good).
  answered_at_ms bigint,
  failing_since_ms bigint,
  failures integer not null default 0,
  -- Since when nobody listens there; null: somebody does.
  idle_since_ms bigint,
  -- In one sentence, empty where there is none.
  problem text not null default ''
) with (fillfactor = 50);
create unique index polls_of_station on polls (station_id) where remote_id is null;
create unique index polls_of_remote on polls (remote_id) where remote_id is not null;
create index polls_due on polls (due_at_ms);

-- Who listens, or did in the last day, by a hash of address and agent: a listener of two sources is two.
create table listeners (
  station_id bigint not null references stations on delete cascade,
  -- `mount:7`, `remote:3`, `hls:7`.
  source text not null,
  identity text not null,
  since_ms bigint not null,
  -- Null while connected.
  left_at_ms bigint,
  primary key (station_id, source, identity)
) with (fillfactor = 70);
create index listeners_of_station on listeners (station_id, left_at_ms);
create index listeners_left on listeners (left_at_ms) where left_at_ms is not null;

-- The listeners of a station in the minutes in which their number changed; in all others it was what it was before.
create table listener_minutes (
  station_id bigint not null references stations on delete cascade,
  -- Unix minutes.
  minute integer not null,
  -- At the end of the minute, and the most and fewest within.
  total integer not null,
  "unique" integer not null,
  most integer not null,
  fewest integer not null,
  primary key (station_id, minute)
);
