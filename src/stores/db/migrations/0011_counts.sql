-- Redis counts listeners; workers write the counts here every second. An offset of Redis says which counts a row has, so that an older
-- flush changes nothing.
alter table stations add counts_offset bigint not null default 0;
alter table song_history add counts_offset bigint not null default 0, drop unique_peaks;
alter table listener_minutes add counts_offset bigint not null default 0;

-- Who listens is kept in Redis.
drop table listeners;
