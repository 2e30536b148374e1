-- The next revision of a station's facts: the time in Unix milliseconds, so that a database that was restored from a backup does not
-- give out again what it gave out before. Always above the one before, also where the clock went back; the same within a statement.
create function next_revision(revision bigint) returns bigint language sql stable
  return greatest(revision + 1, (extract(epoch from statement_timestamp()) * 1000)::bigint);
