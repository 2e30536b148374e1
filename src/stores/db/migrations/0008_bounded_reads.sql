-- Indexes in whose order the newest rows of a station, record or key are read. All columns ascend, so that a range bounds the scan at both
-- ends. They serve all queries of those that they replace.
create index song_history_by_station on song_history (station_id, id);
drop index song_history_of_station;

create index audit_log_by_station on audit_log (station_id, at, id);
create index audit_log_by_record on audit_log (record, at, id);
create index audit_log_by_record_id on audit_log (record, record_id, at, id);
create index audit_log_by_key on audit_log (key_id, at, id);
create index audit_log_by_key_name on audit_log (key_name, at, id);
drop index audit_log_of_station, audit_log_of_station_newest, audit_log_of_record, audit_log_of_record_newest, audit_log_of_key,
  audit_log_of_key_name;

-- What a web hook was told within a time.
create index webhook_deliveries_of_time on webhook_deliveries (webhook_id, happened_at_ms, id);
