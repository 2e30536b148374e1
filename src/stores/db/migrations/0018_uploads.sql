-- Files that are being received. Their content is in `uploads` of DATA_DIR, in a file that has the name of the id.
create table uploads (
  id text primary key,
  station_id bigint not null references stations on delete cascade,
  -- Below the media folder. Empty until a form has named it.
  path text not null default '',
  -- What the client declared, or the limit if it declared nothing.
  size_bytes bigint not null check (size_bytes >= 0),
  playlist_ids bigint[] not null default '{}',
  -- The name that a client gave an upload in numbered pieces, and the numbers of the pieces that were received.
  client_key text,
  pieces integer[] not null default '{}',
  -- `storing`: the whole file was received and read, its size counts as used, and it may be in the media storage.
  state text not null default 'receiving' check (state in ('receiving', 'storing', 'done', 'failed')),
  -- Of a stored file.
  media_id bigint,
  -- Why the file was refused: `{kind, message, errors}`.
  failure jsonb,
  -- One request at a time works on an upload; a process that ended lets its lease expire.
  lease text not null default '',
  leased_until timestamptz not null default '-infinity',
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index uploads_of_station on uploads (station_id);
create unique index uploads_client_key on uploads (station_id, client_key);
-- Two uploads of one path are stored one after the other.
create unique index uploads_storing on uploads (station_id, path) where state = 'storing';
create index uploads_expiring on uploads (expires_at);
create index uploads_unfinished on uploads (leased_until) where state = 'storing';

-- Folders that were created and may be empty; others follow from the paths of the files.
create table media_folders (
  station_id bigint not null references stations on delete cascade,
  path text not null,
  primary key (station_id, path)
);

-- The folder of a file with its slash; empty at the top.
create function media_folder(path text) returns text language sql immutable parallel safe as
  $$ select regexp_replace(path, '[^/]*$', '') $$;
create index media_by_folder on media (station_id, (media_folder(path) collate "C"), path)
  where remote_playlist_id is null;
