-- Finds the songs that contain a text; see `mediaCondition` in src/api/library/file-list.ts. Where the extension is not
-- installed or may not be created, searches read the text of every song.
do $$
begin
  create extension if not exists pg_trgm;
  execute $index$
    create index media_by_text on media using gin
      (((title || chr(10) || artist || chr(10) || album || chr(10) || path) collate "C") gin_trgm_ops)
      where remote_playlist_id is null
  $index$;
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise notice 'pg_trgm is not available, searches stay slower: %', sqlerrm;
end
$$;
