-- Covers that were looked up for songs without one. The key is that of duplicate checks (`src/model/songs/duplicate-keys.ts`), so that an
-- address in a remote playlist and a title of a live stream share the cover of a song.
create table cover_lookups (
  title_key bigint not null,
  artist_keys bigint[] not null,
  -- In the path of the cover, like that of a media. Random, so that it reveals nothing of other stations.
  unique_id text not null unique,
  -- Null: no cover was found. A release that does not know this table may remove the cover, and with it the row.
  artwork_hash text references artwork on delete cascade,
  -- The next lookup, if the song is on air then.
  due_at_ms bigint not null,
  -- Failed lookups in a row.
  failures integer not null default 0,
  primary key (title_key, artist_keys)
);
create index cover_lookups_of_artwork on cover_lookups (artwork_hash) where artwork_hash is not null;
create index cover_lookups_due on cover_lookups (due_at_ms);

-- At most one row: until when only one process may send requests, or none because of failures.
create table cover_lookup_lease (
  is_single boolean primary key default true check (is_single),
  leased_until_ms bigint not null,
  -- Failed lookups in a row, of any songs.
  failures integer not null default 0
) with (fillfactor = 50);
