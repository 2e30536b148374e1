-- The current lifetime of a station's live state, and since when. Empty: it was never shown. An epoch never returns.
alter table stations
  add epoch text not null default '',
  add epoch_since timestamptz not null default '-infinity';

-- The processes that use this database: an upgrade waits for older ones to be gone.
create table processes (
  id uuid primary key,
  -- `server`, `workers`, ...
  kind text not null,
  -- That of package.json.
  version text not null,
  -- How it can read live states, and how it would write them if it were alone; see src/stores/redis/state-schema.ts.
  readable_schemas smallint[] not null,
  own_schema smallint not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
create index processes_seen on processes (seen_at);

-- The least migration that a program has to know to use this database. A migration that takes something away raises it.
create table compatibility (
  is_single boolean primary key default true check (is_single),
  least_migration integer not null
);
insert into compatibility (least_migration) values (1);

-- Finds the requests whose address is still known.
create index requests_addressed on requests (submitted_at_ms) where address <> '';

-- Those of release 0.1.0 have no salt. Who listens is known again with the next poll.
delete from listeners;

-- One for each day (Unix days, UTC); see src/engine/listeners/identities.ts.
create table listener_salts (
  day integer primary key,
  salt text not null
);
