-- What the AutoDJ decides by, requests of listeners, and lists that are fetched.

alter table stations
  -- Minutes in which an artist or title is not heard again; 0: only never the same song twice in a row.
  add duplicate_prevention_time_range integer not null default 120,
  add crossfade_type text not null default 'normal' check (crossfade_type in ('normal', 'smart', 'none')),
  add crossfade double precision not null default 2,
  add enable_auto_cue boolean not null default false,
  -- Minutes, but for the two counts; 0 consecutive requests: no limit. An overrun is in seconds.
  add enable_requests boolean not null default true,
  add request_delay integer not null default 5,
  add request_threshold integer not null default 15,
  add request_cooldown integer not null default 5,
  add max_consecutive_requests integer not null default 2,
  add max_overrun integer not null default 600,
  -- When a station that is silent may have something to play; null: only a change of its library can tell.
  add wake_at_ms bigint,
  -- The version of the library in which nothing was found.
  add wake_version bigint not null default -1,
  -- The version of the library that the queue was last brought in line with.
  add filled_version bigint not null default -1;

-- What makes two songs clash: 52 bits of a hash of the song's id, of its title and of each of its artists. No title
-- and no artist is 0 and none.
alter table media
  add song_key bigint not null generated always as (('x' || left(song_id, 13))::bit(52)::bigint) stored,
  add title_key bigint,
  add artist_keys bigint[],
  -- The playlist with a remote_url that this is an entry of; such media are in no file list. A plain id: an entry may be
  -- on its way to the air when its playlist goes. What nothing refers to any more, the workers remove.
  add remote_playlist_id bigint;
-- Finds the media whose keys are still to be made: none, after the first start.
create index media_without_keys on media (id) where title_key is null or artist_keys is null;
alter table media drop constraint media_station_id_path_key;
create index media_of_station on media (station_id);
create unique index media_station_id_path_key on media (station_id, path) where remote_playlist_id is null;
-- The song id of an entry is the hash of its address, which may be too long for an index.
create unique index media_entries on media (remote_playlist_id, song_id) where remote_playlist_id is not null;

alter table playlists
  -- When the list at remote_url was last read (0: not yet), and when the workers ask for it next.
  add fetched_at_ms bigint not null default 0,
  add fetch_at_ms bigint not null default 0,
  -- What is wrong with it, and since when; empty and null: nothing.
  add fetch_problem text not null default '',
  add failing_since_ms bigint;
create index playlists_to_fetch on playlists (fetch_at_ms)
  where source = 'remote_url' and remote_type = 'playlist' and is_enabled;

-- What is behind a single address is the one entry of its playlist.
with entries as (
  insert into media (station_id, unique_id, path, song_id, title, remote_playlist_id)
  select station_id, left(replace(gen_random_uuid()::text, '-', ''), 24), remote_url, md5(remote_url), name, id
  from playlists where source = 'remote_url' and remote_type <> 'playlist'
  returning id, remote_playlist_id
)
insert into playlist_tracks (playlist_id, media_id, position) select remote_playlist_id, id, 1 from entries;

create table requests (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  media_id bigint not null references media on delete cascade,
  -- Whom the cool-down of a listener holds for.
  address text not null,
  submitted_at_ms bigint not null,
  due_at_ms bigint not null,
  skip_delay boolean not null default false,
  state text not null default 'pending' check (state in ('pending', 'queued', 'aired', 'cancelled', 'expired')),
  ended_at_ms bigint
);
create unique index requests_waiting on requests (station_id, media_id) where state in ('pending', 'queued');
create index requests_of_media on requests (media_id);
create index requests_of_address on requests (station_id, address, submitted_at_ms);
create index requests_ended on requests (ended_at_ms);

-- The order of play. A slot (seq) is filled once and never used again; rows move.
alter table queue
  add position bigint,
  add request_id bigint references requests on delete set null,
  -- The opening of a schedule window, or the minute of an hourly playlist, that the row belongs to.
  add occurrence_ms bigint,
  -- Rows of one batch play back to back.
  add batch bigint,
  add is_manual boolean not null default false,
  -- Cuts what is on air at its time.
  add is_interrupt boolean not null default false;
update queue set position = seq, is_manual = playlist_id is null;
alter table queue alter position set not null;
drop index queue_live;
create index queue_live on queue (station_id, position) where played_at_ms is null and skipped_at_ms is null;
create index queue_of_request on queue (request_id);
-- What operators took out counts as played for the rules of its playlist.
create index queue_skipped on queue (station_id, skipped_at_ms) where skipped_at_ms is not null;

-- The same identity as the row that was played.
alter table song_history
  add track_id bigint,
  add pass bigint not null default 0,
  add request_id bigint,
  add occurrence_ms bigint,
  add song_key bigint not null generated always as (('x' || left(song_id, 13))::bit(52)::bigint) stored,
  add title_key bigint,
  add artist_keys bigint[];
create index song_history_of_time on song_history (station_id, started_at_ms);
create index song_history_of_playlist on song_history (station_id, playlist_id, id desc) where playlist_id is not null;

-- Counts the changes of what the AutoDJ of a station may choose from, so that a copy in memory can be told from the truth.
-- Deferred, so that a long import holds nobody up.
create table libraries (
  station_id bigint primary key references stations on delete cascade,
  version bigint not null default 1
);

create function count_library_change(station bigint) returns void language plpgsql as $$
begin
  if station is null or current_setting('cuewire.counted', true) = station || ':' || pg_current_xact_id() then
    return;
  end if;
  -- Where a station is being deleted with all it has, there is nothing to count.
  insert into libraries (station_id) select id from stations where id = station
    on conflict (station_id) do update set version = libraries.version + 1;
  perform set_config('cuewire.counted', station || ':' || pg_current_xact_id(), true);
end $$;

create function playlist_changed() returns trigger language plpgsql as $$
begin
  perform count_library_change(coalesce(new.station_id, old.station_id));
  return null;
end $$;

create function track_changed() returns trigger language plpgsql as $$
begin
  perform count_library_change(
    (select station_id from playlists where id = coalesce(new.playlist_id, old.playlist_id)));
  return null;
end $$;

create constraint trigger playlists_changed
  after insert or delete or update of name, type, source, is_enabled, is_jingle, weight, "order", remote_url,
    remote_type, play_per_songs, play_per_minutes, play_per_hour_minute, include_in_requests, backend_options,
    avoid_duplicates, schedule_items on playlists
  deferrable initially deferred for each row execute function playlist_changed();
create constraint trigger tracks_changed
  after insert or delete or update of position, media_id on playlist_tracks
  deferrable initially deferred for each row execute function track_changed();
create constraint trigger media_changed
  after update of song_id, title_key, artist_keys, duration_ms on media
  deferrable initially deferred for each row
  when ((old.song_id, old.title_key, old.artist_keys, old.duration_ms)
    is distinct from (new.song_id, new.title_key, new.artist_keys, new.duration_ms))
  execute function playlist_changed();
