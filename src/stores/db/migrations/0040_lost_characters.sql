-- U+FFFD replaces characters that were lost. This release never stores it; the release before may run beside it, or again
-- after it, and stores texts as it decodes them. Rows from before are cleaned by src/stores/db/library/lost-characters.ts.

create function has_lost_characters(texts text[]) returns boolean language sql immutable parallel safe as $$
  select strpos(array_to_string(texts, ''), chr(65533)) > 0;
$$;

-- Text without U+FFFD; `?` if nothing else is left.
create function without_lost_characters(value text) returns text language sql immutable parallel safe as $$
  select case when strpos(value, chr(65533)) = 0 then value
    else coalesce(nullif(btrim(replace(value, chr(65533), '')), ''), '?') end;
$$;

-- The arguments of a trigger are its columns.
create function remove_lost_characters() returns trigger language plpgsql as $$
begin
  return jsonb_populate_record(new, (
    select jsonb_object_agg(field, without_lost_characters(to_jsonb(new) ->> field)) from unnest(tg_argv) as field));
end $$;

create trigger remove_lost_characters before insert or update of artist, title, album, genre, isrc, lyrics on media for each row
  when (has_lost_characters(array[new.artist, new.title, new.album, new.genre, new.isrc, new.lyrics]))
  execute function remove_lost_characters('artist', 'title', 'album', 'genre', 'isrc', 'lyrics');

create trigger remove_lost_characters before insert or update of artist, title, album, genre, isrc, playlist, streamer on song_history for each row
  when (has_lost_characters(array[new.artist, new.title, new.album, new.genre, new.isrc, new.playlist, new.streamer]))
  execute function remove_lost_characters('artist', 'title', 'album', 'genre', 'isrc', 'playlist', 'streamer');

create trigger remove_lost_characters before insert or update of value on media_custom_fields for each row
  when (has_lost_characters(array[new.value])) execute function remove_lost_characters('value');

create trigger remove_lost_characters before insert or update of name on playlists for each row
  when (has_lost_characters(array[new.name])) execute function remove_lost_characters('name');

-- A trigger before an update locks rows as if their keys changed, if the statement sets them, and would wait for whoever adds rows
-- that refer to them. So these clean the row again after it was written.
create function remove_stored_lost_characters() returns trigger language plpgsql as $$
begin
  execute format('update %I set %s where id = $1', tg_table_name, (
    select string_agg(format('%1$I = without_lost_characters(%1$I)', field), ', ') from unnest(tg_argv) as field)) using new.id;
  return null;
end $$;

create trigger remove_lost_characters after insert or update of display_name, comments on streamers for each row
  when (has_lost_characters(array[new.display_name, new.comments]))
  execute function remove_stored_lost_characters('display_name', 'comments');

create trigger remove_lost_characters after insert or update of name, description, live_text, offline_text on stations for each row
  when (has_lost_characters(array[new.name, new.description, new.live_text, new.offline_text]))
  execute function remove_stored_lost_characters('name', 'description', 'live_text', 'offline_text');
