-- Cue points, fades and gain of songs. Null: unknown.
alter table media
  add cue_in_ms integer,
  add cue_out_ms integer,
  add fade_in_ms integer,
  add fade_out_ms integer,
  add start_next_ms integer,
  add amplify_db double precision,
  -- The columns above that an operator set: imports keep them.
  add operator_cues text[] not null default '{}',
  -- Which tags the last import read: 1 includes cue points, fades and gain.
  add tag_version smallint not null default 0,
  -- Not checked for the rows that exist, in which all are null.
  add constraint media_cue_points check (
    cue_in_ms >= 0 and cue_out_ms > 0 and fade_in_ms >= 0 and fade_out_ms >= 0 and start_next_ms >= 0
    and amplify_db between -60 and 60) not valid;

-- How long a song is heard, in milliseconds; 0: unknown. A cue point that does not fit the duration is ignored.
create function on_air_ms(duration_ms integer, cue_in_ms integer, cue_out_ms integer) returns integer
language sql immutable as $$
  select coalesce(
    least(cue_out_ms, nullif(duration_ms, 0))
      - case when cue_in_ms < least(cue_out_ms, nullif(duration_ms, 0)) then cue_in_ms else 0 end,
    0)
$$;

-- How long a song overlaps with the next one, in milliseconds. Null: `start_next_ms` is unknown or does not fit.
create function overlap_ms(duration_ms integer, cue_in_ms integer, cue_out_ms integer, start_next_ms integer)
returns integer language sql immutable as $$
  select case when start_next_ms <= least(cue_out_ms, nullif(duration_ms, 0))
    and start_next_ms > least(cue_out_ms, nullif(duration_ms, 0)) - on_air_ms(duration_ms, cue_in_ms, cue_out_ms)
    then least(cue_out_ms, nullif(duration_ms, 0)) - start_next_ms end
$$;

-- The cue points are part of the library: they change how long a song is heard, and when the next one starts.
drop trigger media_changed on media;
create constraint trigger media_changed
  after update of song_id, title_key, artist_keys, duration_ms, cue_in_ms, cue_out_ms, start_next_ms on media
  deferrable initially deferred for each row
  when (
    (old.song_id, old.title_key, old.artist_keys, old.duration_ms, old.cue_in_ms, old.cue_out_ms, old.start_next_ms)
    is distinct from
    (new.song_id, new.title_key, new.artist_keys, new.duration_ms, new.cue_in_ms, new.cue_out_ms, new.start_next_ms))
  execute function media_changed();
