-- The sweep compares live states with the stations that changed lately, and in turn with those of a shard (`src/redis/keys.ts`).
create index stations_revision on stations (revision);
create index stations_shard on stations ((id % 64));
