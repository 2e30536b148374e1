-- The key by which names are compared, so that NFC and NFD are one name; see src/platform/text/name-key.ts. Postgres can normalize
-- only UTF-8; in another encoding names are compared as they are.
do $$
begin
  execute 'create function name_key(name text) returns text language sql immutable parallel safe as '
    || quote_literal(case getdatabaseencoding() when 'UTF8' then 'select normalize(name)' else 'select name' end);
end
$$;

-- Only songs whose path differs from its key: those of other songs are found in the index of paths. Truncated, because an entry
-- of an index has at most about 2,700 bytes.
create index media_by_name_key on media (station_id, (left(name_key(path), 600) collate "C"))
  where remote_playlist_id is null and name_key(path) <> path;
