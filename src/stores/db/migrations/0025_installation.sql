-- Preferences of people, which clients apply. Null: not chosen.
alter table users
  add locale text,
  add show_24_hour_time boolean;

-- Pictures that replace those of the program on all stations. The types are those of the API.
create table custom_assets (
  type text primary key,
  content_type text not null,
  -- SHA-256 in hexadecimal.
  hash text not null,
  bytes bytea not null
);

-- Servers of others that relay the mounts of stations, as they register themselves.
create table relays (
  id bigint generated always as identity primary key,
  base_url text not null constraint relays_base_url unique,
  name text not null,
  is_visible_on_public_pages boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

alter table remotes
  -- The relay that registered it, and the mount that it relays; null: an operator created it.
  add relay_id bigint references relays on delete cascade,
  add relayed_mount text;
create unique index remotes_of_relay on remotes (relay_id, station_id, relayed_mount) where relay_id is not null;
