-- The sweep compares live states with the stations that changed lately, and in turn with those of a shard (`src/stores/redis/keys.ts`).
create index stations_revision on stations (revision);
create index stations_shard on stations ((id % 64));
-- A new station counts as changed.
alter table stations alter column revision set default next_revision(0), alter column station_revision set default next_revision(0);
