-- Plays that begin after now are looked for every second. Without this index, all current plays of the installation were read.
create index song_history_open_start on song_history (started_at_ms) where ended_at_ms is null;
-- Missing polls are looked for every 30 seconds, among the few stations that may be polled.
create index stations_polled on stations (id) where is_enabled and frontend_url <> '';
