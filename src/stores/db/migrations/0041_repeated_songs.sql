-- A playlist may contain a song several times. Release 0.2.0 adds songs with `on conflict (playlist_id, media_id)`, which needs
-- the unique index `playlist_tracks_once`: so only the first entry of a song has it in `media_id`, further ones have it in
-- `repeated_media_id`, where that release does not see them. They leave the playlist with the first one, whoever removes it.
alter table playlist_tracks
  alter media_id drop not null,
  add repeated_media_id bigint,
  add constraint playlist_tracks_song check (num_nonnulls(media_id, repeated_media_id) = 1),
  add constraint playlist_tracks_repeats foreign key (playlist_id, repeated_media_id)
    references playlist_tracks (playlist_id, media_id) on delete cascade deferrable initially deferred;
create index playlist_tracks_repeats on playlist_tracks (repeated_media_id, playlist_id)
  where repeated_media_id is not null;

-- All entries of playlists. Only lookups by song need the columns of the table; see src/stores/db/library/playlist-entries.ts.
create view playlist_entries as
  select id, playlist_id, coalesce(media_id, repeated_media_id) as media_id, media_id is null as is_repeat, position, last_pass,
    last_aired_ms, is_from_folder
  from playlist_tracks;

-- As before, with the new column.
drop trigger tracks_changed on playlist_tracks;
create constraint trigger tracks_changed
  after insert or delete or update of position, media_id, repeated_media_id on playlist_tracks
  deferrable initially deferred for each row execute function track_changed();
