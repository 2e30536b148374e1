-- Files of songs that are being moved in the media storage. A row is deleted once the song has the new path, or the file is
-- back at the old one; if the process is killed before, the workers repair the move.
create table file_moves (
  media_id bigint primary key references media on delete cascade,
  station_id bigint not null references stations on delete cascade,
  -- Stations that share a storage location have the same number.
  storage_id bigint not null,
  from_path text not null,
  to_path text not null,
  attempts integer not null default 0,
  -- When the move began, or its repair was last attempted.
  attempted_at timestamptz not null default now(),
  unique (storage_id, to_path)
);
create index file_moves_from on file_moves (storage_id, from_path);
create index file_moves_of_station on file_moves (station_id);
