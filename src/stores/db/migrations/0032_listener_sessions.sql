-- Sessions of listeners that ended. Nothing says who listened: no address, no user agent and no hash of them.
create table listener_sessions (
  station_id bigint not null references stations on delete cascade,
  started_at_ms bigint not null,
  -- The offset of the report with which the session began, and its place in it: so a session may be written again.
  opened bigint not null,
  ordinal integer not null,
  -- At most a day later: a longer session is several rows.
  ended_at_ms bigint not null,
  -- mount, remote or hls, and the path of the mount or the URL of the remote at that time.
  source text not null,
  stream text not null,
  -- The program and its kind, of closed lists.
  family text not null,
  client text not null,
  -- ISO 3166-1 alpha-2; empty if unknown.
  country text not null,
  primary key (station_id, started_at_ms, opened, ordinal)
);
