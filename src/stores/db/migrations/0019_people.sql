-- People who sign in, what they may do, and how they are invited.
create table roles (
  id bigint generated always as identity primary key,
  name text not null constraint roles_name unique,
  -- The name of a role of this program, which cannot be changed; null: made by an operator.
  builtin text unique,
  -- As in `api_keys`.
  permissions jsonb not null default '[]',
  station_permissions jsonb not null default '{}',
  created_at timestamptz not null default now()
);
insert into roles (name, builtin, permissions) values
  ('Administrator', 'administrator', '["administer all"]'),
  ('Station manager', 'station manager', '["view station management", "view station reports", "view station logs",
    "manage station profile", "manage station broadcasting", "manage station streamers", "manage station mounts",
    "manage station remotes", "manage station media", "delete station media", "manage station automation",
    "manage station web hooks", "manage station podcasts"]'),
  ('DJ', 'dj', '["view station management", "view station reports", "manage station broadcasting",
    "manage station media"]'),
  ('Read-only', 'read-only', '["view all"]');

create table users (
  id bigint generated always as identity primary key,
  email text not null,
  name text not null default '',
  -- argon2id. Null: the user signs in with a passkey only.
  password_hash text,
  -- Ids of the stations that the roles are limited to. Null: all.
  stations jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_sign_in_at timestamptz
);
create unique index users_email on users (lower(email));

create table user_roles (
  user_id bigint not null references users on delete cascade,
  role_id bigint not null references roles,
  primary key (user_id, role_id)
);
create index user_roles_of_role on user_roles (role_id);

create table sessions (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  -- The first part of the token finds the row; of the second only a SHA-256 hash is stored.
  identifier text not null unique,
  verifier bytea not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text not null,
  user_agent text not null
);
create index sessions_of_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

create table passkeys (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  -- base64url
  credential_id text not null unique,
  public_key bytea not null,
  -- Signatures, as the authenticator counts them; 0: it does not count.
  counter bigint not null,
  transports jsonb not null default '[]',
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_of_user on passkeys (user_id);

create table invitations (
  id bigint generated always as identity primary key,
  identifier text not null unique,
  verifier bytea not null,
  email text not null default '',
  name text not null default '',
  -- Ids. A role that was deleted meanwhile is not granted.
  roles jsonb not null,
  stations jsonb,
  invited_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz
);
create index invitations_expiry on invitations (expires_at);

-- A key of a user has the permissions of its user at the time of a request; its own are empty.
alter table api_keys add user_id bigint references users on delete cascade;
create index api_keys_of_user on api_keys (user_id) where user_id is not null;
