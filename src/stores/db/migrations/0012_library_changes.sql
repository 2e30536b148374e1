-- What changed with each version of a library, so that processes with a cached library read only that. A version is a time, so
-- a database that was restored from a backup does not use one again. The row of the library is locked from the
-- raise to the commit, so versions become visible in their order.
create table library_changes (
  station_id bigint not null references libraries on delete cascade,
  version bigint not null,
  -- `all`: the whole library must be read, because too much changed, or something that is not listed.
  kind text not null check (kind in ('playlist', 'track', 'media', 'all')),
  changed_id bigint not null,
  primary key (station_id, version, kind, changed_id)
);
insert into library_changes (station_id, version, kind, changed_id) select station_id, version, 'all', 0 from libraries;

-- Called per row: a transaction raises the version of a library once, and lists up to 1,000 changes.
create function record_library_change(station bigint, what text, changed bigint) returns void language plpgsql as $$
declare
  counted text[] := string_to_array(current_setting('cuewire.counted', true), ':');
  raised bigint;
  listed integer := 0;
begin
  if station is null then
    return;
  end if;
  if counted[1] = station::text and counted[2] = pg_current_xact_id()::text then
    raised := counted[3];
    listed := counted[4];
  else
    -- A station that is deleted is not read again.
    insert into libraries (station_id, version)
      select id, next_revision(0) from stations where id = station and deleted_at is null
      on conflict (station_id) do update set version = next_revision(libraries.version)
      returning version into raised;
    if raised is null then
      return;
    end if;
    -- Keeps a quarter of an hour before the version before this one, and that version.
    delete from library_changes where station_id = station and version < -900000 + (
      select max(version) from library_changes where station_id = station and version < raised);
  end if;
  if listed > 1000 then
    return;
  end if;
  insert into library_changes (station_id, version, kind, changed_id)
    values (station, raised, case when listed = 1000 then 'all' else what end, changed) on conflict do nothing;
  perform set_config('cuewire.counted',
    concat_ws(':', station, pg_current_xact_id(), raised, listed + 1), true);
end $$;

create or replace function count_library_change(station bigint) returns void language sql as $$
  select record_library_change(station, 'all', 0);
$$;

create or replace function playlist_changed() returns trigger language plpgsql as $$
begin
  perform record_library_change(coalesce(new.station_id, old.station_id), 'playlist', coalesce(new.id, old.id));
  return null;
end $$;

create or replace function track_changed() returns trigger language plpgsql as $$
begin
  perform record_library_change(
    (select station_id from playlists where id = coalesce(new.playlist_id, old.playlist_id)),
    'track', coalesce(new.id, old.id));
  return null;
end $$;

create function media_changed() returns trigger language plpgsql as $$
begin
  perform record_library_change(new.station_id, 'media', new.id);
  return null;
end $$;
drop trigger media_changed on media;
create constraint trigger media_changed
  after update of song_id, title_key, artist_keys, duration_ms on media
  deferrable initially deferred for each row
  when ((old.song_id, old.title_key, old.artist_keys, old.duration_ms)
    is distinct from (new.song_id, new.title_key, new.artist_keys, new.duration_ms))
  execute function media_changed();
