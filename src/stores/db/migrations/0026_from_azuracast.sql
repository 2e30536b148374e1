-- What was taken over from AzuraCast installations: `npm run migrate-from-azuracast`.

-- How far the tables of an installation were taken. A table is taken in the order of its ids, each batch with its progress.
create table azuracast_progress (
  -- The identifier that AzuraCast gives an installation.
  installation text not null,
  step text not null,
  last_id bigint not null default 0,
  is_complete boolean not null default false,
  primary key (installation, step)
);

-- Records that have another id here, because theirs was taken, or because they are songs that several stations share.
create table azuracast_ids (
  installation text not null,
  kind text not null,
  -- The station of a shared song; 0: any.
  station_id bigint not null default 0,
  source_id bigint not null,
  id bigint not null,
  primary key (installation, kind, station_id, source_id)
);

-- Stations that share the files of AzuraCast share their ids, which addresses of covers contain. Covers are found by both columns.
create unique index media_unique_id on media (unique_id, station_id);
alter table media drop constraint media_unique_id_key;
