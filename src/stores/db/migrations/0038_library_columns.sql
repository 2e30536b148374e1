-- Every column that a library in memory contains raises its version when it changes. Exempt is what arrives with a
-- new play, because that would raise it at every song: processes read the plays from their newest one on, that one
-- included, and with them the pass of their playlists. So a change of the newest play, the pass that it begins and
-- the marks of its track are not listed (`extendPast` in `src/engine/queue/library-past.ts`).
-- `test/integration/library-columns.test.ts` compares these triggers with the columns that the library reads.

-- `playlist` 0 is no playlist: it makes processes read the past plays again, also those of older releases.
create function record_play_change(station bigint, track bigint) returns void language plpgsql as $$
begin
  perform record_library_change(station, 'playlist', 0);
  if track is not null then
    perform record_library_change(station, 'track', track);
  end if;
end $$;

create function play_changed() returns trigger language plpgsql as $$
begin
  if exists (select from song_history where station_id = new.station_id and id > new.id) then
    perform record_play_change(new.station_id, new.track_id);
  end if;
  return null;
end $$;

create constraint trigger plays_changed
  after update of playlist_id, track_id, media_id, pass, request_id, occurrence_ms, song_id, title_key, artist_keys,
    is_visible, is_bridged, started_at_ms, duration_ms on song_history
  deferrable initially deferred for each row
  when (
    (old.playlist_id, old.track_id, old.media_id, old.pass, old.request_id, old.occurrence_ms, old.song_id,
      old.title_key, old.artist_keys, old.is_visible, old.is_bridged, old.started_at_ms, old.duration_ms)
    is distinct from
    (new.playlist_id, new.track_id, new.media_id, new.pass, new.request_id, new.occurrence_ms, new.song_id,
      new.title_key, new.artist_keys, new.is_visible, new.is_bridged, new.started_at_ms, new.duration_ms))
  execute function play_changed();

create function pass_changed() returns trigger language plpgsql as $$
begin
  if not exists (
    select from (
      select playlist_id, pass from song_history
      where station_id between new.station_id and new.station_id order by station_id desc, id desc limit 1
    ) newest
    where newest.playlist_id = new.id and newest.pass in (new.pass, new.pass + 1)
  ) then
    perform record_library_change(new.station_id, 'playlist', new.id);
  end if;
  return null;
end $$;

create constraint trigger passes_changed
  after update of pass on playlists
  deferrable initially deferred for each row
  when (old.pass is distinct from new.pass)
  execute function pass_changed();

-- A play raises both marks of its track. If the clock went back, the time falls and is listed.
create constraint trigger marks_changed
  after update of last_pass, last_aired_ms on playlist_tracks
  deferrable initially deferred for each row
  when (
    (old.last_pass, old.last_aired_ms) is distinct from (new.last_pass, new.last_aired_ms)
    and not (new.last_pass >= old.last_pass
      and coalesce(new.last_aired_ms, 0) > coalesce(old.last_aired_ms, 0)))
  execute function track_changed();

-- The path of a song is not part of the library, except that of an entry of a remote list.
create constraint trigger entries_changed
  after update of path, remote_playlist_id on media
  deferrable initially deferred for each row
  when (
    (case when old.remote_playlist_id is not null then old.path end, old.remote_playlist_id)
    is distinct from
    (case when new.remote_playlist_id is not null then new.path end, new.remote_playlist_id))
  execute function media_changed();
