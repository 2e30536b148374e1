-- Plays that begin after now are looked for every second. Without this index, all current plays of the installation were read.
create index song_history_open_start on song_history (started_at_ms) where ended_at_ms is null;
