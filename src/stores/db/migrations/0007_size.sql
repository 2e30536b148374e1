-- Large tables: an index for each query that would otherwise read more of a table than it returns.

-- Since when the station is deleted: its rows are removed in batches, this one last. Null: it is not.
alter table stations add deleted_at timestamptz;
create index stations_deleted on stations (id) where deleted_at is not null;

-- The end of a station's last play.
create index song_history_ended on song_history (station_id, ended_at_ms desc) where ended_at_ms is not null;

-- The list of songs in its own order.
create index media_by_artist on media (station_id, artist, title, id) where remote_playlist_id is null;

create index requests_of_station on requests (station_id, id desc);
create index webhook_deliveries_by_state on webhook_deliveries (webhook_id, state, id desc);

create index audit_log_newest on audit_log (at desc, id desc);
create index audit_log_of_station_newest on audit_log (station_id, at desc, id desc);
create index audit_log_of_record_newest on audit_log (record, at desc, id desc);
create index audit_log_of_key on audit_log (key_id, at desc, id desc);
create index audit_log_of_key_name on audit_log (key_name, at desc, id desc);
