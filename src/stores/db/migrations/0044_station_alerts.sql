-- When a process last detected the problem of an alert that expires; null if the alert is resolved in another way.
alter table open_facts add column seen_at timestamptz;

-- The zone itself, or UTC if Postgres does not know it: with an unknown zone, a statement would fail for all its rows.
create function known_zone(zone text) returns text language plpgsql stable as $$
begin
  perform statement_timestamp() at time zone zone;
  return zone;
exception when data_exception then
  return 'UTC';
end
$$;
