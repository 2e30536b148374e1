-- Folders of the library whose songs are in a playlist, also those that arrive later; see src/stores/db/library/playlist-folders.ts.
create table playlist_folders (
  id bigint generated always as identity primary key,
  playlist_id bigint not null references playlists on delete cascade,
  -- Without slashes at its ends, except for the first one of an absolute path; '': the whole library.
  path text not null,
  unique (playlist_id, path)
);

-- Whether the song is in the playlist only because of a folder.
alter table playlist_tracks add is_from_folder boolean not null default false;
