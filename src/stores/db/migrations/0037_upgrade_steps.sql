-- Work on stored rows that had to wait until no older release runs, and that is done; see src/stores/db/upgrade-steps.ts.
create table upgrade_steps (
  name text primary key,
  -- Of the process that did it.
  version text not null,
  done_at timestamptz not null default clock_timestamp()
);

-- The numbers of a version such as 0.3.0 or 0.3.0+abc1234, which compare in order; null for other texts.
create function version_numbers(version text) returns int[] language sql immutable parallel safe as $$
  select regexp_match(version, '^(\d+)\.(\d+)\.(\d+)')::int[];
$$;

-- An older release that runs after a step writes rows that need it again.
create function repeat_upgrade_steps() returns trigger language plpgsql as $$
begin
  delete from upgrade_steps where version_numbers(version) > version_numbers(new.version);
  return null;
end $$;
create trigger repeat_upgrade_steps after insert or update on processes
  for each row execute function repeat_upgrade_steps();
